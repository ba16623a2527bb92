"""The second-order solvers' units.

Columns are touchable features times cost, untouchable features, and ones for the
intercept, which is a feature the adversary cannot move.  Features are centred where an
intercept can take up the shift; touchable ones, radius and label costs are divided by
``unit``, so that the largest touchable entry is 1.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ..problem import RobustProblem
from ..problem.objective import Matrix

Floats = NDArray[np.float64]


def dense_rows(X: Matrix) -> Floats:
    return np.asarray(X.toarray() if sparse.issparse(X) else X, dtype=np.float64)


@dataclass(frozen=True, eq=False)
class Scaling:
    """Between the problem's coefficients (C, P), (C,) and the solver's (C, Q)."""

    touchable: NDArray[np.bool_]
    order: NDArray[np.intp]
    column_scale: Floats
    centre: Floats
    unit: float
    fit_intercept: bool

    @classmethod
    def of(cls, problem: RobustProblem) -> Scaling:
        cost = problem.attainable_feature_cost()
        touchable = np.isfinite(cost)
        centre = _weighted_mean(problem) if problem.fit_intercept else np.zeros(len(cost))
        largest = _largest_deviation(problem, centre)
        scale = np.where(touchable, cost, 1 / np.where(largest > 0, largest, 1.0))
        unit = float((largest * scale)[touchable].max(initial=0.0)) or 1.0
        return cls(
            touchable=touchable,
            order=np.concatenate([np.flatnonzero(touchable), np.flatnonzero(~touchable)]),
            column_scale=np.where(touchable, scale / unit, scale),
            centre=centre,
            unit=unit,
            fit_intercept=problem.fit_intercept,
        )

    @property
    def n_touchable(self) -> int:
        return int(self.touchable.sum())

    @property
    def n_columns(self) -> int:
        return len(self.touchable) + self.fit_intercept

    def design(self, X: Matrix) -> Floats:
        """Rows of X in the solver's columns, shape (n, Q)."""
        rows = (dense_rows(X) - self.centre) * self.column_scale
        design = np.ones((len(rows), self.n_columns))
        design[:, : len(self.order)] = rows[:, self.order]
        return design

    def original(self, coef: Floats) -> tuple[Floats, Floats]:
        """The problem's coef and intercept, in the gauge where classes sum to zero."""
        coef = coef - coef.mean(axis=0)
        n_features = len(self.order)
        plain = np.empty((len(coef), n_features))
        plain[:, self.order] = coef[:, :n_features]
        plain *= self.column_scale
        shift = coef[:, n_features] if self.fit_intercept else np.zeros(len(coef))
        return plain, shift - plain @ self.centre

    def scaled(self, coef: Floats, intercept: Floats) -> Floats:
        """The inverse of ``original``."""
        columns = (coef / self.column_scale)[:, self.order]
        if not self.fit_intercept:
            return np.asarray(columns)
        return np.column_stack([columns, intercept + coef @ self.centre])

    def scaled_gradient(self, gradient: Floats, slope_sum: Floats) -> Floats:
        """sum_n g_n x_n' (C, P) and sum_n g_n (C,) as a gradient in the solver's columns."""
        centred = gradient - slope_sum[:, None] * self.centre
        columns = (centred * self.column_scale)[:, self.order]
        if not self.fit_intercept:
            return np.asarray(columns)
        return np.column_stack([columns, slope_sum])

    def on_features(self, touchable: Floats) -> Floats:
        """Multipliers (rows, T) on touchable columns as ones (rows, P) on features."""
        plain = np.zeros((len(touchable), len(self.touchable)))
        plain[:, self.touchable] = touchable / self.column_scale[self.touchable]
        return plain


def _weighted_mean(problem: RobustProblem) -> Floats:
    total = np.zeros(problem.n_features)
    for rows in problem.blocks():
        total += np.asarray(problem.weight[rows] @ problem.X[rows])
    return total


def _largest_deviation(problem: RobustProblem, centre: Floats) -> Floats:
    """Largest |x_d - centre_d| of each feature, without centring a copy."""
    low = np.full(problem.n_features, np.inf)
    high = np.full(problem.n_features, -np.inf)
    for rows in problem.blocks():
        block = problem.X[rows]
        low = np.minimum(low, dense_rows(block.min(axis=0)).ravel())
        high = np.maximum(high, dense_rows(block.max(axis=0)).ravel())
    return np.maximum(high - centre, centre - low)
