"""Problems that were solved already, and how far another problem is from them."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..problem import RobustProblem
from .result import SolverResult, Start

# How far apart problems are whose radii differ by a factor of two.
HALVED_RADIUS = 0.3


class Neighbour(NamedTuple):
    """A problem that was solved: its result, and what a chain remembers of the way."""

    problem: RobustProblem
    result: SolverResult
    memory: Any = None

    @property
    def start(self) -> Start:
        found = self.result
        lam, multipliers = found.certificate.lam, found.multipliers
        return Start(found.coef, found.intercept, lam, multipliers)


def distance(problem: RobustProblem, other: Neighbour) -> float:
    """How far apart two problems are, as a gap relative to the objective."""
    mine, its = problem.label_cost, other.problem.label_cost
    finite = np.isfinite(mine) & np.isfinite(its) & (its > 0)
    if not np.array_equal(np.isfinite(mine), np.isfinite(its)):
        return np.inf
    by_cost = float(np.abs(mine[finite] / its[finite] - 1).max(initial=0.0))
    ratio = problem.radius / other.problem.radius if other.problem.radius > 0 else np.inf
    by_radius = HALVED_RADIUS * abs(np.log2(ratio)) if 0 < ratio < np.inf else np.inf
    return by_cost + by_radius
