"""The samples' active pieces at a point: value and subgradient of F in one pass.

Shared by the methods that follow subgradients.  Sample n has the label c whose piece
l(z_n, c) - lam k[n, c] is largest, where keeping y_n is free, and the class j that wins
against it; its slope in the scores is w_n (e_j - e_c).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...arrays import Codes, Floats
from ...problem import RobustProblem
from .kernels import active_pieces


class Point(NamedTuple):
    """coef (C, P), intercept (C,) and lam: an iterate, a subgradient, a mean."""

    coef: Floats
    intercept: Floats
    lam: float

    def plus(self, factor: float, other: Point) -> Point:
        return Point(
            self.coef + factor * other.coef,
            self.intercept + factor * other.intercept,
            self.lam + factor * other.lam,
        )

    def times(self, factor: float) -> Point:
        return Point(factor * self.coef, factor * self.intercept, factor * self.lam)

    @property
    def square(self) -> float:
        """Squared length."""
        flat = self.coef.ravel()
        return float(flat @ flat + self.intercept @ self.intercept) + self.lam**2


class Looked(NamedTuple):
    """F at a point and a subgradient of it."""

    value: float
    slope: Point


class ActiveRows:
    """The samples as the compiled passes see them."""

    def __init__(self, problem: RobustProblem):
        self.problem = problem
        self.flip_cost, self.cost_row = flip_costs(problem)
        self.pieces = np.empty((problem.n_rows, 2), dtype=np.intp)

    def look(self, at: Point) -> Looked:
        """F and a subgradient at a point; remembers the active pieces."""
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
        return Looked(value, Point(d_coef, d_intercept, problem.radius - spent))


def flip_costs(problem: RobustProblem) -> tuple[Floats, Codes]:
    """Distinct rows of label costs (rows, C), and which one each sample has."""
    if problem.label_trust is not None:
        return problem.attainable_flip_cost(), np.arange(problem.n_rows)
    cost = problem.label_cost.copy()
    if problem.radius == 0:
        cost = np.where(cost > 0, np.inf, 0.0)
    return cost, problem.y
