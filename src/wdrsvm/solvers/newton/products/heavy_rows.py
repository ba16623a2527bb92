"""The rows that bend the loss of each class most.

Where classes overlap little, most of a class's curvature comes from a few dozen rows.  The
preconditioner takes these as they are, and all others by their mean and spread.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ....arrays import Codes, Floats
from .settings import PRODUCTS


class HeavyEntries(NamedTuple):
    """For each class the largest curvatures of a row's score, and the numbers of the rows,
    both (C, k)."""

    curvature: Floats
    rows: Codes

    @classmethod
    def of(cls, spread: Floats, numbers: Codes, count: int) -> HeavyEntries:
        """The largest entries of ``spread`` (C, n), which belongs to the rows ``numbers``."""
        rows = np.broadcast_to(numbers, spread.shape)
        return cls(spread, rows).largest(count)

    def largest(self, count: int) -> HeavyEntries:
        n_entries = self.rows.shape[1]
        if n_entries <= count:
            return self
        first = n_entries - count
        chosen = np.argpartition(self.curvature, first, axis=1)[:, first:]
        return HeavyEntries(*(np.take_along_axis(part, chosen, 1) for part in self))

    def joined(self, other: HeavyEntries, count: int) -> HeavyEntries:
        """The largest of both."""
        both = (np.hstack(pair) for pair in zip(self, other, strict=True))
        return HeavyEntries(*both).largest(count)

    def with_features(self, X: Floats) -> HeavyRows:
        return HeavyRows(self.curvature, X[self.rows])


class HeavyRows(NamedTuple):
    """Curvatures (C, k) and the rows they belong to (C, k, Q)."""

    curvature: Floats
    rows: Floats

    @property
    def mass(self) -> Floats:
        """The sum of the curvatures (C,)."""
        return np.asarray(self.curvature.sum(axis=1))


def heavy_count(n_classes: int, n_columns: int) -> int:
    """Rows for each class; fewer where all of them would fill too much memory."""
    return min(PRODUCTS.heavy_rows, PRODUCTS.max_heavy_entries // (n_classes * n_columns))
