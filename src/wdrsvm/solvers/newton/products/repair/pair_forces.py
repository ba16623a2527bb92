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

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from .....arrays import Floats
from ... import kernels
from ..curvature.preconditioner import (
    ClassInverse,
    Preconditioner,
    into_basis,
    out_of_basis,
)
from ..settings import PRODUCTS


class Answer(NamedTuple):
    """Coefficients (C, Q), the model's risk there, the mean length of their differences
    under the forces, and by which share the longest one is longer."""

    coef: Floats
    risk: float
    length: float
    excess: float


class Momentum(NamedTuple):
    """The last forces, those ahead of them that are tried next, and Nesterov's number."""

    forces: Floats
    tried: Floats
    number: float = 1.0

    def moved(self, raised: Floats, paces: Floats) -> Momentum:
        """On from the ``raised`` forces; momentum that leads astray is forgotten."""
        ahead = np.empty_like(raised)
        number = kernels.move_on(*self[:2], raised, paces, self.number, ahead)
        # Rounding may leave no force.
        return Momentum(raised, ahead, number) if number > 0 else self


@dataclass(frozen=True, eq=False)
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

    def run(self, forces: Floats, rtol: float) -> Answer:
        """Ascend until no pair is longer than the mean under the forces, up to ``rtol``.

        In ``forces`` (C, C) each pair stands twice, with half of its force.  The best
        coefficients on the way are returned.
        """
        forces = forces * (self.radius / forces.sum())
        lengths = self._lengths(self.point)
        ascent = self._stiffened(_pulls(forces, lengths).diagonal())
        return ascent._run(forces, lengths, rtol)

    def _run(self, forces: Floats, lengths: Floats, rtol: float) -> Answer:
        state, boldness, n_late = Momentum(forces, forces), PRODUCTS.boldness, 0
        best = last = Answer(self.point, np.inf, np.inf, np.inf)
        compliance = self._compliance()
        for _ in range(PRODUCTS.force_steps):
            found, lengths = self._answer(last.coef, lengths, state.tried)
            n_late = 0 if found.excess < best.excess else n_late + 1
            best = min(best, found, key=lambda answer: answer.risk)
            rested = abs(found.risk - last.risk) <= rtol * self.radius * found.length
            is_wild = not found.excess < PRODUCTS.most_uneven
            is_hopeless = n_late >= 3 * PRODUCTS.force_patience
            if is_wild or is_hopeless or (rested and found.excess <= rtol):
                break
            if n_late and n_late % PRODUCTS.force_patience == 0:
                boldness, state = boldness / 2, Momentum(state.forces, state.forces)
            paces = np.empty_like(forces)
            told = state.tried, lengths, compliance, found.length, boldness
            kernels.fill_paces(*told, paces)
            raised = _raised(state.tried, paces, lengths, found.length)
            state, last = state.moved(raised, paces), found
        return best

    def _lengths(self, coef: Floats) -> Floats:
        touched, lengths = coef[:, : self.n_touchable], np.empty((len(coef), len(coef)))
        gram = touched @ touched.T
        kernels.fill_distances(gram.astype(np.float64, copy=False), lengths)
        return lengths

    def _stiffened(self, stiffness: Floats) -> ForceAscent:
        """With this stiffness (C,), and some for classes that no force holds yet."""
        least = PRODUCTS.least_held * stiffness.mean()
        inverse = self.inverse.stiffened(np.maximum(stiffness, least))
        return replace(self, inverse=inverse)

    def _answer(
        self, coef: Floats, lengths: Floats, forces: Floats
    ) -> tuple[Answer, Floats]:
        """A step towards where the model and the forces are in balance; its lengths.

        H M' is  (H + stiffness) M'  without the stiffness, so that no product with H is
        needed.
        """
        n, pulls = self.n_touchable, _pulls(forces, lengths)
        stiffness = self.inverse.stiffness[:, None]
        total = self.gradient - stiffness * (coef - self.point)
        total[:, :n] += pulls.astype(coef.dtype, copy=False) @ coef[:, :n]
        step = -self.inverse(total)
        model = np.vdot(self.gradient - 0.5 * (total + stiffness * step), step)
        coef = self.point + step
        lengths = self._lengths(coef)
        mean, longest = float(np.vdot(forces, lengths)) / self.radius, float(lengths.max())
        # Coefficients that are all equal are even.
        excess = longest / mean - 1 if mean > 0 else 0.0
        return Answer(coef, float(model) + self.radius * longest, mean, excess), lengths

    def _compliance(self) -> Floats:
        """How far a unit force between classes i and j moves class i, at most (C, C)."""
        n = self.n_touchable
        coef, soft = self.point[:, :n], self.inverse.diagonal[:, :n]
        own = np.einsum("cq,cq->c", soft, coef**2)
        moved = own[:, None] - 2 * (soft * coef) @ coef.T + soft @ (coef**2).T
        squares = self._lengths(self.point) ** 2
        found = np.divide(moved, squares, where=squares > 0, out=np.zeros_like(moved))
        # Rounding takes the digits of short differences.
        found = np.maximum(found, soft.min(axis=1, keepdims=True))
        return np.asarray(found, dtype=np.float64)


def balanced(
    precondition: Preconditioner,
    coef: Floats,
    gradient: Floats,
    n_touchable: int,
    radius: float,
    forces: Floats,
    rtol: float,
) -> tuple[Floats, float]:
    """The answer of an ascent from these ``forces``, and its length, in whatever basis and
    numbers the preconditioner has."""
    basis, kind = precondition.basis, precondition.kind
    point, slope = (into_basis(what.astype(kind), basis) for what in (coef, gradient))
    ascent = ForceAscent(precondition.inverse, point, slope, n_touchable, radius)
    found = ascent.run(forces, rtol)
    step = np.asarray(out_of_basis(found.coef - point, basis), dtype=np.float64)
    return coef + step, found.length


def _pulls(forces: Floats, lengths: Floats) -> Floats:
    """The Laplacian of the force between two classes for each unit of their difference."""
    laplacian = np.empty_like(forces)
    kernels.fill_pulls(forces, lengths, laplacian)
    return laplacian


def _raised(forces: Floats, paces: Floats, lengths: Floats, level: float) -> Floats:
    """Forces that follow the excess of the lengths over a level, their total as it was."""
    raised, margin = np.empty_like(forces), PRODUCTS.level_margin * level
    told = forces, paces, lengths, level, margin, PRODUCTS.level_steps
    kernels.raise_forces(*told, raised)
    return raised
