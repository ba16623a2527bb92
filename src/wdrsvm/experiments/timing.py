"""Times of solvers on one problem, one after the other in one process.

All run in one thread and are timed by the processor, so that other work on the machine does
not count.  A solver's claim about itself does not count either: objectives are recomputed
from its classifier.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from ..arrays import Floats
from ..problem import RobustProblem, WassersteinBall
from ..problem.certificate.gap import relative_gap
from ..solvers.reference.peers import Limits, ReferenceSolution, solve_clarabel, solve_highs
from ..solvers.reference.programs import build_program

# What the processor's clock tells apart.
SHORTEST = 1e-4

# Solvers of the paper's program with C * C rows a sample.
PEERS: dict[str, Callable[[RobustProblem, Limits], ReferenceSolution]] = {
    "highs-simplex": lambda problem, limits: solve_highs(problem, limits=limits),
    "highs-ipm": lambda problem, limits: solve_highs(problem, method="ipm", limits=limits),
    "clarabel": lambda problem, limits: solve_clarabel(problem, limits=limits),
}


# (N, P, C) of the cases along each axis of a figure.
Panels: TypeAlias = dict[str, list[tuple[int, int, int]]]


def sizes(panels: Panels) -> list[tuple[int, int, int]]:
    """Every size once."""
    return sorted({size for panel in panels.values() for size in panel})


class Timed(NamedTuple):
    """Seconds of a solver, its classifier, the risk of that, and whether time ran out."""

    seconds: float
    coef: Floats
    objective: float
    timed_out: bool


def training_problem(X: Any, y: Any, ball: WassersteinBall) -> RobustProblem:
    """The paper's problem: equal weights, no intercept."""
    weight = np.full(len(y), 1.0 / len(y))
    return RobustProblem.of(X, y, weight, ball, int(y.max()) + 1, False)


def best_of_two(work: Callable[[], Any]) -> tuple[float, Any]:
    """Seconds of the faster of two runs, the first may compile; and the result."""
    times = []
    for _ in range(2):
        began = time.process_time()
        result = work()
        times.append(time.process_time() - began)
    return min(times), result


def timed_peer(name: str, problem: RobustProblem, tol: float, time_limit: float) -> Timed:
    """Processor time of a peer, less that of building its program.

    The limit is on the time that passes: a run that meets it needs at least the processor
    time that it had.
    """
    began = time.process_time()
    build_program(problem, "paper")
    built = time.process_time()
    found = PEERS[name](problem, Limits(tol, None, time_limit, 1))
    seconds = (time.process_time() - built) - (built - began)
    objective = problem.risk(found.coef, found.intercept).value
    return Timed(max(seconds, SHORTEST), found.coef, float(objective), found.limited)


def above(objective: float, bound: float) -> float:
    """Relative distance of an objective from a bound, as the library measures gaps."""
    return relative_gap(float(objective - bound), float(objective))
