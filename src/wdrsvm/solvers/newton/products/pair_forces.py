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
from typing import Any, NamedTuple

import numpy as np

from ....arrays import Floats
from ....problem.pair_weights import pair_distances
from .curvature.preconditioner import ClassInverse, Preconditioner, into_basis, out_of_basis
from .settings import PRODUCTS


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
        change = raised - self.forces
        is_astray = np.vdot((self.tried - raised) / paces, change) > 0
        number = 1.0 if is_astray else self.number
        grown = (1 + (1 + 4 * number**2) ** 0.5) / 2
        tried = np.maximum(raised + (number - 1) / grown * change, 0.0)
        total = tried.sum()
        # Rounding may leave no force.
        return (
            Momentum(raised, tried * (raised.sum() / total), grown) if total > 0 else self
        )


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
        ascent = self._stiffened(_pulls(forces, lengths).sum(axis=1))
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
            if is_wild or (rested and found.excess <= rtol):
                break
            if n_late >= PRODUCTS.force_patience:
                boldness, n_late = boldness / 2, 0
                state = Momentum(state.forces, state.forces)
            active = (state.tried > 0) | (lengths > found.length)
            paces = boldness * _paces(compliance, active)
            raised = _raised(state.tried, paces, lengths, found.length)
            state, last = state.moved(raised, paces), found
        return best

    def _lengths(self, coef: Floats) -> Floats:
        lengths = pair_distances(coef[:, : self.n_touchable])
        np.fill_diagonal(lengths, 0.0)
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
        touched, held = coef[:, :n], pulls.sum(axis=1)[:, None]
        stiffness = self.inverse.stiffness[:, None]
        total = self.gradient - stiffness * (coef - self.point)
        total[:, :n] += held * touched - pulls @ touched
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
        return np.asarray(np.maximum(found, soft.min(axis=1, keepdims=True)))


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
    found = ascent.run(forces.astype(kind), rtol)
    step = np.asarray(out_of_basis(found.coef - point, basis), dtype=np.float64)
    return coef + step, found.length


def _pulls(forces: Floats, lengths: Floats) -> Floats:
    """The force between two classes for each unit of their difference."""
    # Pairs without a length have no force, or none that has a direction.
    return np.asarray(2 * forces / np.where(lengths > 0, lengths, np.inf))


def _paces(compliance: Floats, active: Any) -> Floats:
    """How much force a unit of excess length adds, small enough for the ascent to converge.

    Directions from one class to two others have a cosine of about one half.
    """
    moved = compliance * ((1 + active.sum(axis=1)) / 2)[:, None]
    return np.asarray(0.5 / (moved + moved.T))


def _raised(forces: Floats, paces: Floats, lengths: Floats, level: float) -> Floats:
    """max(0, forces + paces (lengths - level - shift)) with the shift that keeps the total.

    Excess lengths are taken before the sum: beside whole lengths small forces would vanish.
    """
    raw = forces + paces * (lengths - level)
    np.fill_diagonal(raw, -np.inf)
    shift = _shift(raw, paces, float(forces.sum()), PRODUCTS.level_margin * level)
    return np.maximum(raw - shift * paces, 0.0)


def _shift(raw: Floats, paces: Floats, total: float, margin: float) -> float:
    """The shift at which  max(0, raw - shift paces)  has this total.

    The total is convex in the shift: Newton's steps approach its root from below.  Few
    pairs matter at shifts above ``-margin``, and only these are looked at there.
    """
    near = raw > -margin * paces
    some_raw, some_paces, shift, n_last = raw[near], paces[near], 0.0, 0
    for _ in range(PRODUCTS.level_steps):
        held = some_raw > shift * some_paces
        n_held = int(np.count_nonzero(held))
        # Pairs that hold at a shift hold at a smaller one: as many are the same ones.
        if n_held in (0, n_last):
            break
        n_last = n_held
        shift = float((some_raw[held].sum() - total) / some_paces[held].sum())
        if shift < -margin:
            some_raw, some_paces, margin = raw, paces, np.inf
    return shift
