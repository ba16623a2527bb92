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
from ..cones.sample_rows import compiled


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


@compiled
def active_pieces(scores, y, flip_cost, cost_row, weight, lam, slope, pieces):  # type: ignore[no-untyped-def]
    """Sum of the samples' largest pieces, what their flips cost, and the slopes (N, C).

    ``pieces`` (N, 2) takes the label and the winner of each sample.
    """
    n_rows, n_classes = scores.shape
    value, spent = 0.0, 0.0
    for n in range(n_rows):
        z = scores[n]
        first, second = 0, 1
        if z[1] > z[0]:
            first, second = 1, 0
        for j in range(2, n_classes):
            if z[j] > z[first]:
                first, second = j, first
            elif z[j] > z[second]:
                second = j
        label = y[n]
        best = _loss_of(z, label, first, second)
        price = 0.0
        for c in range(n_classes):
            cost = flip_cost[cost_row[n], c]
            if c != y[n] and cost < np.inf:
                piece = _loss_of(z, c, first, second) - lam * cost
                if piece > best:
                    best, label, price = piece, c, cost
        rival = second if label == first else first
        winner = rival if 1.0 + z[rival] - z[label] > 0 else label
        for j in range(n_classes):
            slope[n, j] = 0.0
        slope[n, winner] += weight[n]
        slope[n, label] -= weight[n]
        pieces[n, 0], pieces[n, 1] = label, winner
        value += weight[n] * best
        spent += weight[n] * price
    return value, spent


@compiled
def _loss_of(z, label, first, second):  # type: ignore[no-untyped-def]
    rival = second if label == first else first
    return max(1.0 + z[rival] - z[label], 0.0)


@compiled
def count_pieces(pieces, y, mass, counts):  # type: ignore[no-untyped-def]
    """Add ``mass`` to the multipliers alpha, phi, beta (3, N, C) of the active pieces."""
    for n in range(len(y)):
        label, winner = pieces[n]
        if label == y[n]:
            counts[0, n, winner] += mass
        else:
            counts[1, n, label] += mass
            counts[2, n, winner] += mass


class Rows:
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
