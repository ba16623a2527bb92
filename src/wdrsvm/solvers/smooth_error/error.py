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

import numpy as np

from ...arrays import Codes, Flags, Floats, Matrix
from .kernels import add_rate_slopes, pair_rates, soft_errors

# The dual of each norm, as the kernels name it.
DUAL_POWERS = {"l1": 0, "l2": 2, "linf": 1}


@dataclass(frozen=True, eq=False)
class SmoothError:
    """S for some rows; features that can move are in units that cost 1 each.

    ``movable`` (P,) marks these features.  ``flip_cost`` (N,) are the prices k_n of another
    label, inf for trusted ones.  Vectors are contiguous.
    """

    X: Matrix
    y: Codes
    weight: Floats
    flip_cost: Floats
    movable: Flags
    norm: str
    lam: float
    softness: float

    def __call__(self, coef: Floats, intercept: Floats) -> tuple[float, Floats, Floats]:
        """S and its gradients by coefficients (C, P) and intercepts (C,)."""
        power, moving = DUAL_POWERS[self.norm], np.ascontiguousarray(coef[:, self.movable])
        rates = pair_rates(moving, power)
        by_rate, by_moving = np.zeros_like(rates), np.zeros_like(moving)
        # The kernel replaces the scores by the slopes.
        slopes = np.ascontiguousarray(self.X @ coef.T)
        slopes += intercept
        rows = self.y, self.weight, self.flip_cost
        value = soft_errors(slopes, *rows, rates, self.lam, self.softness, by_rate)
        add_rate_slopes(moving, rates, by_rate, power, by_moving)
        by_coef = np.asarray(slopes.T @ self.X)
        by_coef[:, self.movable] += by_moving
        return value, by_coef, slopes.sum(axis=0)
