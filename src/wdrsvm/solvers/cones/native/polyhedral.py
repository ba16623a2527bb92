r"""The norm constraint lam >= ||M_i - M_j||_* of polyhedral norms, l1 and linf transport.

Pairs i < j are K = C (C - 1) / 2 rows.
"""

from __future__ import annotations

import cython
import numpy as np

from wdrsvm.problem.norms import class_pairs, incidence

from ...runtime.kernel_names import (
    Codes,
    Count,
    Real,
    Table,
    Vector,
    kernel,
)
from .cone import Cone


@cython.cclass
class Box(Cone):
    r"""l1 transport: the range of every column of M is at most lam.

    In a suitable gauge this is |M_jd| <= lam / 2.  The rows (2, C, T) are lam/2 + M and
    lam/2 - M.
    """

    def __init__(self, n_classes, n_columns, n_touchable):
        Cone.__init__(self, n_classes, n_columns, n_touchable)
        self._make_rows(2 * n_classes * n_touchable)
        self.fixes_gauge = True

    def slacks_at(self, coef, lam):
        return np.stack([lam / 2 + coef, lam / 2 - coef]).ravel()

    def gradient(self):
        above, below = np.array(self.mult).reshape(2, self.n_classes, self.n_touchable)
        return above - below

    def sides(self):
        """The springs of the rows, (2, C, T)."""
        return np.array(self.spring).reshape(2, self.n_classes, self.n_touchable)

    @kernel
    def add_curvature(self, matrix: Table) -> None:
        j: Count
        d: Count
        k: Count
        row: Count = 0
        half: Count = self.n_classes * self.n_touchable
        lam: Count = self.n_classes * self.n_columns
        above: Real
        below: Real
        for j in range(self.n_classes):
            for d in range(self.n_touchable):
                above, below = self.spring[row], self.spring[half + row]
                k = j * self.n_columns + d
                matrix[k, k] += above + below
                matrix[lam, k] += (above - below) / 2
                matrix[lam, lam] += (above + below) / 4
                row += 1

    @kernel
    def add_rhs(self, rhs: Vector) -> None:
        j: Count
        d: Count
        row: Count = 0
        half: Count = self.n_classes * self.n_touchable
        lam: Count = self.n_classes * self.n_columns
        above: Real
        below: Real
        for j in range(self.n_classes):
            for d in range(self.n_touchable):
                above = self.goal[row] * self.inverse[row]
                below = self.goal[half + row] * self.inverse[half + row]
                rhs[j * self.n_columns + d] += above - below
                rhs[lam] += (above + below) / 2
                row += 1

    @kernel
    def find_slack_step(self, turn: Count, step: Vector) -> None:
        j: Count
        d: Count
        row: Count = 0
        half: Count = self.n_classes * self.n_touchable
        wider: Real = step[self.n_classes * self.n_columns] / 2
        for j in range(self.n_classes):
            for d in range(self.n_touchable):
                self.d_slack[turn, row] = wider + step[j * self.n_columns + d]
                self.d_slack[turn, half + row] = wider - step[j * self.n_columns + d]
                row += 1


@kernel
def add_pair_curvature(
    matrix: Table,
    first: Count,
    second: Count,
    diagonal: Vector,
    square: Vector,
    size: Real,
    square_size: Real,
) -> None:
    """Add u' (size diag(diagonal) + square_size square square') u with u = M_i - M_j.

    ``first`` and ``second`` are the places of i and j in (M, lam).  If there is no second,
    u is M_i.
    """
    d: Count
    e: Count
    bend: Real
    for d in range(diagonal.shape[0]):
        bend = square_size * square[d]
        matrix[first + d, first + d] += size * diagonal[d]
        for e in range(d + 1):
            matrix[first + d, first + e] += bend * square[e]
        if second >= 0:
            matrix[second + d, second + d] += size * diagonal[d]
            matrix[second + d, first + d] -= size * diagonal[d]
            for e in range(d + 1):
                matrix[second + d, second + e] += bend * square[e]
            for e in range(diagonal.shape[0]):
                matrix[second + d, first + e] -= bend * square[e]


@cython.cclass
class AbsoluteSums(Cone):
    r"""linf transport: u >= |M_i - M_j| entrywise and lam >= sum_d u for every pair.

    The first rows are the sides (2, K, T) u - diff, u + diff; then the caps (K,) lam - sum
    u.  With springs p, q of the sides and v of the caps, the curvature of u is the diagonal
    p + q plus v 11'; u is eliminated by the Sherman-Morrison formula.
    """

    n_pairs: Count
    # Places in (M, lam) at which the classes of a pair begin.
    first: Codes
    second: Codes
    softness: Table
    twist: Table
    upper: Table
    bend: Vector
    diagonal: Vector
    ratio: Vector

    def __init__(self, n_classes, n_columns, n_touchable):
        Cone.__init__(self, n_classes, n_columns, n_touchable)
        first, second = class_pairs(n_classes)
        self.n_pairs = len(first)
        self.first, self.second = first * n_columns, second * n_columns
        self._make_rows((2 * n_touchable + 1) * self.n_pairs)
        shape = self.n_pairs, n_touchable
        self.softness, self.twist = np.empty(shape), np.empty(shape)
        self.upper, self.bend = np.empty(shape), np.empty(self.n_pairs)
        self.diagonal, self.ratio = np.empty(n_touchable), np.empty(n_touchable)

    def slacks_at(self, coef, lam):
        diff = incidence(self.n_classes) @ coef
        spare = (lam - np.abs(diff).sum(axis=1)) / (self.n_touchable + 1)
        upper = np.abs(diff) + spare[:, None]
        sides = np.stack([upper - diff, upper + diff])
        return np.concatenate([sides.ravel(), spare])

    def flow(self):
        sides = np.array(self.mult)[: 2 * self.n_pairs * self.n_touchable]
        below, above = sides.reshape(2, self.n_pairs, self.n_touchable)
        return above - below

    def gradient(self):
        return incidence(self.n_classes).T @ self.flow()

    def pairs(self):
        """Curvature of all pairs after u is eliminated.

        Returns the stiffness (K, T) of the differences, the change of u per change of a
        difference (K, T), and the stiffness (K,) of lam + this ratio . difference.
        """
        k: Count
        shape = self.n_pairs, self.n_touchable
        diagonal, ratio = np.empty(shape), np.empty(shape)
        for k in range(self.n_pairs):
            self.find_pair(k)
            diagonal[k], ratio[k] = self.diagonal, self.ratio
        return diagonal, ratio, np.array(self.bend)

    @kernel
    def prepare(self) -> None:
        k: Count
        Cone.prepare(self)
        for k in range(self.n_pairs):
            self.eliminate(k)

    @kernel
    def add_curvature(self, matrix: Table) -> None:
        k: Count
        for k in range(self.n_pairs):
            self.find_pair(k)
            self.add_pair(k, matrix)

    @kernel
    def eliminate(self, k: Count) -> None:
        """Eliminate pair k's u: 1 / (p + q), q - p and v / (1 + v 1'(p + q)^-1 1)."""
        d: Count
        row: Count = k * self.n_touchable
        half: Count = self.n_pairs * self.n_touchable
        cap: Real = self.spring[2 * half + k]
        total: Real = 0.0
        for d in range(self.n_touchable):
            self.softness[k, d] = 1.0 / (self.spring[row + d] + self.spring[half + row + d])
            self.twist[k, d] = self.spring[half + row + d] - self.spring[row + d]
            total += self.softness[k, d]
        self.bend[k] = cap / (1 + cap * total)

    @kernel
    def find_pair(self, k: Count) -> None:
        """Stiffness of pair k's differences after u is eliminated, and the change of u per
        change of a difference."""
        d: Count
        row: Count = k * self.n_touchable
        half: Count = self.n_pairs * self.n_touchable
        for d in range(self.n_touchable):
            # (p + q) - (q - p)^2 / (p + q), written so that no digits cancel
            self.diagonal[d] = (
                4
                * self.spring[row + d]
                * (self.spring[half + row + d] * self.softness[k, d])
            )
            self.ratio[d] = self.twist[k, d] * self.softness[k, d]

    @kernel
    def add_pair(self, k: Count, matrix: Table) -> None:
        d: Count
        lam: Count = self.n_classes * self.n_columns
        for d in range(self.n_touchable):
            matrix[lam, self.first[k] + d] += self.bend[k] * self.ratio[d]
            matrix[lam, self.second[k] + d] -= self.bend[k] * self.ratio[d]
        matrix[lam, lam] += self.bend[k]
        add_pair_curvature(
            matrix, self.first[k], self.second[k], self.diagonal, self.ratio, 1.0,
            self.bend[k],
        )  # fmt: skip

    @kernel
    def solve_upper(self, k: Count) -> None:
        """Solve for the change of pair k's u, in place of the right-hand side."""
        d: Count
        total: Real = 0.0
        for d in range(self.n_touchable):
            self.upper[k, d] *= self.softness[k, d]
            total += self.upper[k, d]
        total *= self.bend[k]
        for d in range(self.n_touchable):
            self.upper[k, d] -= total * self.softness[k, d]

    @kernel
    def target(self, row: Count) -> Real:
        """The multiplier that reaches the goal at an unchanged slack."""
        return self.goal[row] * self.inverse[row]

    @kernel
    def add_rhs(self, rhs: Vector) -> None:
        k: Count
        d: Count
        row: Count
        half: Count = self.n_pairs * self.n_touchable
        lam: Count = self.n_classes * self.n_columns
        pull: Real
        cap: Real
        for k in range(self.n_pairs):
            row, cap = k * self.n_touchable, self.target(2 * half + k)
            for d in range(self.n_touchable):
                self.upper[k, d] = self.target(row + d) + self.target(half + row + d) - cap
            self.solve_upper(k)
            rhs[lam] += cap
            for d in range(self.n_touchable):
                pull = self.target(half + row + d) - self.target(row + d)
                pull -= self.twist[k, d] * self.upper[k, d]
                rhs[self.first[k] + d] += pull
                rhs[self.second[k] + d] -= pull
                rhs[lam] += self.spring[2 * half + k] * self.upper[k, d]

    @kernel
    def find_slack_step(self, turn: Count, step: Vector) -> None:
        k: Count
        d: Count
        row: Count
        half: Count = self.n_pairs * self.n_touchable
        d_lam: Real = step[self.n_classes * self.n_columns]
        diff: Real
        for k in range(self.n_pairs):
            row = k * self.n_touchable
            self.find_upper(k, step, d_lam)
            self.d_slack[turn, 2 * half + k] = d_lam
            for d in range(self.n_touchable):
                diff = step[self.first[k] + d] - step[self.second[k] + d]
                self.d_slack[turn, row + d] = self.upper[k, d] - diff
                self.d_slack[turn, half + row + d] = self.upper[k, d] + diff
                self.d_slack[turn, 2 * half + k] -= self.upper[k, d]

    @kernel
    def find_upper(self, k: Count, step: Vector, d_lam: Real) -> None:
        """Find the change of pair k's u for a step of (M, lam)."""
        d: Count
        row: Count = k * self.n_touchable
        half: Count = self.n_pairs * self.n_touchable
        cap: Real = self.spring[2 * half + k] * d_lam - self.target(2 * half + k)
        diff: Real
        for d in range(self.n_touchable):
            diff = step[self.first[k] + d] - step[self.second[k] + d]
            self.upper[k, d] = (
                self.target(row + d) + self.target(half + row + d)
                + cap - self.twist[k, d] * diff
            )  # fmt: skip
        self.solve_upper(k)
