r"""A smooth stand-in for the worst-case error rate, with its gradient.

The worst-case error of a classifier is, with c_n the cost of making row n wrong,

    min over lam of  eps lam + sum_n w_n (1 - lam c_n)_+ .

For a fixed lam the sum has kinks, and rows that are wrong have no slope.  Here

    m_n = softmin over j != y_n of  lam (z_y - z_j) / || (M_y - M_j) / cost ||_* ,
          with lam k_n, the price of another label, as one more entry,
    S(M, b) = sum_n w_n s ( softplus((1 - m_n) / s) - softplus(-m_n / s) ) .

Each row counts as if its place were known only up to noise of width s / lam: S speaks of
rows like those given, not only of these rows.  As s falls to 0, S tends to the sum above.
S does not change with the scale of (M, b).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse

from ...arrays import Codes, Flags, Floats, Matrix
from .kernels import ErrorDescent, ErrorRows, SmoothValue

# The dual of each norm, as the kernels name it.
DUAL_POWERS = {"l1": 0, "l2": 2, "linf": 1}


@dataclass(frozen=True, eq=False)
class SmoothError:
    """S for some rows; features that can move are in units that cost 1 each.

    ``movable`` (P,) marks these features.  ``flip_cost`` (N,) are the prices k_n of another
    label, inf for trusted ones.  Arrays are contiguous.  Classifiers are flat: coefficients
    (C, P) by rows, then the intercepts (C,).  Working memory is shared between calls.
    """

    X: Matrix
    y: Codes
    weight: Floats
    flip_cost: Floats
    movable: Flags
    norm: str
    n_classes: int
    softness: float
    fit_intercept: bool = True

    @cached_property
    def _value(self) -> Any:
        columns, power = np.flatnonzero(self.movable), DUAL_POWERS[self.norm]
        rows = ErrorRows(*_stored(self.X), self.y, self.weight, self.flip_cost)
        shape = len(self.y), self.n_classes, self.X.shape[1]
        return SmoothValue(rows, *shape, columns, power, self.softness, self.fit_intercept)

    @cached_property
    def _descent(self) -> Any:
        return ErrorDescent(self._value)

    def __call__(self, flat: Floats, lam: float) -> tuple[float, Floats]:
        """S and its gradient."""
        found: tuple[float, Floats] = self._value.at(flat, lam)
        return found

    def descended(self, flat: Floats, lam: float, n_steps: int) -> Floats:
        """The end of a descent that begins at a classifier."""
        return np.asarray(self._descent.run(flat, lam, n_steps))


def _stored(X: Matrix) -> tuple[bool, Floats, Floats, Codes, Codes]:
    """Whether rows are dense; a dense array, or the three arrays of sparse rows."""
    no_codes = np.empty(0, dtype=np.intp)
    if not sparse.issparse(X):
        return True, np.asarray(X), np.empty(0), no_codes, no_codes
    indices, indptr = (np.asarray(each, dtype=np.intp) for each in (X.indices, X.indptr))
    return False, np.empty((0, 0)), X.data, indices, indptr
