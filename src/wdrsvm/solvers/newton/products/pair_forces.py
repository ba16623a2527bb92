r"""The least of a quadratic model plus the true norm: ascent on the forces between classes.

Around M the loss is taken as  <G, S> + <S, H S> / 2  with S = M' - M and H the curvature
of each class alone.  With the l2 norm,

    min over M' of  model(M') + radius max_ij ||M'_i - M'_j||
      =  max over forces of  min over M' of  model(M') + sum_ij f_ij ||M'_i - M'_j||,

where forces are not negative and their sum is the radius.  A pair of classes that is longer
than the others gets more force; the common length at which the sum stays the radius is the
multiplier of the ball.  The ascent is accelerated (Nesterov), and no step of it looks at a
row: one step costs a few products of (C, C) with (C, Q) matrices.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ....arrays import Floats
from ....problem.pair_weights import laplacian, pair_distances
from .preconditioner import ClassInverse
from .settings import PRODUCTS


class Balance(NamedTuple):
    """Coefficients (C, Q), and the mean length of their differences under the forces."""

    coef: Floats
    length: float


@dataclass(eq=False)
class ForceAscent:
    """The model at ``point`` (C, Q) with the loss's ``gradient`` there.

    ``inverse`` is that of the curvature with a stiffness of the norm added, which helps
    because the forces hold the classes, too.
    """

    inverse: ClassInverse
    point: Floats
    gradient: Floats
    n_touchable: int
    radius: float

    def run(self, forces: Floats, rtol: float) -> Balance:
        """Ascend until no pair is longer than the mean under the forces, up to ``rtol``.

        In ``forces`` (C, C) each pair stands twice, with half of its force.
        """
        forces = forces * (self.radius / forces.sum())
        coef, tried, momentum = self.point, forces, 1.0
        lengths, mean = self._lengths(coef), np.inf
        self._stiffen(_pulls(forces, lengths).sum(axis=1))
        for _ in range(PRODUCTS.force_steps):
            coef = self._answer(coef, lengths, tried)
            lengths = self._lengths(coef)
            mean = float(np.vdot(tried, lengths)) / self.radius
            if lengths.max() <= mean * (1 + rtol):
                break
            paces = _paces(self.compliance, (tried > 0) | (lengths > mean))
            raised = _raised(tried, paces, lengths, mean, self.radius)
            change = raised - forces
            # Momentum that leads astray is forgotten.
            if np.vdot((tried - raised) / paces, change) > 0:
                momentum = 1.0
            grown = (1 + (1 + 4 * momentum**2) ** 0.5) / 2
            tried = np.maximum(raised + (momentum - 1) / grown * change, 0.0)
            tried *= self.radius / tried.sum()
            forces, momentum = raised, grown
        return Balance(coef, mean)

    def _lengths(self, coef: Floats) -> Floats:
        lengths = pair_distances(coef[:, : self.n_touchable])
        np.fill_diagonal(lengths, 0.0)
        return lengths

    def _stiffen(self, stiffness: Floats) -> None:
        """Count on this stiffness (C,), and some for classes that no force holds yet."""
        least = PRODUCTS.least_held * stiffness.mean()
        self.inverse = self.inverse.stiffened(np.maximum(stiffness, least))
        self.compliance = self._compliance()

    def _answer(self, coef: Floats, lengths: Floats, forces: Floats) -> Floats:
        """A step towards where the model and the forces are in balance.

        H M' is  (H + stiffness) M'  without the stiffness, so that no product with H is
        needed.  Classes that are held by more than twice that stiffness would run away.
        """
        n, pulls = self.n_touchable, _pulls(forces, lengths)
        held = pulls.sum(axis=1)
        if (held > PRODUCTS.most_held * self.inverse.stiffness).any():
            self._stiffen(np.maximum(held, self.inverse.stiffness))
        total = self.gradient - self.inverse.stiffness[:, None] * (coef - self.point)
        total[:, :n] += laplacian(pulls) @ coef[:, :n]
        return np.asarray(self.point - self.inverse(total))

    def _compliance(self) -> Floats:
        """How far a unit force between classes i and j moves class i, at most (C, C)."""
        n = self.n_touchable
        coef, soft = self.point[:, :n], self.inverse.diagonal[:, :n]
        own = np.einsum("cq,cq->c", soft, coef**2)
        moved = own[:, None] - 2 * (soft * coef) @ coef.T + soft @ (coef**2).T
        squares = self._lengths(self.point) ** 2
        return np.divide(moved, squares, where=squares > 0, out=np.ones_like(moved))


def _pulls(forces: Floats, lengths: Floats) -> Floats:
    """The force between two classes for each unit of their difference."""
    return np.divide(2 * forces, lengths, where=lengths > 0, out=np.zeros_like(forces))


def _paces(compliance: Floats, active: Floats) -> Floats:
    """How much force a unit of excess length adds, small enough for the ascent to converge.

    Directions from one class to two others have a cosine of about one half.
    """
    moved = compliance * ((1 + active.sum(axis=1)) / 2)[:, None]
    return np.asarray(0.5 / (moved + moved.T))


def _raised(
    forces: Floats, paces: Floats, lengths: Floats, level: float, total: float
) -> Floats:
    """max(0, forces + paces (lengths - level)) with the level that gives this total.

    The total is convex in the level: Newton's steps approach its root from below.
    """
    raw = forces + paces * lengths
    np.fill_diagonal(raw, -np.inf)
    for _ in range(PRODUCTS.level_steps):
        held = raw > level * paces
        last, level = level, float((raw[held].sum() - total) / paces[held].sum())
        if abs(level - last) <= 1e-7 * level:
            break
    return np.maximum(raw - level * paces, 0.0)
