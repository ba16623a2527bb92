"""The mean of the last epochs' points, whose risk is often far below theirs.

Coordinate ascent goes on around the optimum, and each of its points has rows just beyond a
kink and pairs of classes that are a little too far apart.  Their mean has less of both.  It
is a running mean: it forgets early points by and by.
"""

from __future__ import annotations

from ...arrays import Floats
from .settings import FIRST_ORDER


class RunningMean:
    """The running mean of tables (T, C) and (E, C)."""

    def __init__(self, touch: Floats, free: Floats):
        self.touch, self.free = touch.copy(), free.copy()
        self.n_points = 0

    def add(self, touch: Floats, free: Floats) -> None:
        """Count this point with a weight that falls to the last points' share."""
        self.n_points += 1
        share = max(
            FIRST_ORDER.least_share_of_mean, FIRST_ORDER.points_of_mean / self.n_points
        )
        share = min(share, 1.0)
        for mean, table in ((self.touch, touch), (self.free, free)):
            mean *= 1 - share
            mean += share * table
