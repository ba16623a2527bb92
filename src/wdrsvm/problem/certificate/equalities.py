"""The equalities of dual feasibility: the columns on which the multipliers must balance.

The columns e are some features and, with an intercept, a column of ones; E is their number.
The equalities are  sum_n g_n e_n' = aim,  where g_n (C,) are the slopes of row n.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np
from scipy import sparse

from ...arrays import Codes, Flags, Floats, Matrix
from ...rows.blocks import as_floats
from ..norms import TINY
from ..problem import RobustProblem
from .tilts import EQUALITY_ROUNDING

# Equalities are judged by the mass that makes the slopes if it is less than this.
LITTLE_MASS = 1e-6
# Sums of the weights are not more precise than this share of ``EQUALITY_ROUNDING``.
LEAST_UNIT = 1e-2
# A block of so few columns is faster as a dense array, even if X is sparse.
FEW_COLUMNS = 64


class Sums(NamedTuple):
    """Sums of the multipliers over all rows; None if not asked for.

    ==========  ============  =====================================================
    on_flips                  sum k phi
    on_columns  (C, E)        sum_n g_n e_n'
    moved                     the mass that makes the slopes
    system      (C, E, C, E)  the linear system of a tilt
    totals                    what a bound needs and a tilt does not
    ==========  ============  =====================================================
    """

    on_flips: float
    on_columns: Floats
    moved: float
    system: Floats | None = None
    totals: BoundTotals | None = None


class BoundTotals(NamedTuple):
    """Further sums of the multipliers over all rows.

    ==========  ============  =====================================================
    value                     sum_n (w_n - alpha_n,y)
    gradient    (C, P)        G
    sizes       (C, E)        sum of the absolute values of the terms of on_columns
    ==========  ============  =====================================================
    """

    value: float
    gradient: Floats
    sizes: Floats


@dataclass(frozen=True, eq=False)
class Equalities:
    """The columns on which sum_n g_n e_n' must equal ``aim`` (C, E).

    The equality is strict on the intercept and on features that the adversary cannot move.
    On other columns it may fail, and scaling corrects for it.  Features far from zero are
    measured from their ``centre`` (P,).  If sum_n g_n = 0, this gives the same sum with
    less rounding.
    """

    columns: Codes
    scale: Floats
    strict: Flags
    aim: Floats
    centre: Floats

    @classmethod
    def of(
        cls,
        problem: RobustProblem,
        columns: Flags,
        gradient: Floats | None = None,
    ) -> Equalities:
        chosen = np.flatnonzero(columns)
        scale = largest_entries(problem, chosen)
        chosen, scale = chosen[scale > TINY], scale[scale > TINY]
        fixed = np.isinf(problem.attainable_feature_cost())[chosen]
        aim = np.zeros((problem.n_classes, len(chosen)))
        if gradient is not None:
            aim = gradient[:, chosen] / scale
        if problem.fit_intercept:
            fixed = np.append(fixed, True)
            aim = np.hstack([aim, np.zeros((problem.n_classes, 1))])
        return cls(chosen, scale, fixed, aim, problem.centre)

    def lack(self, sums: Sums) -> Floats:
        """The aim minus the sums, shape (C, E)."""
        return self.aim - sums.on_columns

    def lacking(self, sums: Sums, columns: Flags) -> float:
        """The largest absolute difference of the sums from the aim, on some columns."""
        return float(np.abs(self.lack(sums)[:, columns]).max(initial=0.0))

    def miss(self, sums: Sums, columns: Flags) -> float:
        """The same, measured in weights, which sum to about 1, or, if little mass makes the
        slopes, in a multiple of it.

        A classifier with long coefficients may have no loss at all; a little mass that
        misses nearly as much as it is would prove a loss.
        """
        unit = min(max(sums.moved / LITTLE_MASS, LEAST_UNIT), 1.0)
        return self.lacking(sums, columns) / unit

    def rounded(self, sums: Sums, totals: BoundTotals) -> BoundTotals:
        """The totals, with G equal to the aim where they differ only by rounding.

        In a column of large entries this rounding may exceed the whole budget.  It is no
        larger than the rounding in the risk of any classifier.
        """
        width = len(self.columns)
        aim, gradient = self.aim[:, :width], totals.gradient.copy()
        reached = np.abs(self.lack(sums)) <= EQUALITY_ROUNDING * totals.sizes
        here = gradient[:, self.columns]
        gradient[:, self.columns] = np.where(reached[:, :width], aim * self.scale, here)
        return totals._replace(gradient=gradient)

    def pull(self, tilt: Floats, columns: Matrix) -> Floats:
        """S e_n for each row (rows, C), for a tilt S and the ``columns`` e of the rows.

        If only intercepts must balance, all rows are pulled alike: a line without a copy.
        """
        if len(self.columns):
            return np.asarray(columns @ tilt.T)
        return np.broadcast_to(tilt.sum(axis=1), (columns.shape[0], len(tilt)))

    def features(self, problem: RobustProblem, rows: slice) -> Matrix:
        """Some rows of X minus the centre."""
        return _from_centre(problem.features(rows), self.centre)

    def rows(self, problem: RobustProblem, rows: slice) -> Matrix:
        """The columns e of some rows, scaled to entries of at most 1.

        Many columns of a sparse X stay sparse.
        """
        chosen: Matrix = np.empty((len(problem.y[rows]), 0))
        if len(self.columns):
            chosen = as_floats(problem.X[rows][:, self.columns])
            chosen = _from_centre(chosen, self.centre[self.columns])
        keeps_sparse = sparse.issparse(chosen) and len(self.columns) > FEW_COLUMNS
        scaled = (chosen if keeps_sparse else dense(chosen)) / self.scale
        if not problem.fit_intercept:
            return scaled
        ones = np.ones((scaled.shape[0], 1))
        if keeps_sparse:
            return sparse.hstack([scaled, ones], format="csr")
        return np.hstack([scaled, ones])


def dense(block: Matrix) -> Floats:
    """A block as a dense array."""
    return block.toarray() if sparse.issparse(block) else np.asarray(block)


def largest_entries(problem: RobustProblem, columns: Codes) -> Floats:
    """The largest absolute entry of each of these columns, measured from the centre."""
    if not len(columns):
        return np.zeros(0)
    with problem.reduction() as reduction:
        look = partial(_largest_of_rows, columns, problem.centre)
        largest: Floats = reduction.fold(look, np.maximum)
    return largest


def _largest_of_rows(
    columns: Codes, centre: Floats, problem: RobustProblem, rows: slice
) -> Floats:
    features = _from_centre(problem.features(rows), centre)
    return dense(np.abs(features[:, columns]).max(axis=0)).ravel()


def _from_centre(features: Matrix, centre: Floats) -> Matrix:
    return features - centre if centre.any() else features
