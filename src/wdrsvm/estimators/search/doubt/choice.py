"""Choose a point of a search with random label noise: doubt must earn its place.

Among the points that believe all labels, and among the points that may disbelieve labels,
the one with the largest evidence (``opinions``) stands for its kind.  The two are compared
row by row.  The second is chosen if its advantage is larger than its standard error times
``AHEAD``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ....arrays import Codes, Flags, Floats, Labels
from ....inputs.arrays import observed_classes
from ..grid import SearchGrid
from .opinions import Evidence, Opinion, pooled

# Standard errors by which doubt must be ahead.
AHEAD = 0.25


class Doubts(NamedTuple):
    """The given labels, as codes of the classes, and the evidence of all folds."""

    classes: Labels
    codes: Codes
    evidence: Evidence

    @property
    def columns(self) -> dict[str, Floats]:
        """Columns for the table of results."""
        return {
            "mean_test_evidence": self.evidence.mean,
            "wrong_share": self.evidence.share * (1 - 1 / len(self.classes)),
        }

    def chosen(self, grid: SearchGrid, eligible: Flags) -> int:
        """The place of the chosen point in the grid."""
        believing = _believes_all(grid)
        mean = np.where(eligible, self.evidence.mean, -np.inf)
        if not (believing & eligible).any() or not (~believing & eligible).any():
            return int(mean.argmax())
        plain = int(np.where(believing, mean, -np.inf).argmax())
        doubting = int(np.where(believing, -np.inf, mean).argmax())
        return doubting if self._is_ahead(doubting, plain) else plain

    def _is_ahead(self, one: int, other: int) -> bool:
        """Whether the advantage of a point is larger than its error."""
        value, weight = self.evidence.value, self.evidence.weight
        share, difference = weight / weight.sum(), value[one] - value[other]
        mean = share @ difference
        error = np.sqrt(np.square(share) @ np.square(difference - mean))
        return bool(mean > AHEAD * error)


def doubts_of(
    y: Any,
    weight: Floats | None,
    held_out: Sequence[Codes],
    opinions: Sequence[Sequence[Opinion | None]],
) -> Doubts:
    """Pool the opinions of all folds; rows have equal weights if ``weight`` is None."""
    classes, codes = observed_classes(y)
    weight = np.ones(len(codes)) if weight is None else weight
    return Doubts(classes, codes, pooled(opinions, held_out, weight, len(classes)))


def _believes_all(grid: SearchGrid) -> Flags:
    """Which points of a grid believe all labels."""
    trusting = [
        bool(np.isinf(_between_labels(np.asarray(cost, dtype=np.float64))).all())
        for cost in grid.label_costs
    ]
    return np.repeat(trusting, len(grid.radii))


def _between_labels(cost: Floats) -> Floats:
    """The costs between different labels."""
    return cost if cost.ndim == 0 else cost[~np.eye(len(cost), dtype=bool)]
