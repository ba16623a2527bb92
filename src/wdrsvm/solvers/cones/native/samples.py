r"""The rows of the samples in the interior point.

Sample n has the local variables s, h and sees z = M x_n and lam through 3C - 1 rows

    0:  s - z_j + z_y - [j != y]      (j = y is s >= 0)        multipliers alpha_j
    1:  h - z_j                                                multipliers beta_j
    2:  s - h + z_c - 1 + lam k_c     (c != y, k_c finite)     multipliers phi_c

kept in arrays of shape (3, C, N), so that vectors run over samples.  Rows that do not exist
have slack 1 and multiplier 0; a sample without any possible flip has only the rows 0, and
where no sample has one, the other rows are not looked at.
"""

from __future__ import annotations

import cython
import numpy as np

from ...runtime.kernel_names import (
    Codes,
    Count,
    Cube,
    Cubes,
    Flag,
    Real,
    Table,
    Vector,
    kernel,
)
from .rows import fill, invert, length_of, move, second_order_goal, times
from .sample_algebra import (
    add_local,
    add_wants,
    find_mult_steps,
    keep_worst,
    solve_local,
    start_sample,
)


@cython.cclass
class SampleRows:
    """Slacks, multipliers, s and h, with all that a step needs of memory.

    ``spring`` is mult / slack; A, B, F are its sums over the classes, in ``sums``.
    """

    n_samples = cython.declare(Count, visibility="readonly")
    n_classes: Count
    # 3, or 1 where no label can be flipped.
    n_kinds = cython.declare(Count, visibility="readonly")
    prices_differ: Flag
    label: Codes
    weight: Vector
    # k_c where there is such a row, 0 elsewhere
    price: Table
    exists: Cube
    slack: Cube
    mult: Cube
    goal: Cube
    inverse: Cube
    dual_inverse: Cube
    spring: Cube
    d_slack: Cubes
    d_mult: Cubes
    s: Vector
    h: Vector
    d_s: Table
    d_h: Table
    sums: Table
    # The inverse of [[A + F, -F], [-F, B + F]], row by row: ss, sh, hh.
    local: Table
    want: Table
    scores: Table
    own: Vector
    worst: Table

    def __init__(self, label, weight, kappa):
        n_samples, n_classes = kappa.shape
        self.n_samples, self.n_classes = n_samples, n_classes
        self.label, self.weight = np.array(label, dtype=np.intp), np.array(weight)
        kappa = np.ascontiguousarray(np.asarray(kappa).T)
        possible = np.isfinite(kappa)
        self.n_kinds = 3 if possible.any() else 1
        shape = self.n_kinds, n_classes, n_samples
        exists = np.ones(shape)
        self.price = price = np.where(possible, kappa, 0.0)
        if self.n_kinds == 3:
            exists[1], exists[2] = possible.any(axis=0), possible
            cheap = np.where(possible, kappa, np.inf).min(axis=0)
            self.prices_differ = bool((price > np.where(possible, cheap, np.inf)).any())
        self.exists = exists
        self.slack, self.mult, self.goal = np.ones(shape), exists.copy(), np.zeros(shape)
        self.inverse, self.dual_inverse = np.empty(shape), np.empty(shape)
        self.spring = np.empty(shape)
        self.d_slack, self.d_mult = np.zeros((2, *shape)), np.zeros((2, *shape))
        self.s, self.h = np.ones(n_samples), np.zeros(n_samples)
        self.d_s, self.d_h = np.zeros((2, n_samples)), np.zeros((2, n_samples))
        self.sums, self.local = np.zeros((3, n_samples)), np.zeros((3, n_samples))
        self.want, self.worst = np.zeros((2, n_samples)), np.empty((2, n_samples))
        self.scores, self.own = np.zeros((n_classes, n_samples)), np.empty(n_samples)

    def arrays(self):
        """Copies of slacks and multipliers (kinds, C, N), s and h."""
        s, h = np.array(self.s), np.array(self.h)
        return np.array(self.slack), np.array(self.mult), s, h

    def multipliers(self):
        """Multipliers as (3, N, C), all three kinds."""
        mult = np.zeros((3, self.n_samples, self.n_classes))
        mult[: self.n_kinds] = np.asarray(self.mult).transpose(0, 2, 1)
        return mult

    def put(self, slack, mult, s, h):
        np.asarray(self.slack)[...] = slack
        np.asarray(self.mult)[...] = mult
        np.asarray(self.s)[:] = s
        np.asarray(self.h)[:] = h

    def start(self, lam: Real):
        """Strictly feasible s, h at z = 0 and multipliers that meet the row sums."""
        n: Count
        for n in range(self.n_samples):
            start_sample(
                n, self.label[n], self.weight[n], lam, self.price, self.exists,
                self.slack, self.mult, self.s, self.h,
            )  # fmt: skip

    @property
    def existing(self):
        """Which rows there are, (kinds, C, N)."""
        return np.asarray(self.exists) > 0

    @kernel
    def prepare(self) -> None:
        """Reciprocals, springs, their sums, and the elimination of s and h."""
        k: Count
        j: Count
        n: Count
        for k in range(self.n_kinds):
            for n in range(self.n_samples):
                self.sums[k, n] = 0.0
            for j in range(self.n_classes):
                invert(self.slack[k, j], self.inverse[k, j])
                invert(self.mult[k, j], self.dual_inverse[k, j])
                times(self.mult[k, j], self.inverse[k, j], self.spring[k, j])
                for n in range(self.n_samples):
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
            if f > 0:
                inverse = 1.0 / (a * b + a * f + b * f)
                self.local[0, n] = (b + f) * inverse
                self.local[1, n] = f * inverse
                self.local[2, n] = (a + f) * inverse
            else:
                self.local[0, n] = 1.0 / a
                self.local[1, n] = 0.0
                self.local[2, n] = 0.0

    @kernel
    def aim(self, turn: Count, centre: Real) -> None:
        k: Count
        j: Count
        for k in range(self.n_kinds):
            for j in range(self.n_classes):
                second_order_goal(
                    self.goal[k, j], self.exists[k, j], self.d_slack[turn, k, j],
                    self.d_mult[turn, k, j], centre,
                )  # fmt: skip

    @kernel
    def aim_at_nothing(self) -> None:
        k: Count
        j: Count
        for k in range(self.n_kinds):
            for j in range(self.n_classes):
                fill(self.goal[k, j], 0.0)

    @kernel
    def find_rhs(self, turn: Count) -> Real:
        """What the goal puts on z, in ``scores``, and on lam, after s and h, whose own
        part of the step is left in d_s and d_h."""
        k: Count
        j: Count
        on_lam: Real = 0.0
        n: Count
        for n in range(self.n_samples):
            self.want[0, n] = -self.weight[n]
            self.want[1, n] = 0.0
            self.own[n] = 0.0
        for k in range(self.n_kinds):
            for j in range(self.n_classes):
                add_wants(k, self.goal[k, j], self.inverse[k, j], self.want, self.own)
        solve_local(self.local, self.want, self.d_s[turn], self.d_h[turn])
        for j in range(self.n_classes):
            on_lam += self.find_class_rhs(j, self.d_s[turn], self.d_h[turn])
        for n in range(self.n_samples):
            self.scores[self.label[n], n] += (
                self.own[n] - self.sums[0, n] * self.d_s[turn, n]
            )
        return on_lam

    @kernel
    def find_class_rhs(self, j: Count, s: Vector, h: Vector) -> Real:
        n: Count
        on_flip: Real
        on_lam: Real = 0.0
        scores: Vector = self.scores[j]
        goal: Cube = self.goal
        inverse: Cube = self.inverse
        spring: Cube = self.spring
        price: Vector = self.price[j]
        for n in range(self.n_samples):
            scores[n] = spring[0, j, n] * s[n] - goal[0, j, n] * inverse[0, j, n]
        if self.n_kinds == 1:
            return 0.0
        for n in range(self.n_samples):
            on_flip = goal[2, j, n] * inverse[2, j, n] - spring[2, j, n] * (s[n] - h[n])
            scores[n] += on_flip + spring[1, j, n] * h[n] - goal[1, j, n] * inverse[1, j, n]
            on_lam += price[n] * on_flip
        return on_lam

    @kernel
    def find_step(self, turn: Count, d_lam: Real) -> None:
        """Steps of slacks, multipliers, s and h that belong to a step of z, in ``scores``,
        and lam, and how far they can go, in ``worst``."""
        j: Count
        n: Count
        for n in range(self.n_samples):
            self.own[n] = self.scores[self.label[n], n]
            self.want[0, n] = -self.sums[0, n] * self.own[n]
            self.want[1, n] = 0.0
            self.worst[0, n] = 0.0
            self.worst[1, n] = 0.0
        for j in range(self.n_classes):
            self.add_pulls(j, d_lam)
        add_local(self.local, self.want, self.d_s[turn], self.d_h[turn])
        for j in range(self.n_classes):
            self.find_class_step(turn, j, d_lam)

    @kernel
    def add_pulls(self, j: Count, d_lam: Real) -> None:
        n: Count
        flip: Real
        spring: Cube = self.spring
        scores: Vector = self.scores[j]
        price: Vector = self.price[j]
        on_s: Vector = self.want[0]
        on_h: Vector = self.want[1]
        for n in range(self.n_samples):
            on_s[n] += spring[0, j, n] * scores[n]
        if self.n_kinds == 3:
            for n in range(self.n_samples):
                flip = spring[2, j, n] * (scores[n] + price[n] * d_lam)
                on_s[n] -= flip
                on_h[n] += flip + spring[1, j, n] * scores[n]

    @kernel
    def find_class_step(self, turn: Count, j: Count, d_lam: Real) -> None:
        n: Count
        k: Count
        scores: Vector = self.scores[j]
        own: Vector = self.own
        s: Vector = self.d_s[turn]
        h: Vector = self.d_h[turn]
        price: Vector = self.price[j]
        change: Cube = self.d_slack[turn]
        exists: Cube = self.exists
        for n in range(self.n_samples):
            change[0, j, n] = s[n] - scores[n] + own[n]
        if self.n_kinds == 3:
            for n in range(self.n_samples):
                change[1, j, n] = exists[1, j, n] * (h[n] - scores[n])
            for n in range(self.n_samples):
                change[2, j, n] = exists[2, j, n] * (
                    s[n] - h[n] + scores[n] + price[n] * d_lam
                )
        for k in range(self.n_kinds):
            find_mult_steps(
                self.d_mult[turn, k, j], self.goal[k, j], self.inverse[k, j],
                self.mult[k, j], self.spring[k, j], change[k, j],
            )  # fmt: skip
            keep_worst(self.worst[0], change[k, j], self.inverse[k, j])
            keep_worst(self.worst[1], self.d_mult[turn, k, j], self.dual_inverse[k, j])

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
        move(self.s, self.d_s[turn], primal)
        move(self.h, self.d_h[turn], primal)
        for k in range(self.n_kinds):
            for j in range(self.n_classes):
                move(self.slack[k, j], self.d_slack[turn, k, j], primal)
                move(self.mult[k, j], self.d_mult[turn, k, j], dual)
