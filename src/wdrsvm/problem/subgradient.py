"""A subgradient of the objective F (``problem.py``), a sum over the rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..arrays import Floats

if TYPE_CHECKING:
    from .problem import RobustProblem


class Subgradient(NamedTuple):
    """Slopes of the objective in M, b and lam."""

    coef: Floats
    intercept: Floats
    lam: float


def subgradient(
    problem: RobustProblem, coef: Floats, intercept: Floats, lam: float
) -> Subgradient:
    """A subgradient of F at (M, b, lam), Crammer-Singer loss.

    Row n contributes w_n (e_j - e_c) x_n' to the coefficients, where c is the label that
    the adversary chooses for the row, and j is the class that wins against c.  If c is a
    flip, the row contributes -w_n k[n, c] to the derivative in lam.
    """
    d_coef = np.zeros((problem.n_classes, problem.n_features))
    d_intercept = np.zeros(problem.n_classes)
    d_lam = problem.radius
    for rows in problem.blocks():
        slope, flip_cost = _active_slopes(problem, coef, intercept, lam, rows)
        d_coef += (problem.features(rows).T @ slope).T
        d_intercept += slope.sum(axis=0)
        d_lam -= flip_cost
    return Subgradient(d_coef, d_intercept, d_lam)


def _active_slopes(
    problem: RobustProblem, coef: Floats, intercept: Floats, lam: float, rows: slice
) -> tuple[Floats, float]:
    scores = problem.scores(coef, intercept, rows)
    n = np.arange(len(scores))
    cost = problem.label_price(rows)
    if lam == 0:  # an infinite cost stays infinite; 0 * inf is NaN
        priced = np.where(np.isfinite(cost), 0.0, np.inf)
    else:
        priced = lam * cost
    label = np.argmax(problem.loss.of_labels(scores) - priced, axis=1)
    raised = scores + problem.loss.margin
    raised[n, label] -= problem.loss.margin
    winner = np.argmax(raised, axis=1)
    slope = np.zeros_like(scores)
    slope[n, winner] += problem.weight[rows]
    slope[n, label] -= problem.weight[rows]
    return slope, float(problem.weight[rows] @ cost[n, label])
