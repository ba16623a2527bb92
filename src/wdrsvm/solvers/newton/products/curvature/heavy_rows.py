"""The rows that bend the loss of each class most.

Where classes overlap little, most of a class's curvature comes from a few dozen rows.  The
preconditioner takes these as they are, and all others by their mean and spread.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .....arrays import Codes, Floats
from .....problem.norms import TINY
from ..settings import PRODUCTS


class HeavyEntries(NamedTuple):
    """For each class the largest curvatures of a row's score, and the numbers of the rows,
    both (C, k)."""

    curvature: Floats
    rows: Codes

    @classmethod
    def of(cls, spread: Floats, numbers: Codes, count: int) -> HeavyEntries:
        """The largest entries of ``spread`` (C, n) of the rows with these ``numbers``."""
        rows = np.broadcast_to(numbers, spread.shape)
        return cls(spread, rows).largest(count)

    def largest(self, count: int) -> HeavyEntries:
        n_entries = self.rows.shape[1]
        if n_entries <= count:
            return self
        first = n_entries - count
        chosen = np.argpartition(self.curvature, first, axis=1)[:, first:]
        curvature = np.take_along_axis(self.curvature, chosen, 1)
        return HeavyEntries(curvature, np.take_along_axis(self.rows, chosen, 1))

    def joined(self, other: HeavyEntries, count: int) -> HeavyEntries:
        """The largest of both."""
        curvature = np.hstack([self.curvature, other.curvature])
        return HeavyEntries(curvature, np.hstack([self.rows, other.rows])).largest(count)


class HeavyCurvature(NamedTuple):
    """Sums of the curvature q_nc of each score alone, over the rows of the class itself and
    over all others: its mass (C, 2) and q x' (C, 2, Q); and its largest entries."""

    mass: Floats
    first: Floats
    entries: HeavyEntries

    def joined(self, other: HeavyCurvature, count: int) -> HeavyCurvature:
        """The sums of both and the largest entries of both."""
        entries = self.entries.joined(other.entries, count)
        return HeavyCurvature(self.mass + other.mass, self.first + other.first, entries)

    @property
    def heavy_share(self) -> float:
        """The share of the curvature that the largest entries have."""
        return float(self.entries.curvature.sum() / max(self.mass.sum(), TINY))


class HeavyRows(NamedTuple):
    """Curvatures (C, k) and the rows they belong to (C, k, Q)."""

    curvature: Floats
    rows: Floats


def heavy_count(n_rows: int, n_classes: int, n_columns: int) -> int:
    """Rows for each class: none where so many are too few among all rows, or as many as
    there are columns; fewer where all of them would fill too much memory."""
    count = min(
        PRODUCTS.heavy_rows, PRODUCTS.max_heavy_entries // max(n_classes * n_columns, 1)
    )
    are_few = count * n_classes < PRODUCTS.least_heavy_rows * n_rows
    return 0 if are_few or count >= n_columns else count
