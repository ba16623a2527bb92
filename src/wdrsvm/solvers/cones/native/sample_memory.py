r"""The rows of the samples in the interior point.

Sample n has the local variables s and h.  With z = M x_n it has the 3C - 1 rows

    0:  s - z_j + z_y - [j != y]      (j = y is s >= 0)        multipliers alpha_j
    1:  h - z_j                                                multipliers beta_j
    2:  s - h + z_c - 1 + lam k_c     (c != y, k_c finite)     multipliers phi_c

Arrays have the shape (3, C, N), so that vectors run over samples.  Rows that do not exist
have slack 1 and multiplier 0.  A sample without a possible flip has only the rows 0.  If no
sample has a possible flip, the other rows are left out.
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
)
from .sample_start import start_sample


@cython.cclass
class SampleMemory:
    """Slacks, multipliers, s and h, and all arrays that a step needs.

    ``spring`` is mult / slack; A, B, F are its sums over the classes, in ``sums``.
    """

    n_samples = cython.declare(Count, visibility="readonly")
    n_classes: Count
    # 3, or 1 if no label can be flipped.
    n_kinds = cython.declare(Count, visibility="readonly")
    prices_differ: Flag
    label: Codes
    weight: Vector
    # k_c if the row exists, otherwise 0
    price: Table
    exists: Cube
    slack: Cube
    mult: Cube
    # The multipliers that reach the goal at unchanged slacks.
    target: Cube
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
    # The inverse of [[A + F, -F], [-F, B + F]] in three rows: ss, sh, hh.
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
        self.n_kinds, self.prices_differ = 3 if possible.any() else 1, False
        shape = self.n_kinds, n_classes, n_samples
        exists = np.ones(shape)
        self.price = price = np.where(possible, kappa, 0.0)
        if self.n_kinds == 3:
            exists[1], exists[2] = possible.any(axis=0), possible
            cheap = np.where(possible, kappa, np.inf).min(axis=0)
            self.prices_differ = bool((price > np.where(possible, cheap, np.inf)).any())
        self.exists = exists
        self.slack, self.mult, self.target = np.ones(shape), exists.copy(), np.empty(shape)
        self.inverse, self.dual_inverse = np.empty(shape), np.empty(shape)
        self.spring = np.empty(shape)
        self.d_slack, self.d_mult = np.empty((2, *shape)), np.empty((2, *shape))
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
        """Set strictly feasible s, h at z = 0, and multipliers with the right sums."""
        n: Count
        for n in range(self.n_samples):
            start_sample(
                n, self.label[n], self.weight[n], lam, self.price, self.exists,
                self.slack, self.mult, self.s, self.h,
            )  # fmt: skip

    @property
    def existing(self):
        """Whether each row exists, (kinds, C, N)."""
        return np.asarray(self.exists) > 0

    def springs(self):
        """Springs (3, C, N) of all three kinds, and their sums (3, N)."""
        spring = np.zeros((3, self.n_classes, self.n_samples))
        spring[: self.n_kinds] = self.spring
        return spring, np.array(self.sums)
