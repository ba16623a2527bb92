"""Means and variances of columns, block by block, wherever the rows are.

Two sets of rows with shares p and q of the mass, means m and n and variances v and w have
together the mean m + q (n - m) and the variance p v + q w + p q (m - n)^2.  No sum of
squares is ever compared with a square of sums, so that columns far from zero lose no
digits, and a constant dense column has the variance 0 exactly.
"""

from __future__ import annotations

from functools import reduce
from typing import NamedTuple

import numpy as np
from scipy import sparse

from ..arrays import Floats, Matrix
from .blocks import as_floats, row_blocks
from .threads import row_threads


class ColumnMoments(NamedTuple):
    """Number and mass of some rows, and the mean and variance of each column."""

    n_rows: int
    mass: float
    mean: Floats
    variance: Floats

    @classmethod
    def of(cls, X: Matrix, weight: Floats) -> ColumnMoments | None:
        """The moments of the rows that have weight; None if there are none."""
        carried = np.flatnonzero(weight)
        if not len(carried):
            return None
        rows = as_floats(X if len(carried) == len(weight) else X[carried])
        mass = float(weight[carried].sum())
        moments = _sparse_moments if sparse.issparse(rows) else _dense_moments
        return cls(len(carried), mass, *moments(rows, weight[carried] / mass))

    def deviations(self) -> Floats:
        """Standard deviations; 1 for a column that is constant up to rounding.

        What counts as rounding is what scikit-learn's ``StandardScaler`` takes for it.
        """
        error = self.n_rows * np.finfo(np.float64).eps
        is_constant = self.variance <= error * self.variance + (error * self.mean) ** 2
        return np.where(is_constant, 1.0, np.sqrt(self.variance))


def joined_moments(
    one: ColumnMoments | None, other: ColumnMoments | None
) -> ColumnMoments | None:
    """The moments of two sets of rows together."""
    if one is None or other is None:
        return one if other is None else other
    mass = one.mass + other.mass
    p, q = one.mass / mass, other.mass / mass
    apart = other.mean - one.mean
    variance = p * one.variance + q * other.variance + p * q * apart**2
    return ColumnMoments(one.n_rows + other.n_rows, mass, one.mean + q * apart, variance)


def column_moments(X: Matrix, weight: Floats) -> ColumnMoments | None:
    """The moments of all rows, read in blocks; None if no row has weight."""

    def of_block(rows: slice) -> ColumnMoments | None:
        return ColumnMoments.of(X[rows], weight[rows])

    with row_threads(X.shape[0]) as run:
        return reduce(joined_moments, run(of_block, row_blocks(X, 1)), None)


def column_deviations(X: Matrix, weight: Floats) -> Floats:
    """The standard deviations of the columns; 1 where there is nothing to tell."""
    moments = column_moments(X, weight)
    return np.ones(X.shape[1]) if moments is None else moments.deviations()


def _dense_moments(rows: Floats, share: Floats) -> tuple[Floats, Floats]:
    # Measured from the first row, a constant column is 0 throughout.
    moved = rows - rows[0]
    mean = share @ moved
    return rows[0] + mean, share @ (moved - mean) ** 2


def _sparse_moments(rows: Matrix, share: Floats) -> tuple[Floats, Floats]:
    if not rows.has_canonical_format:
        rows = rows.copy()
        rows.sum_duplicates()
    n_columns, column = rows.shape[1], rows.indices
    part = np.repeat(share, np.diff(rows.indptr))
    mean: Floats = np.bincount(column, part * rows.data, n_columns).astype(np.float64)
    squares = np.bincount(column, part * (rows.data - mean[column]) ** 2, n_columns)
    absent = np.maximum(1 - np.bincount(column, part, n_columns), 0.0)
    # The rounding of a full column's share must not count as rows of zeros.
    absent[np.bincount(column, minlength=n_columns) == rows.shape[0]] = 0.0
    return mean, squares + absent * mean**2
