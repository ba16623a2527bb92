"""Classes that no mass carries or can be given: solved without, and put back below.

Such a class only ever loses: let its coefficients be the mean of the others', which
lengthens no difference, and its intercept lie 1 below all others, where it never wins,

    z_j + 1  <=  mean of (z_i over the others)  <=  max of them.

So the optimum without it is the optimum, and nothing pulls a solver to send its intercept
to minus infinity.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..arrays import Flags
from ..problem import LOSSES, RobustProblem
from ..problem.norms import TRIANGLE
from .result import SolverResult, Start


def has_massless_classes(problem: RobustProblem) -> bool:
    """Whether there are any, and they can be put back where they lose."""
    possible = problem.fit_intercept and problem.loss == LOSSES["crammer-singer"]
    special = problem.is_distributed or problem.is_bounded or problem.norm == TRIANGLE
    if special or not possible:
        return False
    return bool(1 < np.count_nonzero(problem.reachable) < problem.n_classes)


def without_massless(problem: RobustProblem) -> RobustProblem:
    """The same problem on the other classes."""
    kept, problem = problem.reachable, problem.without_idle_rows()
    cost = np.asarray(problem.ball.label_cost)
    if cost.ndim:
        cost = cost[np.ix_(kept, kept)]
    return replace(
        problem.with_rows(y=(np.cumsum(kept) - 1)[problem.y].astype(np.intp)),
        ball=replace(problem.ball, label_cost=cost),
        n_classes=int(kept.sum()),
    )


def start_without(start: Start | None, kept: Flags) -> Start | None:
    """A start for the other classes; its multipliers are those of all classes."""
    if start is None:
        return None
    return Start(start.coef[kept], start.intercept[kept], start.lam)


def with_massless(result: SolverResult, kept: Flags) -> SolverResult:
    """A result for all classes; its multipliers would be for the others alone."""
    coef = np.tile(result.coef.mean(axis=0), (len(kept), 1))
    intercept = np.full(len(kept), result.intercept.min() - 1.0)
    coef[kept], intercept[kept] = result.coef, result.intercept
    return replace(result, coef=coef, intercept=intercept, multipliers=None)
