r"""The envelope for the l1 norm: a bound for every coefficient.

One vector added to all classes changes nothing, and some such vector puts the range of
every column in the middle.  So L(M) is 2 max |M_jd|, and D is M + Y / stiffness clipped at
a level, at which the total cut is  2 radius / stiffness.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from .....arrays import Floats
from .....problem.norms import polar
from .settings import ENVELOPES


class Enveloped(NamedTuple):
    """The envelope at some coefficients, all divided by the radius: its value, its gradient
    (C, T), the stiffness (C,) with which it holds each class, and ``lag``, what new
    multipliers would add.

    ``level`` is L(D), ``largest`` is L(M).
    """

    value: float
    gradient: Floats
    stiffness: Floats
    lag: float
    level: float
    largest: float


@dataclass(frozen=True, eq=False)
class EntryEnvelope:
    """Multipliers (C, T), one for each coefficient, and the stiffness."""

    multipliers: Floats
    stiffness: float
    radius: float

    @classmethod
    def of(cls, coef: Floats, radius: float) -> EntryEnvelope:
        """Without multipliers yet; the stiffness suits coefficients (C, T) of this size."""
        size = float(np.abs(coef).mean()) if coef.any() else 1.0
        stiffness = ENVELOPES.entry_stiffness * 2 * radius / max(coef.size, 1) / size
        return cls(np.zeros_like(coef), stiffness, radius)

    @staticmethod
    def modulus(coef: Floats) -> float:
        return 2 * float(np.abs(coef).max(initial=0.0))

    def at(self, coef: Floats, known: Enveloped | None = None) -> Enveloped:
        before = self.multipliers / self.stiffness
        moved, half = self._moved(coef)
        cut = moved - np.clip(moved, -half, half)
        energy = 0.5 * self.stiffness / self.radius
        rate = self.stiffness / self.radius
        return Enveloped(
            2 * half + energy * float(np.vdot(cut, cut) - np.vdot(before, before)),
            rate * cut,
            np.full(len(coef), ENVELOPES.held_share * rate),
            energy * float(((cut - before) ** 2).sum()),
            2 * half,
            self.modulus(coef),
        )

    def _moved(self, coef: Floats) -> tuple[Floats, float]:
        """M + Y / stiffness, and the bound at which it is clipped."""
        moved = coef + self.multipliers / self.stiffness
        return moved, _level(np.abs(moved), 2 * self.radius / self.stiffness)

    def nearest(self, coef: Floats) -> Floats:
        """The coefficients D at which the envelope is taken.

        They are at the bound exactly.  M strays from the bound as long as multipliers
        are learnt.
        """
        moved, half = self._moved(coef)
        return np.clip(moved, -half, half)

    def held(self, found: Enveloped) -> Floats:
        """How much the norm holds each coefficient (C, T), at the bound or free."""
        shares = np.where(found.gradient != 0, 1.0, ENVELOPES.free_share)
        return self.stiffness / self.radius * shares

    def adapted(self, coef: Floats) -> EntryEnvelope:
        """With the multipliers found at the coefficients."""
        return replace(self, multipliers=self.radius * self.at(coef).gradient)

    def flow(self, coef: Floats, gradient: Floats) -> None:
        """No flow is needed, because the polar has a closed form."""

    def polar(self, flow: None, gradient: Floats) -> float:
        return polar(gradient, "l1", np.ones(gradient.shape[1]))


def _level(sizes: Floats, total: float) -> float:
    """The level above which sizes have this total; 0 if they have less.

    Newton's method on a convex function: from the left it never goes too far.
    """
    level, above = 0.0, sizes.ravel()
    while True:
        rise = (float(above.sum()) - total) / max(len(above), 1)
        if not rise > level:
            return level
        level, above = rise, above[above > rise]
