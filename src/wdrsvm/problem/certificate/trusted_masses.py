"""Crammer-Singer multipliers at trusted labels: the formulas of ``multipliers.py`` without
flips.

Masses of flips and winners would be zero.  With many classes it takes a third of the work
to leave them out.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy import sparse

from ...arrays import Codes, Floats, Matrix
from ...rows.along_rows import row_sums
from ..loss import LOSSES, Loss
from ..problem import RobustProblem
from .multipliers import (
    add_curvature,
    label_slopes,
    loosening_of,
    own_response,
    response,
    slopes_on_columns,
    tilt,
)


class RowMasses(NamedTuple):
    """alpha (rows, C) of some rows: masses on the true label's pieces."""

    alpha: Floats

    def belong_to(self, loss: Loss) -> bool:
        return loss == LOSSES["crammer-singer"]

    def restored(
        self, weight: Floats, y: Codes, cost: Floats, flip_share: float
    ) -> RowMasses:
        """Nonnegative masses with the right row sums."""
        alpha = np.maximum(self.alpha, 0.0)
        total = row_sums(alpha)
        alpha[np.arange(len(y)), y] += total == 0
        alpha *= (weight / np.where(total == 0, 1.0, total))[:, None]
        return RowMasses(alpha)

    def loosened(self, weight: Floats) -> RowMasses:
        return RowMasses(self.alpha + loosening_of(weight, self.alpha.shape[1]))

    def tilted(self, pull: Floats) -> RowMasses:
        return RowMasses(tilt(self.alpha, pull))

    def value(self, weight: Floats, y: Codes) -> float:
        return float((weight - self.alpha[np.arange(len(y)), y]).sum())

    def moved(self, weight: Floats, y: Codes) -> float:
        return self.value(weight, y)

    def spending(self, cost: Floats) -> float:
        return 0.0

    def slopes(self, y: Codes) -> Floats:
        return label_slopes(self.alpha, y)

    def on_columns(self, y: Codes, columns: Matrix) -> Floats:
        return slopes_on_columns(self, y, columns)

    def response(self, pull: Floats) -> Floats:
        return response(self.alpha, pull)

    def own_response(self) -> Floats:
        return own_response(self.alpha)

    def curvature(self, columns: Floats) -> Floats:
        n_classes, n_columns = self.alpha.shape[1], columns.shape[1]
        system = np.zeros((n_classes, n_columns, n_classes, n_columns))
        add_curvature(system, self.alpha, columns)
        return system


@dataclass(frozen=True, eq=False)
class TrustedMasses:
    """Masses kept as one (N, C) array, for labels that cannot be flipped.

    A sparse array has the masses that are not zero; only blocks of it are ever dense.
    """

    alpha: Matrix
    flow: Floats | None = None
    gradient: Floats | None = None

    def rows(self, problem: RobustProblem, rows: slice) -> RowMasses:
        part = self.alpha[rows]
        return RowMasses(part.toarray() if sparse.issparse(part) else part)
