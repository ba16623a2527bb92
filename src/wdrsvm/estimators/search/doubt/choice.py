"""Choose among the points of a search with random label noise, or weigh them.

The evidence (``opinions``) decides.  A point whose evidence is lower than the largest by d
has exp(-``EVIDENCE_RATE`` n d) times its weight, where n is the number of rows.  With the
rate 1 and the likelihood alone these would be posterior probabilities.  The rate is lower
because the points of a grid are judged by the same rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ....arrays import Codes, Flags, Floats, Labels
from ....inputs.arrays import observed_classes
from .opinions import Evidence, Opinion, Told, pooled

EVIDENCE_RATE = 0.5
# Points with a smaller share of the largest weight do not count.
LEAST_SHARE = 1e-3


class Doubts(NamedTuple):
    """The given labels, as codes of the classes, and the evidence of all folds.

    The points of the grid come first; ridge points may follow.  ``told`` has the opinions
    behind the evidence.
    """

    classes: Labels
    codes: Codes
    evidence: Evidence
    told: Told

    @property
    def wrong_share(self) -> Floats:
        """The share of wrong labels by each point; replaced labels may be right."""
        return self.evidence.share * (1 - 1 / len(self.classes))

    def columns(self, n_points: int) -> dict[str, Floats]:
        """Columns for the table of results, which has the points of the grid."""
        return {
            "mean_test_evidence": self.evidence.mean[:n_points],
            "wrong_share": self.wrong_share[:n_points],
        }

    def chosen(self, eligible: Flags) -> int:
        """The place of the eligible grid point with the largest evidence."""
        mean = self.evidence.mean[: len(eligible)]
        return int(np.where(eligible, mean, -np.inf).argmax())

    def weights(self, eligible: Flags) -> Floats:
        """The weights of all points; their sum is 1.  Ridge points are eligible."""
        mean = self.evidence.mean
        mean[: len(eligible)][~eligible] = -np.inf
        return self._shares(mean)

    def grid_weights(self, eligible: Flags) -> Floats:
        """The weights of the grid points among themselves; their sum is 1."""
        mean = self.evidence.mean[: len(eligible)]
        return self._shares(np.where(eligible, mean, -np.inf))

    def centre(self, eligible: Flags, believing: Flags) -> int:
        """The grid point whose ball a mean has.

        Points that believe all labels are one kind, the others the second kind.  The kind
        with more weight in the grid decides, and its heaviest point is the centre.
        """
        weight = self.grid_weights(eligible)
        kind = believing == (weight[believing].sum() > 0.5)
        return int(np.where(kind, weight, -1.0).argmax())

    def _shares(self, mean: Floats) -> Floats:
        weight = np.exp(EVIDENCE_RATE * self.evidence.n_rows * (mean - mean.max()))
        weight[weight < LEAST_SHARE] = 0.0
        return weight / weight.sum()


def doubts_of(
    y: Any,
    weight: Floats | None,
    held_out: Sequence[Codes],
    opinions: Sequence[Sequence[Opinion | None]],
    merged: Codes,
) -> Doubts:
    """Pool the opinions of all folds; rows have equal weights if ``weight`` is None.

    Rows with the same number in ``merged`` are equal.
    """
    classes, codes = observed_classes(y)
    weight = np.ones(len(codes)) if weight is None else weight
    told = Told(opinions, held_out, weight, merged)
    return Doubts(classes, codes, pooled(told), told)


def believes_all(label_costs: Sequence[Any], n_radii: int) -> Flags:
    """Which points of a grid believe all labels."""
    trusting = [
        bool(np.isinf(_between_labels(np.asarray(cost, dtype=np.float64))).all())
        for cost in label_costs
    ]
    return np.repeat(trusting, n_radii)


def _between_labels(cost: Floats) -> Floats:
    """The costs between different labels."""
    return cost if cost.ndim == 0 else cost[~np.eye(len(cost), dtype=bool)]
