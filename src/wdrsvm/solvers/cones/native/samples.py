"""The operations of the samples' rows (``sample_memory``) in the interior point."""

from __future__ import annotations

import cython

from ...runtime.kernel_names import (
    Count,
    Real,
    kernel,
)
from .rows import TINY, length_of, pull_of
from .sample_memory import SampleMemory


@cython.cclass
class SampleRows(SampleMemory):
    """The samples' rows: goals, right-hand sides and steps."""

    @kernel
    def prepare(self) -> None:
        """Compute reciprocals, springs and their sums, and eliminate s and h."""
        k: Count
        j: Count
        n: Count
        for k in range(self.n_kinds):
            for n in range(self.n_samples):
                self.sums[k, n] = 0.0
            for j in range(self.n_classes):
                for n in range(self.n_samples):
                    self.inverse[k, j, n] = 1.0 / self.slack[k, j, n]
                    self.dual_inverse[k, j, n] = 1.0 / (self.mult[k, j, n] + TINY)
                    self.spring[k, j, n] = self.mult[k, j, n] * self.inverse[k, j, n]
                    self.sums[k, n] += self.spring[k, j, n]
        self.eliminate()

    @kernel
    def eliminate(self) -> None:
        n: Count
        a: Real
        b: Real
        f: Real
        inverse: Real
        for n in range(self.n_samples):
            a, b, f = self.sums[0, n], self.sums[1, n], self.sums[2, n]
            inverse = 1.0 / (a * b + a * f + b * f if f > 0 else a)
            self.local[0, n] = (b + f if f > 0 else 1.0) * inverse
            self.local[1, n] = f * inverse
            self.local[2, n] = (a + f if f > 0 else 0.0) * inverse

    @kernel
    def complementarity(self) -> Real:
        k: Count
        j: Count
        n: Count
        total: Real = 0.0
        for k in range(self.n_kinds):
            for j in range(self.n_classes):
                for n in range(self.n_samples):
                    total += self.slack[k, j, n] * self.mult[k, j, n]
        return total

    @kernel
    def complementarity_after(self, turn: Count, primal: Real, dual: Real) -> Real:
        k: Count
        j: Count
        n: Count
        total: Real = 0.0
        for k in range(self.n_kinds):
            for j in range(self.n_classes):
                for n in range(self.n_samples):
                    total += (
                        self.slack[k, j, n] + primal * self.d_slack[turn, k, j, n]
                    ) * (self.mult[k, j, n] + dual * self.d_mult[turn, k, j, n])
        return total

    @kernel
    def aim_at_share(self, share: Real) -> None:
        """Set the goal: this share of the present products of slack and multiplier."""
        k: Count
        j: Count
        n: Count
        for k in range(self.n_kinds):
            for j in range(self.n_classes):
                for n in range(self.n_samples):
                    self.target[k, j, n] = share * self.mult[k, j, n]

    @kernel
    def aim(self, turn: Count, centre: Real) -> None:
        """Set the goal: the centre minus the second-order term of a predicted step."""
        k: Count
        j: Count
        n: Count
        for k in range(self.n_kinds):
            for j in range(self.n_classes):
                for n in range(self.n_samples):
                    self.target[k, j, n] = self.inverse[k, j, n] * (
                        centre * self.exists[k, j, n]
                        - self.d_slack[turn, k, j, n] * self.d_mult[turn, k, j, n]
                    )

    @kernel
    def recentre(self, turn: Count, centre: Real, primal: Real, dual: Real) -> None:
        """Correct products that would be far from the centre (Gondzio)."""
        k: Count
        j: Count
        n: Count
        after: Real
        for k in range(self.n_kinds):
            for j in range(self.n_classes):
                for n in range(self.n_samples):
                    after = (self.slack[k, j, n] + primal * self.d_slack[turn, k, j, n]) * (
                        self.mult[k, j, n] + dual * self.d_mult[turn, k, j, n]
                    )
                    self.target[k, j, n] += (
                        self.exists[k, j, n] * pull_of(after, centre)
                    ) * self.inverse[k, j, n]

    @kernel
    def find_rhs(self, turn: Count) -> Real:
        """The right-hand side of the goal in z and lam, after s and h are eliminated.

        The part in z is stored in ``scores``, and the part in lam is returned.  The local
        steps of s and h are stored in d_s and d_h.
        """
        j: Count
        n: Count
        on_lam: Real = 0.0
        for n in range(self.n_samples):
            self.want[0, n] = -self.weight[n]
            self.want[1, n] = 0.0
            self.own[n] = 0.0
            self.d_s[turn, n] = 0.0
            self.d_h[turn, n] = 0.0
        for j in range(self.n_classes):
            for n in range(self.n_samples):
                self.own[n] += self.target[0, j, n]
                self.want[0, n] += self.target[0, j, n]
            if self.n_kinds == 3:
                for n in range(self.n_samples):
                    self.want[0, n] += self.target[2, j, n]
                    self.want[1, n] += self.target[1, j, n] - self.target[2, j, n]
        self.add_local(turn)
        for j in range(self.n_classes):
            on_lam += self.find_class_rhs(turn, j)
        for n in range(self.n_samples):
            self.scores[self.label[n], n] += (
                self.own[n] - self.sums[0, n] * self.d_s[turn, n]
            )
        return on_lam

    @kernel
    def add_local(self, turn: Count) -> None:
        """Add to the steps of s and h the solution for their right-hand side ``want``."""
        n: Count
        for n in range(self.n_samples):
            self.d_s[turn, n] += (
                self.local[0, n] * self.want[0, n] + self.local[1, n] * self.want[1, n]
            )
            self.d_h[turn, n] += (
                self.local[1, n] * self.want[0, n] + self.local[2, n] * self.want[1, n]
            )

    @kernel
    def find_class_rhs(self, turn: Count, j: Count) -> Real:
        n: Count
        on_flip: Real
        s: Real
        h: Real
        on_lam: Real = 0.0
        if self.n_kinds == 1:
            for n in range(self.n_samples):
                self.scores[j, n] = (
                    self.spring[0, j, n] * self.d_s[turn, n] - self.target[0, j, n]
                )
            return 0.0
        for n in range(self.n_samples):
            s, h = self.d_s[turn, n], self.d_h[turn, n]
            on_flip = self.target[2, j, n] - self.spring[2, j, n] * (s - h)
            self.scores[j, n] = (
                self.spring[0, j, n] * s - self.target[0, j, n]
                + self.spring[1, j, n] * h - self.target[1, j, n] + on_flip
            )  # fmt: skip
            on_lam += self.price[j, n] * on_flip
        return on_lam

    @kernel
    def find_step(self, turn: Count, d_lam: Real) -> None:
        """Find the steps of slacks, multipliers, s and h for a step of z and lam.

        The step of z is in ``scores``.  The reciprocals of the largest step lengths are
        stored in ``worst``.
        """
        j: Count
        k: Count
        n: Count
        for n in range(self.n_samples):
            self.own[n] = self.scores[self.label[n], n]
            self.want[0, n] = -self.sums[0, n] * self.own[n]
            self.want[1, n] = 0.0
            self.worst[0, n] = 0.0
            self.worst[1, n] = 0.0
        for j in range(self.n_classes):
            self.add_pulls(j, d_lam)
        self.add_local(turn)
        for j in range(self.n_classes):
            self.find_slack_step(turn, j, d_lam)
            for k in range(self.n_kinds):
                self.find_mult_step(turn, k, j)

    @kernel
    def add_pulls(self, j: Count, d_lam: Real) -> None:
        """Add the part of a step of z and lam to the right-hand side of s and h."""
        n: Count
        flip: Real
        for n in range(self.n_samples):
            self.want[0, n] += self.spring[0, j, n] * self.scores[j, n]
        if self.n_kinds == 3:
            for n in range(self.n_samples):
                flip = self.spring[2, j, n] * (self.scores[j, n] + self.price[j, n] * d_lam)
                self.want[0, n] -= flip
                self.want[1, n] += flip + self.spring[1, j, n] * self.scores[j, n]

    @kernel
    def find_slack_step(self, turn: Count, j: Count, d_lam: Real) -> None:
        n: Count
        for n in range(self.n_samples):
            self.d_slack[turn, 0, j, n] = (
                self.d_s[turn, n] - self.scores[j, n] + self.own[n]
            )
        if self.n_kinds == 3:
            for n in range(self.n_samples):
                self.d_slack[turn, 1, j, n] = self.exists[1, j, n] * (
                    self.d_h[turn, n] - self.scores[j, n]
                )
                self.d_slack[turn, 2, j, n] = self.exists[2, j, n] * (
                    self.d_s[turn, n] - self.d_h[turn, n]
                    + self.scores[j, n] + self.price[j, n] * d_lam
                )  # fmt: skip

    @kernel
    def find_mult_step(self, turn: Count, k: Count, j: Count) -> None:
        """Find the multipliers' step, and update the largest relative decreases."""
        n: Count
        change: Real
        d_mult: Real
        taken: Real
        for n in range(self.n_samples):
            change = self.d_slack[turn, k, j, n]
            d_mult = (
                self.target[k, j, n] - self.mult[k, j, n] - self.spring[k, j, n] * change
            )
            self.d_mult[turn, k, j, n] = d_mult
            taken = -change * self.inverse[k, j, n]
            self.worst[0, n] = taken if taken > self.worst[0, n] else self.worst[0, n]
            taken = -d_mult * self.dual_inverse[k, j, n]
            self.worst[1, n] = taken if taken > self.worst[1, n] else self.worst[1, n]

    @kernel
    def primal_length(self) -> Real:
        return length_of(self.worst[0])

    @kernel
    def dual_length(self) -> Real:
        return length_of(self.worst[1])

    @kernel
    def advance(self, turn: Count, primal: Real, dual: Real) -> None:
        k: Count
        j: Count
        n: Count
        for n in range(self.n_samples):
            self.s[n] += primal * self.d_s[turn, n]
            self.h[n] += primal * self.d_h[turn, n]
        for k in range(self.n_kinds):
            for j in range(self.n_classes):
                for n in range(self.n_samples):
                    self.slack[k, j, n] += primal * self.d_slack[turn, k, j, n]
                    self.mult[k, j, n] += dual * self.d_mult[turn, k, j, n]
