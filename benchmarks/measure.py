"""Timing under equal terms, and the benchmark's own judgement of every answer."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from wdrsvm.problem import RobustProblem, certify
from wdrsvm.problem.certificate.multipliers import MultiplierSource
from wdrsvm.solvers import SolverResult, SolverSettings, solve

from .family import Options

Floats = NDArray[np.float64]

# Repeating stops when this many seconds are spent: long runs are steady by themselves.
ENOUGH_SECONDS = 20.0


class Timing(NamedTuple):
    """The time of an answer, and what the benchmark makes of the answer."""

    seconds: float
    objective: float
    dual_bound: float
    reached: bool
    timed_out: bool = False
    on_the_wall: float = 0.0

    @property
    def gap(self) -> float:
        """Relative duality gap."""
        return (self.objective - self.dual_bound) / max(self.objective, 1e-2)


@contextmanager
def thread_limit(threads: int) -> Iterator[None]:
    """Hold BLAS and OpenMP to ``threads`` threads."""
    with threadpool_limits(threads):
        yield


def median_seconds(
    work: Callable[[], object],
    repeats: int,
    clock: Callable[[], float] = time.perf_counter,
) -> float:
    """Median time of repeated runs; fewer of them when they are long."""
    times: list[float] = []
    while len(times) < repeats and sum(times) < ENOUGH_SECONDS:
        began = clock()
        work()
        times.append(clock() - began)
    return statistics.median(times)


def processor_seconds(work: Callable[[], object]) -> float:
    """Seconds of all processors together for one run."""
    began = time.process_time()
    work()
    return time.process_time() - began


def time_ours(problem: RobustProblem, tol: float, options: Options) -> Timing:
    """Median time of our solver, after one fit that does not count."""
    return timed_fit(problem, tol, options)[0]


def timed_fit(
    problem: RobustProblem, tol: float, options: Options
) -> tuple[Timing, SolverResult]:
    """The same with what the fit found."""
    settings = SolverSettings(tol=tol)

    def fit() -> SolverResult:
        return solve(problem, options.solver, settings)

    with thread_limit(options.threads):
        found = fit()
        seconds = median_seconds(fit, options.repeats, options.clock)
    objective, bound = judge(problem, found.coef, found.intercept, found.multipliers)
    timing = Timing(seconds, objective, bound, reached(objective, bound, tol))
    return timing, found


def judge(
    problem: RobustProblem,
    coef: Floats,
    intercept: Floats,
    multipliers: MultiplierSource | None,
) -> tuple[float, float]:
    """(objective, dual bound), recomputed; without multipliers there is no bound."""
    if multipliers is None:
        return problem.risk(coef, intercept).value, -np.inf
    found = certify(problem, coef, intercept, multipliers)
    return found.objective, found.dual_bound


def reached(objective: float, bound: float, tol: float) -> bool:
    """Whether the relative gap between the two is at most ``tol``."""
    return objective - bound <= tol * max(objective, 1e-2)
