r"""The envelope for the linf norm: multipliers for the differences of all pairs of classes.

L(M) is the largest  sum_d |M_id - M_jd|  of a pair.  With M_i - M_j in the place of M, D
has the differences moved by  Y / stiffness  and shrunk to at most a common length: what is
cut off is clipped at a height h_ij of the pair, and the heights have the sum
radius / stiffness.
The multipliers are a flow between the classes, which costs  stiffness sum h_ij = radius.

Because any Y will do, new ones are moved on in the direction in which the last ones
changed (Nesterov's momentum).
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from .....arrays import Floats
from .....problem.norms import class_pairs, pairwise_moduli, polar
from ... import kernels
from .entries import Enveloped
from .settings import ENVELOPES


@dataclass(eq=False)
class Guess:
    """The common length and the heights found last: where the next search begins."""

    length: float
    heights: Floats


@dataclass(frozen=True, eq=False)
class PairEnvelope:
    """``before`` (pairs, T): the multipliers divided by the stiffness, with momentum;
    ``plain``: the same without it; ``n_adapted``: how often they were adapted."""

    before: Floats
    plain: Floats
    stiffness: float
    radius: float
    guess: Guess = field(repr=False)
    n_adapted: int = 0
    least_stiffness: float = 0.0

    @classmethod
    def of(cls, coef: Floats, radius: float) -> PairEnvelope:
        """Without multipliers yet; the stiffness suits differences of this size."""
        n_pairs, n_columns = len(class_pairs(len(coef))[0]), coef.shape[1]
        moduli = pairwise_moduli(coef, "linf", np.ones(n_columns))
        size = float(moduli.sum() / 2 / n_pairs / max(n_columns, 1)) or 1.0
        stiffness = ENVELOPES.pair_stiffness * radius / n_pairs / size
        guess = Guess(float(moduli.max()), np.zeros(n_pairs))
        none = np.zeros((n_pairs, n_columns))
        least = ENVELOPES.least_softness * stiffness
        return cls(none, none, stiffness, radius, guess, 0, least)

    @staticmethod
    def modulus(coef: Floats) -> float:
        return float(pairwise_moduli(coef, "linf", np.ones(coef.shape[1])).max(initial=0.0))

    def at(self, coef: Floats) -> Enveloped:
        coef = np.ascontiguousarray(coef)
        self._search(coef)
        divergence = np.zeros_like(coef)
        squares, changes, largest = kernels.clip_pairs(
            coef, self.before, self.guess.heights, divergence
        )
        rate = self.stiffness / self.radius
        squares -= float(np.vdot(self.before, self.before))
        return Enveloped(
            self.guess.length + 0.5 * rate * squares,
            rate * divergence,
            np.full(len(coef), 0.5 * ENVELOPES.tied_share * len(coef) * rate),
            0.5 * rate * changes,
            self.guess.length,
            largest,
        )

    def _search(self, coef: Floats) -> None:
        """The length at which the heights have the right sum, by Newton's method.

        The sum is convex in the length: no step but the first goes too far.
        """
        guess, wanted = self.guess, self.radius / self.stiffness
        for _ in range(ENVELOPES.max_length_steps):
            total, slope = kernels.pair_heights(
                coef, self.before, guess.length, guess.heights
            )
            longer = guess.length + (total - wanted) / slope if slope else 0.0
            is_zero = longer <= 0 and guess.length == 0
            if is_zero or abs(total - wanted) <= ENVELOPES.length_rtol * wanted:
                return
            guess.length = max(longer, 0.0)

    def adapted(self, coef: Floats) -> PairEnvelope:
        """With the multipliers found at the coefficients."""
        coef = np.ascontiguousarray(coef)
        self._search(coef)
        plain = self._clipped(coef, self.guess.heights)
        momentum = self.n_adapted / (self.n_adapted + 3)
        before = plain + momentum * (plain - self.plain)
        found = replace(self, before=before, plain=plain, n_adapted=self.n_adapted + 1)
        return found._softened(min(1.0, self._softening))

    @property
    def _softening(self) -> float:
        return max(ENVELOPES.softening, self.least_stiffness / self.stiffness)

    def _softened(self, factor: float) -> PairEnvelope:
        """The same multipliers with another stiffness.

        Good multipliers need little stiffness, and steps settle sooner with less.
        """
        return replace(
            self,
            before=self.before / factor,
            plain=self.plain / factor,
            stiffness=factor * self.stiffness,
            guess=Guess(self.guess.length, self.guess.heights / factor),
        )

    def _clipped(self, coef: Floats, heights: Floats) -> Floats:
        clipped = self.before.copy()
        kernels.fill_clipped(coef, clipped, heights)
        return clipped

    def flow(self, coef: Floats, gradient: Floats) -> Floats:
        """A short flow (pairs, T) with a divergence close to G (C, T).

        Where a class and column has differences that are not clipped, the flow through
        them can change without a cost: potentials of the classes are moved until little
        of G is missing there.
        """
        self._search(np.ascontiguousarray(coef))
        heights, potential = self.guess.heights, np.array(coef, order="C")
        for _ in range(ENVELOPES.flow_rounds):
            missing, counts = gradient / self.stiffness, np.zeros_like(potential)
            kernels.clip_pairs(potential, self.before, heights, missing)
            kernels.count_unclipped(potential, self.before, heights, counts)
            potential -= ENVELOPES.flow_damping * missing / np.maximum(counts, 2.0)
        return -self.stiffness * self._clipped(potential, heights)

    def polar(self, flow: Floats, gradient: Floats) -> float:
        return polar(gradient, "linf", np.ones(gradient.shape[1]), flow)

    def repaired(self, coef: Floats, length: float, rtol: float) -> Floats:
        """Coefficients nearby, no two classes farther apart than about ``length``.

        All pairs that are too long pull their classes together at once; a class in many
        of them is pulled less by each.
        """
        coef = np.array(coef, order="C")
        first, second = class_pairs(len(coef))
        none, heights = np.zeros_like(self.before), np.zeros(len(first))
        for _ in range(ENVELOPES.repair_rounds):
            kernels.pair_heights(coef, none, length, heights)
            pull = np.zeros_like(coef)
            largest = kernels.clip_pairs(coef, none, heights, pull)[2]
            if largest <= length * (1 + rtol):
                break
            n_long = np.bincount(first, heights > 0, len(coef))
            n_long += np.bincount(second, heights > 0, len(coef))
            coef -= 0.5 * pull * np.minimum(1.0, 3.0 / np.maximum(n_long, 1))[:, None]
        return coef
