"""Sums of weighted Gram matrices that are small to send.

The Gram matrix of few rows is larger than the rows: they are multiplied out only once
there are more of them than that.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...arrays import Floats
from ...rows.reduce import added
from .kernels import weighted_gram

# Operations that one call of compiled code may take: Ctrl-C is heard between calls.
LONG_CALL = 5e9
# Rows are sent as they are while they are at most this share of their Gram matrix.
SHARE_OF_MATRIX = 0.25


def gram_in_parts(curvature: Floats, design: Floats) -> Floats:
    """The weighted Gram matrix, in calls of a moment each."""
    size = (curvature.shape[1] - 1) * design.shape[1] + 1
    step = max(1, int(LONG_CALL / size**2))
    gram: Floats = weighted_gram(curvature[:step], design[:step])
    for start in range(step, len(design), step):
        rows = slice(start, start + step)
        gram += weighted_gram(curvature[rows], design[rows])
    return gram


@dataclass(frozen=True, eq=False)
class GramSum:
    """``matrix`` (C Q + 1, C Q + 1), if there is any, and rows that are not yet part of
    it: curvatures (n, C+1, C+1) and designs (n, Q)."""

    matrix: Floats | None
    curvature: Floats
    design: Floats

    @classmethod
    def of(cls, curvature: Floats, design: Floats) -> GramSum:
        return cls(None, curvature, design)._multiplied_out()

    def joined(self, other: GramSum) -> GramSum:
        return GramSum(
            added(self.matrix, other.matrix),
            np.concatenate([self.curvature, other.curvature]),
            np.concatenate([self.design, other.design]),
        )._multiplied_out()

    @property
    def total(self) -> Floats:
        own = gram_in_parts(self.curvature, self.design) if len(self.design) else None
        return np.asarray(added(self.matrix, own))

    def _multiplied_out(self) -> GramSum:
        """The same, without rows if there are many."""
        size = (self.curvature.shape[1] - 1) * self.design.shape[1] + 1
        if self.curvature.size + self.design.size <= SHARE_OF_MATRIX * size**2:
            return self
        return GramSum(self.total, self.curvature[:0], self.design[:0])
