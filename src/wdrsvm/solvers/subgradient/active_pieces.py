"""The samples' active pieces at a point: value and subgradient of F in one pass.

All subgradient methods use this file.  The active piece of sample n has two classes: the
label c with the largest l(z_n, c) - lam k[n, c], where k[n, y_n] = 0, and the class j that
wins against c.  The slope of the sample in the scores is w_n (e_j - e_c).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...arrays import Codes, Floats
from ...problem import RobustProblem
from .kernels import active_pieces


class ParameterVector(NamedTuple):
    """coef (C, P), intercept (C,) and lam: an iterate, a subgradient, a mean."""

    coef: Floats
    intercept: Floats
    lam: float

    def plus(self, factor: float, other: ParameterVector) -> ParameterVector:
        return ParameterVector(
            self.coef + factor * other.coef,
            self.intercept + factor * other.intercept,
            self.lam + factor * other.lam,
        )

    def times(self, factor: float) -> ParameterVector:
        return ParameterVector(
            factor * self.coef, factor * self.intercept, factor * self.lam
        )

    @property
    def square(self) -> float:
        """Squared length."""
        flat = self.coef.ravel()
        return float(flat @ flat + self.intercept @ self.intercept) + self.lam**2


class Looked(NamedTuple):
    """F at a point, and a subgradient of F."""

    value: float
    slope: ParameterVector


class ActiveRows:
    """The samples in the form that the compiled passes need."""

    def __init__(self, problem: RobustProblem):
        self.problem = problem
        self.flip_cost, self.cost_row = flip_costs(problem)
        self.pieces = np.empty((problem.n_rows, 2), dtype=np.intp)

    def look(self, at: ParameterVector) -> Looked:
        """F and a subgradient at a point; stores the active pieces."""
        problem = self.problem
        value, spent = problem.radius * at.lam, 0.0
        d_coef, d_intercept = np.zeros_like(at.coef), np.zeros_like(at.intercept)
        for rows in problem.blocks():
            scores = problem.scores(at.coef, at.intercept, rows)
            slope = np.empty_like(scores)
            losses, price = active_pieces(
                scores,
                problem.y[rows],
                self.flip_cost,
                self.cost_row[rows],
                problem.weight[rows],
                at.lam,
                slope,
                self.pieces[rows],
            )
            value, spent = value + losses, spent + price
            d_coef += (problem.features(rows).T @ slope).T
            d_intercept += slope.sum(axis=0)
        if not problem.fit_intercept:
            d_intercept[:] = 0.0
        return Looked(value, ParameterVector(d_coef, d_intercept, problem.radius - spent))


def flip_costs(problem: RobustProblem) -> tuple[Floats, Codes]:
    """Distinct rows of label costs (rows, C), and the number of each sample's row."""
    if problem.label_trust is not None:
        return problem.attainable_flip_cost(), np.arange(problem.n_rows)
    cost = problem.label_cost.copy()
    if problem.radius == 0:
        cost = np.where(cost > 0, np.inf, 0.0)
    return cost, problem.y
