"""Times of solvers on one problem, one after the other in one process.

All solvers run in one thread.  Their processor time is measured, so that other work on the
machine does not count.  Objectives are recomputed from the classifiers; the values that a
solver reports are not used.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from ...arrays import Floats
from ...problem import RobustProblem, WassersteinBall
from ...problem.certificate.gap import relative_gap
from ...solvers.reference.peers import (
    Limits,
    ReferenceSolution,
    solve_clarabel,
    solve_highs,
)
from ...solvers.reference.programs import build_program

# The resolution of the processor's clock, in seconds.
SHORTEST = 1e-4

# Solvers of the paper's program, which has C * C constraints per sample.
PEERS: dict[str, Callable[[RobustProblem, Limits], ReferenceSolution]] = {
    "highs-simplex": lambda problem, limits: solve_highs(problem, limits=limits),
    "highs-ipm": lambda problem, limits: solve_highs(problem, method="ipm", limits=limits),
    "clarabel": lambda problem, limits: solve_clarabel(problem, limits=limits),
}


# For each panel of a figure, the sizes (N, P, C) along its axis.
Panels: TypeAlias = dict[str, list[tuple[int, int, int]]]


def sizes(panels: Panels) -> list[tuple[int, int, int]]:
    """Every size once."""
    return sorted({size for panel in panels.values() for size in panel})


class Timed(NamedTuple):
    """Seconds of a solver, its classifier and risk, and whether the time ran out."""

    seconds: float
    coef: Floats
    objective: float
    timed_out: bool


def training_problem(X: Any, y: Any, ball: WassersteinBall) -> RobustProblem:
    """The paper's problem: equal weights, no intercept."""
    weight = np.full(len(y), 1.0 / len(y))
    return RobustProblem.of(X, y, weight, ball, int(y.max()) + 1, False)


def best_of_two(work: Callable[[], Any]) -> tuple[float, Any]:
    """Seconds of the faster of two runs, because the first may compile; and the result."""
    times = []
    for _ in range(2):
        began = time.process_time()
        result = work()
        times.append(time.process_time() - began)
    return min(times), result


def timed_peer(name: str, problem: RobustProblem, tol: float, time_limit: float) -> Timed:
    """Processor time of a peer, without the time for building its program.

    The limit is on wall-clock time.  A run that is stopped would have needed at least the
    processor time that is reported.
    """
    began = time.process_time()
    build_program(problem, "paper")
    built = time.process_time()
    found = PEERS[name](problem, Limits(tol, None, time_limit, 1))
    seconds = (time.process_time() - built) - (built - began)
    objective = problem.risk(found.coef, found.intercept).value
    return Timed(max(seconds, SHORTEST), found.coef, float(objective), found.limited)


def above(objective: float, bound: float) -> float:
    """Relative difference of an objective and a bound, like the library's relative gap."""
    return relative_gap(float(objective - bound), float(objective))
