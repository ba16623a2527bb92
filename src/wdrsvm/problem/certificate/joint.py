r"""Multipliers whose mass may also move between keeping a label and flipping it.

Row n has the masses alpha_nj with slopes e_j - e_y and phi_nc with slopes s_n - e_c, where
s_n = beta_n / sum beta_n are the shares of the classes that win against a flipped label.
Tilting all masses together has one more degree of freedom for each row with mass on several
labels.  At an optimum that is a vertex, these may be the only degrees of freedom.  The cost
is one dense curvature per row.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...arrays import Codes, Floats, Matrix
from ...rows.along_rows import row_sums
from ..loss import Loss
from ..problem import RobustProblem
from .multipliers import Changed, RowDuals, RowMultipliers, slopes_on_columns, tilt


@dataclass(frozen=True, eq=False)
class JointRows:
    """Masses of some rows on Crammer-Singer pieces, and the labels of these rows."""

    masses: RowMultipliers
    y: Codes

    def belong_to(self, loss: Loss) -> bool:
        return self.masses.belong_to(loss)

    def restored(
        self, weight: Floats, y: Codes, cost: Floats, flip_share: float
    ) -> JointRows:
        return JointRows(self.masses.restored(weight, y, cost, flip_share), y)

    def loosened(self, weight: Floats) -> JointRows:
        return JointRows(self.masses.loosened(weight), self.y)

    def tilted(self, pull: Floats) -> JointRows:
        alpha, phi, beta = self.masses
        winners = self._winners()
        towards = (winners * pull).sum(axis=1, keepdims=True)
        own = pull[np.arange(len(self.y)), self.y][:, None]
        moved = tilt(np.hstack([alpha, phi]), np.hstack([pull - own, towards - pull]))
        alpha, phi = np.hsplit(moved, 2)
        beta = tilt(winners, pull) * phi.sum(axis=1, keepdims=True)
        return JointRows(RowMultipliers(alpha, phi, beta), self.y)

    def _winners(self) -> Floats:
        """The shares s (rows, C) of the classes that win; zero in rows without flips."""
        total = self.masses.beta.sum(axis=1, keepdims=True)
        return np.asarray(self.masses.beta / np.where(total > 0, total, 1.0))

    def value(self, weight: Floats, y: Codes) -> float:
        return self.masses.value(weight, y)

    def moved(self, weight: Floats, y: Codes) -> float:
        return self.masses.moved(weight, y)

    def spending(self, cost: Floats) -> float:
        return self.masses.spending(cost)

    def slopes(self, y: Codes) -> Floats:
        return self.masses.slopes(y)

    def on_columns(self, y: Codes, columns: Matrix) -> Floats:
        return slopes_on_columns(self, y, columns)

    def response(self, pull: Floats) -> Floats:
        return np.asarray(np.einsum("nij,nj->ni", self._spread(), pull))

    def own_response(self) -> Floats:
        return np.array(np.einsum("nii->ni", self._spread()))

    def curvature(self, columns: Floats) -> Floats:
        n_rows, n_columns = columns.shape
        n_classes = self.masses.alpha.shape[1]
        spread = self._spread().reshape(n_rows, n_classes**2)
        squares = (columns[:, :, None] * columns[:, None, :]).reshape(n_rows, n_columns**2)
        system = (spread.T @ squares).reshape(n_classes, n_classes, n_columns, n_columns)
        return np.asarray(system.transpose(0, 2, 1, 3).copy())

    def _spread(self) -> Floats:
        """The derivative of each row's slopes in the pull, (rows, C, C)."""
        alpha, phi, beta = self.masses
        winners, own = self._winners(), np.eye(alpha.shape[1])[self.y]
        slopes, kept = self.slopes(self.y), row_sums(alpha)
        total = kept + row_sums(phi)
        # The terms s s' cancel: flips add them, and tilting the winners subtracts them.
        spread = _outer(own, own, kept)
        for one, other in ((alpha, own), (phi, winners)):
            crossed = _outer(one, other)
            spread -= crossed + crossed.transpose(0, 2, 1)
        spread -= _outer(slopes, slopes, 1 / np.where(total > 0, total, 1.0))
        each = np.arange(alpha.shape[1])
        spread[:, each, each] += alpha + phi + beta
        return spread


def _outer(one: Floats, other: Floats, factor: Floats | None = None) -> Floats:
    product = one[:, :, None] * other[:, None, :]
    return np.asarray(product if factor is None else product * factor[:, None, None])


class Joint(Changed):
    """Multipliers of the Crammer-Singer loss, whose masses are tilted together."""

    def rows(self, problem: RobustProblem, rows: slice) -> RowDuals:
        found = self.multipliers.rows(problem, rows)
        assert isinstance(found, RowMultipliers)
        return JointRows(found, problem.y[rows])
