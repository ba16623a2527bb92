"""Our fits beside liblinear's Crammer-Singer machine.

Liblinear has no ball and no certificate; it stands for the time that people are used to.
It runs in a process of its own, which can be stopped when its time is up: the ratio is
then a lower bound.  Both sides are held to as many processors as ``--threads`` says.  Our
row threads share them; how many those were, and what a fit takes with all processors, is
told beside the ratio.  So is the ratio of processor seconds, which does not change with
what else the machine does.
"""

from __future__ import annotations

import threading
import time
import warnings
from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import LinearSVC

from wdrsvm.problem import RobustProblem
from wdrsvm.solvers import Progress, SolverResult, SolverSettings, solve

from .data import Rows
from .family import Options, Record
from .measure import Timing, thread_limit, time_ours
from .processes import held_to_cpus, in_fresh_process

Floats = NDArray[np.float64]


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
