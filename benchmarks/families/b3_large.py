"""B3, large and dense: up to a million rows, relative gap 1e-4, against liblinear.

Liblinear's Crammer-Singer machine has no ball and no certificate; it stands for the time
that people are used to.  It runs in a process of its own, which can be stopped when its
time is up: the ratio is then a lower bound.  Both sides are held to as many processors as
``--threads`` says.  Our row threads share them; how many those were, and what a fit takes
with all processors, is told beside the ratio.  So is the ratio of processor seconds, which
does not change with what else the machine does.
"""

from __future__ import annotations

import multiprocessing
import os
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from multiprocessing.connection import Connection
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import make_classification
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import LinearSVC

from wdrsvm.problem import RobustProblem, WassersteinBall
from wdrsvm.solvers import Progress, SolverResult, SolverSettings, solve

from ..data import as_problem
from ..family import Family, Options, Record
from ..measure import Timing, thread_limit, time_ours
from ..peers import ratio_summary

Floats = NDArray[np.float64]

TOL = 1e-4
RADIUS, LABEL_COST = 1e-2, 0.5
SIZES = ((20, 6), (50, 10))
# A million rows may take the peer this many times the limit of one run.
PATIENCE = 2


class Case(NamedTuple):
    N: int
    P: int
    C: int
    seed: int = 0


class Rows(NamedTuple):
    """Features, dense or sparse, and label codes."""

    X: Any
    y: NDArray[np.intp]


class OurFit(NamedTuple):
    """Our time on as many processors as the peer has, and on all."""

    timing: Timing
    cpus: int
    all_cpus_seconds: float
    cpu_seconds: float
    row_threads: int
    result: SolverResult


class PeerFit(NamedTuple):
    """Liblinear's time; without a classifier if it was up."""

    seconds: float
    cpu_seconds: float
    converged: bool = False
    coef: Floats | None = None
    intercept: Floats | None = None


def cases(options: Options) -> list[Case]:
    """Three numbers of rows, two widths; a few hundred rows if tiny."""
    if options.tiny:
        return [Case(600, 5, 3)]
    return [Case(N, *size) for N in (30_000, 100_000, 1_000_000) for size in SIZES]


def run(case: Case, options: Options) -> Record:
    """Ours against liblinear, both with an intercept; accuracies are on these rows."""
    rows = large_rows(*case)
    problem = as_problem(*rows, WassersteinBall(RADIUS, LABEL_COST), True)
    ours = fit_ours(problem, TOL, options)
    limit = options.time_limit * (PATIENCE if case.N >= 1_000_000 else 1)
    peer = fit_liblinear(partial(large_rows, *case), options, limit)
    return case._asdict() | compared(ours, peer, rows)


def large_rows(n_rows: int, n_features: int, n_classes: int, seed: int) -> Rows:
    """Clusters like those of the paper's simulations, shuffled."""
    X, y = make_classification(
        n_samples=n_rows,
        n_features=n_features,
        n_informative=n_features,
        n_redundant=0,
        n_classes=n_classes,
        n_clusters_per_class=1,
        flip_y=0,
        class_sep=1.5,
        random_state=seed,
    )
    return Rows(X, y.astype(np.intp))


def fit_ours(problem: RobustProblem, tol: float, options: Options) -> OurFit:
    """Our times, and the classifier."""
    with held_to_cpus(options.threads) as cpus:
        timing = time_ours(problem, tol, options)
    before = threading.active_count()
    active = [before]

    def count_threads(progress: Progress) -> None:
        active.append(threading.active_count())

    settings = SolverSettings(tol=tol, callback=count_threads)
    began = _clocks()
    result = solve(problem, options.solver, settings)
    seconds, cpu_seconds = (_clocks() - began).tolist()
    row_threads = max(max(active) - before, 1)
    return OurFit(timing, cpus, seconds, cpu_seconds, row_threads, result)


def _clocks() -> Floats:
    """Seconds on the wall, and of all processors for this process."""
    return np.array([time.perf_counter(), time.process_time()])


def fit_liblinear(
    prepare: Callable[[], Rows], options: Options, time_limit: float
) -> PeerFit:
    """Liblinear on the rows that ``prepare`` makes, in a process that can be stopped."""
    work = partial(_liblinear, threads=options.threads)
    found: PeerFit | None = in_fresh_process(prepare, work, time_limit)
    return PeerFit(time_limit, np.nan) if found is None else found


def _liblinear(rows: Rows, threads: int) -> PeerFit:
    model = LinearSVC(multi_class="crammer_singer")
    with held_to_cpus(threads), thread_limit(threads), warnings.catch_warnings():
        # Stopping at its limit of iterations is told as ``converged``; newer versions of
        # scikit-learn may also warn of the option's end.
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.simplefilter("ignore", FutureWarning)
        began = _clocks()
        model.fit(*rows)
        seconds, cpu_seconds = (_clocks() - began).tolist()
    converged = bool(model.n_iter_ < model.max_iter)
    return PeerFit(seconds, cpu_seconds, converged, model.coef_, model.intercept_)


def compared(ours: OurFit, peer: PeerFit, test: Rows) -> Record:
    """One row: times, their ratio and both accuracies on the test rows."""
    timing, stopped = ours.timing, peer.coef is None
    return {
        "ours": timing.seconds,
        "gap": timing.gap,
        "reached": timing.reached,
        "objective": timing.objective,
        "solver": ours.result.solver,
        "cpus": ours.cpus,
        "row_threads": ours.row_threads,
        "ours_all_cpus": ours.all_cpus_seconds,
        "peer": peer.seconds,
        "peer_converged": peer.converged,
        "ratio": peer.seconds / timing.seconds,
        "lower_bound": stopped,
        "cpu_ratio": peer.cpu_seconds / ours.cpu_seconds,
        "accuracy": _accuracy(ours.result.coef, ours.result.intercept, test),
        "peer_accuracy": _accuracy(peer.coef, peer.intercept, test),
    }


def _accuracy(coef: Floats | None, intercept: Floats | None, test: Rows) -> float:
    if coef is None:
        return np.nan
    scores = np.asarray(test.X @ coef.T) + intercept
    return float(np.mean(scores.argmax(axis=1) == test.y))


@contextmanager
def held_to_cpus(count: int) -> Iterator[int]:
    """Hold this thread, and those it starts, to ``count`` processors; gives how many.

    The only limit that holds for threads of every kind.  Not all systems have it.
    """
    if not hasattr(os, "sched_setaffinity"):
        yield os.cpu_count() or 1
        return
    before = os.sched_getaffinity(0)
    chosen = sorted(before)[:count]
    os.sched_setaffinity(0, chosen)
    try:
        yield len(chosen)
    finally:
        os.sched_setaffinity(0, before)


def in_fresh_process(
    prepare: Callable[[], Any],
    work: Callable[[Any], Any],
    time_limit: float | None = None,
) -> Any:
    """``work(prepare())`` in a new interpreter; None if ``work`` takes longer than that.

    Both functions must be importable: they are sent, not inherited.
    """
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=_serve, args=(prepare, work, theirs))
    process.start()
    theirs.close()
    try:
        ours.recv()  # prepared: the clock starts
        return ours.recv() if ours.poll(time_limit) else None
    except EOFError:
        raise RuntimeError("the measuring process failed; it said why above") from None
    finally:
        process.kill()
        process.join()


def _serve(
    prepare: Callable[[], Any], work: Callable[[Any], Any], pipe: Connection
) -> None:
    prepared = prepare()
    pipe.send("prepared")
    pipe.send(work(prepared))


FAMILY = Family(
    name="b3",
    title="B3 large, dense: relative gap 1e-4 against liblinear's Crammer-Singer",
    cases=cases,
    run=run,
    columns=(
        *("N", "P", "C", "ours", "ours_all_cpus", "gap", "peer", "ratio"),
        *("cpu_ratio", "accuracy", "peer_accuracy"),
    ),
    summarise=ratio_summary,
)
