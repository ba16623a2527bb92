r"""Thresholds of sets that keep their coverage inside the ball, by conformal risk control.

For a multiplier lam >= 0 that does not depend on the n calibration rows, take the least
q >= 0 with

    lam eps + ( sum_i max(0, 1 - lam c_i(q)) + 1 ) / (n + 1)  <=  alpha .

The loss max(0, 1 - lam c(q)) lies in [0, 1] and does not grow with q.  A fresh row
therefore loses at most alpha - lam eps of it on average, and by weak duality every
distribution within eps of the rows' source has Q(y not in S_q(x)) <= alpha, on average over
calibrations.  A larger q that fulfils the condition is as valid.

At eps = 0 nothing moves, and the loss is 1[y not in S_q(x)]: split conformal prediction.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from ....arrays import Floats
from ....problem.norms import HUGE, TINY
from ..errors.curve_points import breakpoints, expected_losses, slope_at

# Costs (N,) of losing the labels of some rows, for a threshold.
CostsAt = Callable[[float], Floats]
# A threshold may be larger than the least one by this relative amount.
ACCURACY = 1e-12
# The condition, a sum of n terms, is met up to this rounding.
CONDITION_ROUNDING = 1e-12


class Wanted(NamedTuple):
    """The share of labels that may be lost, at any distribution within the radius."""

    lost: float
    radius: float

    def leaves(self, n_rows: int) -> float:
        """The part of the share that is left for the losses of n calibration rows."""
        return self.lost * (n_rows + 1) - 1


def calm_threshold(gaps: Floats, wanted: Wanted) -> float:
    """The threshold at radius 0, from the gaps (n,) of the labels' scores."""
    n_lost = int(np.floor(wanted.leaves(len(gaps)) + CONDITION_ROUNDING))
    if n_lost < 0:
        return np.inf
    if n_lost >= len(gaps):
        return 0.0
    return float(np.sort(gaps)[len(gaps) - 1 - n_lost])


def robust_threshold(costs_at: CostsAt, n_rows: int, lam: float, wanted: Wanted) -> float:
    """The least threshold that keeps the coverage in the ball; inf if there is none."""
    left = wanted.leaves(n_rows) - lam * wanted.radius * (n_rows + 1)
    if left < -CONDITION_ROUNDING * (n_rows + 1):
        return np.inf

    def holds(threshold: float) -> bool:
        lost = expected_losses(costs_at(threshold), lam).sum()
        return bool(lost <= left + CONDITION_ROUNDING * (n_rows + 1))

    return least(holds)


def best_multiplier(costs_at: CostsAt, n_rows: int, wanted: Wanted) -> float:
    """The multiplier with the least threshold, if calibration rows were like these rows.

    The given rows are not the n calibration rows.

    The least threshold for any multiplier is the least one at which the worst-case share
    of lost labels, at the radius (n + 1) / n eps, is at most (alpha (n + 1) - 1) / n.  The
    multiplier is the slope of the worst-case share there.
    """
    if n_rows == 0 or wanted.leaves(n_rows) <= 0:
        return 0.0
    level, radius = wanted.leaves(n_rows) / n_rows, wanted.radius * (n_rows + 1) / n_rows

    def holds(threshold: float) -> bool:
        return bool(np.interp(radius, *_curve(costs_at(threshold))) <= level)

    threshold = least(holds)
    if np.isinf(threshold):
        return 0.0
    return slope_at(*_curve(costs_at(threshold)), radius)


def blind_multiplier(n_rows: int, wanted: Wanted) -> float:
    """A multiplier chosen without rows: half of the largest one that n rows allow."""
    return max(wanted.leaves(n_rows) / (n_rows + 1) / wanted.radius / 2, 0.0)


def _curve(costs: Floats) -> tuple[Floats, Floats]:
    return breakpoints(costs, np.ones(len(costs)))


def least(holds: Callable[[float], bool]) -> float:
    """The least number >= 0 from which on a condition holds; inf if there is none."""
    if holds(0.0):
        return 0.0
    low, high = 0.0, 1.0
    while not holds(high):
        low, high = high, 2 * high
        if high > HUGE:
            return np.inf
    while high - low > ACCURACY * high and high > TINY:
        middle = (low + high) / 2
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high
