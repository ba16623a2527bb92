r"""Rows at rest, and which of them an epoch has to visit.

A row of a hinge is at rest when its whole mass is on its own label.  Its slack is what a
unit of its mass would lose by the best move,

    min over j != y of  z_y - z_j - 1,
    min over c of  lam k_c + z_c - 1 - max_j z_j    if labels can be flipped,

and it stays at rest while its slack is positive.  Slacks are computed at one point and
kept.  At another point a difference z_i - z_j has changed by no more than the changes of
M_i and M_j are long, times the length of the row.  So most rows need no new look.
"""

from __future__ import annotations

import numpy as np

from ...arrays import Codes, Floats
from .layout import Layout
from .samples import SampleArrays
from .settings import FIRST_ORDER


class RestingRows:
    """The slacks (N,) of all rows at some point, and that point."""

    def __init__(self, layout: Layout, rows: SampleArrays):
        self.layout, self.rows = layout, rows
        self.lengths = np.sqrt(rows.touch_curvature)
        self.slacks: Floats | None = None
        self.coarse = False
        self.costs = np.where(np.isfinite(rows.cost), rows.cost, 0.0).max(axis=1)

    def leaving(
        self, resting: Codes, touch: Floats, free: Floats, lam: float, coarse: bool = False
    ) -> Codes:
        """The rows among ``resting`` whose mass would move at this point.

        If rows are settled coarsely, slacks are computed in single precision.
        """
        if self.coarse and not coarse:
            self.slacks = None
        self.coarse = coarse and len(self.rows.singles) > 0
        unsure = self._unsure(resting, touch, free, lam)
        if len(unsure) > FIRST_ORDER.max_unsure_share * len(self.rows.y):
            every = np.arange(len(self.rows.y))
            self.point = touch.copy(), free.copy(), lam
            self.slacks = self._slacks(every, *self.point)
            return resting[self.slacks[resting] < 0]
        return unsure[self._slacks(unsure, touch, free, lam) < 0]

    def _unsure(self, resting: Codes, touch: Floats, free: Floats, lam: float) -> Codes:
        """The rows whose slack may have become negative since it was computed."""
        if self.slacks is None:
            return resting
        before, free_before, lam_before = self.point
        moved = np.linalg.norm(touch - before, axis=0)
        # Entries of free columns are at most 1.
        moved_free = np.abs(free - free_before).sum(axis=0)
        y = self.rows.y[resting]
        change = (moved[y] + moved.max()) * self.lengths[resting]
        change += moved_free[y] + moved_free.max(initial=0.0)
        if len(self.costs):
            change = 2 * moved.max() * self.lengths[resting] + 2 * moved_free.max()
            change += abs(lam - lam_before) * self.costs[resting]
        return np.asarray(resting[self.slacks[resting] <= change])

    def _slacks(self, chosen: Codes, touch: Floats, free: Floats, lam: float) -> Floats:
        """The slacks of some rows, of which only so many have scores at a time."""
        step = max(1, FIRST_ORDER.entries_of_part // touch.shape[1])
        parts = range(0, max(len(chosen), 1), step)
        point = touch, free, lam
        found = [self._slacks_of(chosen[first : first + step], *point) for first in parts]
        return np.concatenate(found)

    def _slacks_of(self, chosen: Codes, touch: Floats, free: Floats, lam: float) -> Floats:
        scores = self._touchable_scores(chosen, touch)
        scores += self.layout.free[chosen] @ free
        every, y = np.arange(len(chosen)), self.rows.y[chosen]
        own = scores[every, y]
        flipped = np.full(len(chosen), np.inf)
        if len(self.costs):
            paid = scores + lam * self.rows.cost[chosen]
            flipped = paid.min(axis=1) - 1 - scores.max(axis=1)
        scores[every, y] = -np.inf
        return np.asarray(np.minimum(own - 1 - scores.max(axis=1), flipped))

    def _touchable_scores(self, chosen: Codes, touch: Floats) -> Floats:
        if self.coarse:
            scores = self.rows.singles[chosen] @ touch.astype(np.float32)
            return scores.astype(np.float64)
        return np.asarray(self.layout.touch[chosen] @ touch)
