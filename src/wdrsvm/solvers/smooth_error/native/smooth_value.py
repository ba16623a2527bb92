r"""The smooth error of a classifier with its gradient, in working memory of its own."""

from __future__ import annotations

import cython
import numpy as np

from ...runtime.kernel_names import Count, Flag, ReadCodes, Real, Table, Vector, kernel
from .error_rows import ErrorRows
from .pair_rates import add_rate_slopes, fill_rates
from .quasi_newton import copy_into
from .soft_errors import fill_soft_errors


@cython.cclass
class SmoothValue:
    """S at ``point``, which has all coefficients (C, P) and then the intercepts (C,).

    ``columns`` are the features that can move.  Without an intercept its slopes are 0.
    """

    rows: ErrorRows
    columns: ReadCodes
    power: Count
    softness: Real
    lam: Real
    has_intercept: Flag
    point: Vector
    coef: Table
    intercept: Vector
    gradient: Vector
    by_coef: Table
    by_intercept: Vector
    moving: Table
    by_moving: Table
    rates: Table
    by_rate: Table
    slopes: Table
    distance: Vector
    share: Vector

    def __init__(
        self, rows, n_rows, n_classes, n_features, columns, power, softness, has_intercept
    ):
        self.rows, self.columns, self.power = rows, columns, power
        self.softness, self.lam, self.has_intercept = softness, 1.0, has_intercept
        n_coef, shape = n_classes * n_features, (n_classes, n_features)
        point, gradient = np.zeros(n_coef + n_classes), np.zeros(n_coef + n_classes)
        self.point, self.gradient = point, gradient
        self.coef, self.intercept = point[:n_coef].reshape(shape), point[n_coef:]
        self.by_coef, self.by_intercept = (
            gradient[:n_coef].reshape(shape),
            gradient[n_coef:],
        )
        self.moving = np.zeros((n_classes, len(columns)))
        self.by_moving = np.zeros((n_classes, len(columns)))
        self.rates, self.by_rate = np.ones((2, n_classes, n_classes))
        self.slopes = np.zeros((n_rows, n_classes))
        self.distance, self.share = np.zeros((2, n_classes))

    def at(self, point: Vector, lam: Real):
        """S and its gradient."""
        self.lam = lam
        copy_into(self.point, point)
        return self.value(), np.array(self.gradient)

    @kernel
    def value(self) -> Real:
        """S at the point; the gradient is left in ``gradient``."""
        total: Real
        self.take_moving()
        fill_rates(self.moving, self.power, self.rates)
        # The kernel replaces the scores by the slopes.
        self.fill_scores()
        self.by_rate[:, :] = 0.0
        total = fill_soft_errors(
            self.rows,
            self.slopes,
            self.rates,
            self.lam,
            self.softness,
            self.by_rate,
            self.distance,
            self.share,
        )
        self.rows.fill_product(self.slopes, self.by_coef)
        self.add_moving()
        self.sum_slopes()
        return total

    @kernel
    def fill_scores(self) -> None:
        n: Count
        c: Count
        self.rows.fill_scores(self.coef, self.slopes)
        for n in range(self.slopes.shape[0]):
            for c in range(self.slopes.shape[1]):
                self.slopes[n, c] += self.intercept[c]

    @kernel
    def take_moving(self) -> None:
        """Copy the coefficients of the features that can move."""
        c: Count
        k: Count
        for c in range(self.moving.shape[0]):
            for k in range(self.moving.shape[1]):
                self.moving[c, k] = self.coef[c, self.columns[k]]

    @kernel
    def add_moving(self) -> None:
        """Add the slopes by the rates to those by the coefficients."""
        c: Count
        k: Count
        self.by_moving[:, :] = 0.0
        add_rate_slopes(self.moving, self.rates, self.by_rate, self.power, self.by_moving)
        for c in range(self.moving.shape[0]):
            for k in range(self.moving.shape[1]):
                self.by_coef[c, self.columns[k]] += self.by_moving[c, k]

    @kernel
    def sum_slopes(self) -> None:
        n: Count
        c: Count
        self.by_intercept[:] = 0.0
        if self.has_intercept:
            for n in range(self.slopes.shape[0]):
                for c in range(self.slopes.shape[1]):
                    self.by_intercept[c] += self.slopes[n, c]
