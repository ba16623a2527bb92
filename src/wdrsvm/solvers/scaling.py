"""The second-order solvers' units.

Columns are touchable features times cost, untouchable features, and ones for the
intercept, which is a feature the adversary cannot move.  Features are centred where an
intercept can take up the shift; touchable ones, radius and label costs are divided by
``unit``, the typical size of a touchable column.  With the l2 norm and fewer rows than
touchable features these are rotated into the span of the rows, which loses nothing: the
norm does not see the rotation, and what is orthogonal to the data only adds to it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from scipy import linalg

from ..arrays import Flags, Floats, Matrix
from ..cached import cached_property
from ..problem import RobustProblem
from ..problem.norms import TINY, TRIANGLE
from ..problem.rounding.last_digits import rounded_together
from ..rows.blocks import dense_rows


@dataclass(frozen=True, eq=False)
class Scaling:
    """Between the problem's coefficients (C, P), (C,) and the solver's (C, Q).

    ``rotation`` (T, R) has orthonormal columns, or is None.  The gauge is free where one
    vector added to all classes changes nothing.  ``is_far``: some column is so far from
    zero that the digits of intercepts are few.  ``constant`` columns are zero when centred.
    """

    touchable: Flags
    column_scale: Floats
    centre: Floats
    constant: Flags
    unit: float
    fit_intercept: bool
    free_gauge: bool = True
    rotation: Floats | None = None
    is_far: bool = False

    @classmethod
    def of(cls, problem: RobustProblem, features_per_row: float = 1.0) -> Scaling:
        """Rows with more features than ``features_per_row`` for each row are rotated."""
        cost = problem.attainable_feature_cost()
        touchable = np.isfinite(cost)
        with problem.reduction() as reduction:
            low, high, mean = reduction.fold(ColumnStatistics.of, ColumnStatistics.joined)
        centre, constant = np.zeros(len(cost)), np.zeros(len(cost), dtype=bool)
        if problem.fit_intercept:
            # The rounding of a constant column's mean must not count as spread.
            constant = np.asarray(low == high)
            centre = np.where(constant, low, mean)
        largest = np.maximum(high - centre, centre - low)
        scale = np.where(touchable, cost, 1 / np.where(largest > TINY, largest, 1.0))
        unit = typical_size((largest * scale)[touchable])
        scale = np.where(touchable, scale / unit, scale)
        plain = cls(
            touchable,
            scale,
            centre,
            constant,
            unit,
            problem.fit_intercept,
            problem.norm != TRIANGLE,
            is_far=bool(problem.centre.any()),
        )
        most_features = features_per_row * problem.n_rows
        if problem.ball.norm != "l2" or plain.n_touchable <= most_features:
            return plain
        rows = problem.take(np.arange(problem.n_rows))
        span = plain.design(rows.X)[:, : plain.n_touchable].T
        return replace(plain, rotation=linalg.qr(span, mode="economic")[0])

    @cached_property
    def n_touchable(self) -> int:
        if self.rotation is not None:
            return int(self.rotation.shape[1])
        return int(self.touchable.sum())

    @cached_property
    def n_columns(self) -> int:
        n_untouchable = int((~self.touchable).sum())
        return self.n_touchable + n_untouchable + self.fit_intercept

    @cached_property
    def _moved(self) -> Any:
        """The touchable features; a slice, which is read sooner, if these are all."""
        return slice(None) if self.touchable.all() else self.touchable

    @cached_property
    def _still(self) -> Any:
        """The other features."""
        return slice(0, 0) if self.touchable.all() else ~self.touchable

    def design(self, X: Matrix) -> Floats:
        """Rows of X in the solver's columns, shape (n, Q)."""
        rows = dense_rows(X) - self.centre
        return self._columns(rows * self.column_scale, np.ones(len(rows)))

    def _columns(self, features: Floats, last: Floats) -> Floats:
        """(n, P) scaled features and the intercept's column as (n, Q)."""
        moved = features[:, self._moved]
        parts = [moved if self.rotation is None else moved @ self.rotation]
        parts.append(features[:, self._still])
        if self.fit_intercept:
            parts.append(last[:, None])
        return np.concatenate(parts, axis=1)

    def original(self, coef: Floats) -> tuple[Floats, Floats]:
        """The problem's coef and intercept, classes summing to zero if they may."""
        if self.free_gauge:
            coef = coef - coef.sum(axis=0) / len(coef)
        n_touchable, n_features = self.n_touchable, len(self.touchable)
        moved = coef[:, :n_touchable]
        plain = np.empty((len(coef), n_features))
        plain[:, self._moved] = moved if self.rotation is None else moved @ self.rotation.T
        plain[:, self._still] = coef[:, n_touchable : self.n_columns - self.fit_intercept]
        plain *= self.column_scale
        shift = coef[:, -1] if self.fit_intercept else np.zeros(len(coef))
        if self.is_far:
            return rounded_together(plain, shift, self.centre)
        return plain, shift - plain @ self.centre

    def scaled(self, coef: Floats, intercept: Floats) -> Floats:
        """The inverse of ``original``, up to what is orthogonal to the data."""
        return self._columns(coef / self.column_scale, intercept + coef @ self.centre)

    def scaled_gradient(self, gradient: Floats, slope_sum: Floats) -> Floats:
        """sum g_n x_n' (C, P) and sum g_n (C,) as a gradient in the solver's columns."""
        centred = gradient - slope_sum[:, None] * self.centre
        # Of a large constant, rounding would be left, which no coefficient can remove.
        centred[:, self.constant] = 0.0
        return self._columns(centred * self.column_scale, slope_sum)

    def on_features(self, touchable: Floats) -> Floats:
        """Multipliers (rows, T) on touchable columns as ones (rows, P) on features."""
        if self.rotation is not None:
            touchable = touchable @ self.rotation.T
        if self.touchable.all():
            return np.asarray(touchable / self.column_scale)
        plain = np.zeros((len(touchable), len(self.touchable)))
        plain[:, self.touchable] = touchable / self.column_scale[self.touchable]
        return plain


def typical_size(sizes: Floats) -> float:
    """The geometric mean: neither the largest feature nor the smallest sets the unit."""
    sizes = sizes[sizes > TINY]
    return float(np.exp(np.log(sizes).mean())) if len(sizes) else 1.0


class ColumnStatistics(NamedTuple):
    """Smallest and largest entry and weighted sum of each feature."""

    low: Floats
    high: Floats
    total: Floats

    @classmethod
    def of(cls, problem: RobustProblem, rows: slice) -> ColumnStatistics:
        block = problem.X[rows]
        return cls(
            dense_rows(block.min(axis=0)).ravel(),
            dense_rows(block.max(axis=0)).ravel(),
            np.asarray(problem.weight[rows] @ problem.features(rows)),
        )

    def joined(self, other: ColumnStatistics) -> ColumnStatistics:
        return ColumnStatistics(
            np.minimum(self.low, other.low),
            np.maximum(self.high, other.high),
            self.total + other.total,
        )
