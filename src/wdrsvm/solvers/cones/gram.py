"""Sums of weighted Gram matrices that need little memory to send.

The Gram matrix of few rows is larger than the rows.  Therefore few rows are sent as they
are, and many rows as their Gram matrix.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...arrays import Floats
from ...rows.reduce import added
from .kernels import weighted_gram
from .settings import CONES


def gram_in_parts(curvature: Floats, design: Floats) -> Floats:
    """The weighted Gram matrix, in several short calls."""
    size = (curvature.shape[1] - 1) * design.shape[1] + 1
    step = max(1, int(CONES.max_call_work / size**2))
    gram: Floats = weighted_gram(curvature[:step], design[:step])
    for start in range(step, len(design), step):
        rows = slice(start, start + step)
        gram += weighted_gram(curvature[rows], design[rows])
    return gram


@dataclass(frozen=True, eq=False)
class GramSum:
    """A Gram matrix (C Q + 1, C Q + 1) or None, and rows that are not yet in the matrix.

    The rows are curvatures (n, C+1, C+1) and designs (n, Q).
    """

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
        """The same sum; many rows are added to the matrix."""
        size = (self.curvature.shape[1] - 1) * self.design.shape[1] + 1
        if self.curvature.size + self.design.size <= CONES.sent_share * size**2:
            return self
        return GramSum(self.total, self.curvature[:0], self.design[:0])
