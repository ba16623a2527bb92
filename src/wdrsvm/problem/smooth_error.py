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

from ..arrays import Codes, Flags, Floats, Matrix
from ..cached import cached_property

# Differences of coefficients below this share of the largest one are rounding.
LEAST_RATE = 1e-9


@dataclass(frozen=True, eq=False)
class SmoothError:
    """S for some rows; features that can move are in units that cost 1 each.

    ``movable`` (P,) marks these features.  ``flip_cost`` (N,) are the prices k_n of another
    label, inf for trusted ones.
    """

    X: Matrix
    y: Codes
    weight: Floats
    flip_cost: Floats
    movable: Flags
    norm: str
    n_classes: int
    lam: float
    softness: float

    def __call__(self, coef: Floats, intercept: Floats) -> tuple[float, Floats, Floats]:
        """S and its gradients by coefficients (C, P) and intercepts (C,)."""
        scores = np.asarray(self.X @ coef.T) + intercept
        moving = coef[:, self.movable]
        rates = _rates(moving, self.norm)
        rate, rows = rates[self.y], self._rows
        distance = (scores[rows, self.y][:, None] - scores) / rate
        margin, share = self._margins(distance)
        value, slope = self._ramp(margin)
        pull = (self.weight * slope * self.lam)[:, None] * share / rate
        by_score = -pull
        by_score[rows, self.y] += pull.sum(axis=1)
        by_rate = self._labels.T @ (-pull * distance)
        by_coef = np.asarray(by_score.T @ self.X)
        by_coef[:, self.movable] += _rate_slopes(moving, rates, by_rate, self.norm)
        return float(self.weight @ value), by_coef, by_score.sum(axis=0)

    @cached_property
    def _rows(self) -> Codes:
        return np.arange(len(self.y))

    @cached_property
    def _labels(self) -> Floats:
        return np.eye(self.n_classes)[self.y]

    def _margins(self, distance: Floats) -> tuple[Floats, Floats]:
        """m (N,), and each rival's part in its slope (N, C)."""
        exponent = distance * (-self.lam / self.softness)
        exponent[self._rows, self.y] = -self.lam / self.softness * self.flip_cost
        top = exponent.max(axis=1)
        share = np.exp(exponent - top[:, None])
        total = share.sum(axis=1)
        share /= total[:, None]
        # Another label costs the same wherever the row is.
        share[self._rows, self.y] = 0.0
        return -self.softness * (top + np.log(total)), share

    def _ramp(self, margin: Floats) -> tuple[Floats, Floats]:
        """The smooth ramp of each margin, and its slope."""
        low, high = -margin / self.softness, (1.0 - margin) / self.softness
        value = self.softness * (np.logaddexp(0.0, high) - np.logaddexp(0.0, low))
        return value, 0.5 * (np.tanh(low / 2) - np.tanh(high / 2))


def _rates(coef: Floats, norm: str) -> Floats:
    """Dual norms of the differences of rows, (C, C); 1 where there is no difference."""
    if norm == "l2":
        gram = coef @ coef.T
        square = np.diag(gram)
        rates = np.sqrt(np.maximum(square[:, None] + square - 2 * gram, 0.0))
    else:
        sizes = (np.abs(row - coef) for row in coef)
        parts = [
            size.sum(axis=1) if norm == "linf" else size.max(axis=1, initial=0.0)
            for size in sizes
        ]
        rates = np.array(parts)
    return np.where(rates > LEAST_RATE * rates.max(initial=0.0), rates, 1.0)


def _rate_slopes(coef: Floats, rates: Floats, by_rate: Floats, norm: str) -> Floats:
    """The gradient (C, P) by coefficients of something whose slopes by rates are known."""
    both = by_rate + by_rate.T
    if norm == "l2":
        pull = both / rates
        return np.asarray(pull.sum(axis=1)[:, None] * coef - pull @ coef)
    parts = (_dual_direction(row - coef, norm) for row in coef)
    return np.array([pull @ part for pull, part in zip(both, parts, strict=True)])


def _dual_direction(differences: Floats, norm: str) -> Floats:
    """A slope of the dual norm of each row."""
    sign = np.sign(differences)
    if norm == "linf":
        return np.asarray(sign)
    size = np.abs(differences)
    sign[size < size.max(axis=1, keepdims=True, initial=0.0)] = 0.0
    return np.asarray(sign / np.maximum(np.abs(sign).sum(axis=1, keepdims=True), 1.0))
