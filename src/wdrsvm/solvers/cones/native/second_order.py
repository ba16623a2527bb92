r"""l2 transport: second-order cones with Nesterov-Todd scaling.

Each pair i < j has the row (lam, M_i - M_j) in the cone u_0 >= ||u_1||.  Under the triangle
bound, each class has the row (lam, 2 M_i) instead.  There are K rows of width 1 + T, with
the part of lam first.  The scaling W of a row maps its multiplier y and its slack r to the
same point, W y = W^-1 r, and

    W   = b [[w_0, w_1'], [w_1, I + w_1 w_1' / (1 + w_0)]],      b^4 = det r / det y,
    W^-2 = (2 q q' - J) / b^2,   q = (w_0, -w_1),   J = diag(1, -I),   det u = u' J u.
"""

from __future__ import annotations

import cython
import numpy as np
from cython.cimports.libc.math import log, sqrt

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
from .polyhedral import add_pair_curvature
from .rows import NO_END, dot
from .scaled_rows import det, longest_in_cone, scale_row


@cython.cclass
class SecondOrder(Cone):
    """The cones of all pairs; goals are in scaled coordinates."""

    width: Count
    factor: Real
    # Places in (M, lam) at which the classes of a row begin; -1 if there is no second.
    first: Codes
    second: Codes
    w: Table
    size: Vector
    scaled: Table
    target: Vector
    scratch: Vector
    ones: Vector
    r: Table
    y: Table
    aimed: Table

    def __init__(self, n_classes, n_columns, n_touchable):
        Cone.__init__(self, n_classes, n_columns, n_touchable)
        self.factor = 1.0
        first, second = class_pairs(n_classes)
        self._make_cones(first * n_columns, second * n_columns)

    def _make_cones(self, first, second):
        self.first, self.second = first, second
        self.width = 1 + self.n_touchable
        shape = len(first), self.width
        self._make_rows(shape[0] * shape[1])
        self.degree = shape[0]
        self.w, self.size = np.empty(shape), np.empty(shape[0])
        self.scaled, self.target = np.empty(shape), np.empty(self.width)
        self.scratch, self.ones = np.empty(self.width), np.ones(self.n_touchable)
        self.r = np.asarray(self.slack).reshape(shape)
        self.y = np.asarray(self.mult).reshape(shape)
        self.aimed = np.asarray(self.goal).reshape(shape)

    def combinations(self):
        """The combinations (K, C) of the rows of M that the cones use."""
        return incidence(self.n_classes)

    def slacks_at(self, coef, lam):
        diff = self.combinations() @ coef
        return np.column_stack([np.full(len(diff), lam), diff]).ravel()

    def place(self, coef, lam, centre):
        self.put_rows(self.slacks_at(np.asarray(coef), lam), 0.0)
        self.put_central(centre)

    def put_central(self, centre: Real):
        """Set the multipliers centre J r / det r; their product with r is the centre."""
        k: Count
        d: Count
        share: Real
        for k in range(self.degree):
            share = centre / det(self.r[k])
            self.y[k, 0] = share * self.r[k, 0]
            for d in range(1, self.width):
                self.y[k, d] = -share * self.r[k, d]

    def flow(self):
        return np.array(self.y[:, 1:])

    def gradient(self):
        return self.combinations().T @ np.array(self.y[:, 1:])

    @kernel
    def prepare(self) -> None:
        """Compute the scaling points w of determinant 1, the sizes b, and W y."""
        k: Count
        for k in range(self.degree):
            self.size[k] = self.find_scaling(k)
            scale_row(self.y[k], self.w[k], self.size[k], 1.0, self.scaled[k])

    @kernel
    def find_scaling(self, k: Count) -> Real:
        d: Count
        slack_size: Real = sqrt(det(self.r[k]))
        mult_size: Real = sqrt(det(self.y[k]))
        unit: Real
        self.w[k, 0] = self.r[k, 0] / slack_size + self.y[k, 0] / mult_size
        for d in range(1, self.width):
            self.w[k, d] = self.r[k, d] / slack_size - self.y[k, d] / mult_size
        unit = 1.0 / sqrt(det(self.w[k]))
        for d in range(self.width):
            self.w[k, d] *= unit
        return sqrt(slack_size / mult_size)

    @kernel
    def aim(self, turn: Count, centre: Real) -> None:
        """Set the goal: the centre minus the Jordan product of the scaled steps."""
        k: Count
        d: Count
        u: Vector = self.scratch
        v: Vector = self.target
        begin: Count
        for k in range(self.degree):
            begin = k * self.width
            scale_row(
                self.d_slack[turn, begin : begin + self.width], self.w[k],
                1.0 / self.size[k], -1.0, u,
            )  # fmt: skip
            scale_row(
                self.d_mult[turn, begin : begin + self.width], self.w[k],
                self.size[k], 1.0, v,
            )  # fmt: skip
            self.aimed[k, 0] = centre - dot(u, v)
            for d in range(1, self.width):
                self.aimed[k, d] = -(u[0] * v[d] + v[0] * u[d])

    @kernel
    def aim_at_once(self, centre: Real) -> None:
        k: Count
        d: Count
        for k in range(self.degree):
            self.aimed[k, 0] = centre
            for d in range(1, self.width):
                self.aimed[k, d] = 0.0

    @kernel
    def aim_at_present(self) -> None:
        """Set the goal: the Jordan square of the scaled point."""
        k: Count
        d: Count
        for k in range(self.degree):
            self.aimed[k, 0] = dot(self.scaled[k], self.scaled[k])
            for d in range(1, self.width):
                self.aimed[k, d] = 2 * self.scaled[k, 0] * self.scaled[k, d]

    @kernel
    def recentre(
        self, turn: Count, centre: Real, primal: Real,
        dual: Real,
    ) -> None:  # fmt: skip
        """Do nothing: there are few pairs, and their eigenvalues stay near the centre."""
        pass

    @kernel
    def find_target(self, k: Count) -> None:
        """Find the multipliers that reach the goal at unchanged slacks.

        They are W^-1 x; the Jordan product of x and the scaled point is the goal.
        """
        d: Count
        x: Vector = self.scratch
        by: Vector = self.scaled[k]
        along: Real = dot(by[1:], self.aimed[k, 1:])
        x[0] = (by[0] * self.aimed[k, 0] - along) / det(by)
        for d in range(1, self.width):
            x[d] = (self.aimed[k, d] - x[0] * by[d]) / by[0]
        scale_row(x, self.w[k], 1.0 / self.size[k], -1.0, self.target)

    @kernel
    def add_curvature(self, matrix: Table) -> None:
        k: Count
        d: Count
        lam: Count = self.n_classes * self.n_columns
        stiff: Real
        coupling: Real
        for k in range(self.degree):
            stiff = 1.0 / (self.size[k] * self.size[k])
            matrix[lam, lam] += stiff * (2 * self.w[k, 0] * self.w[k, 0] - 1)
            for d in range(self.n_touchable):
                coupling = -2 * self.factor * self.w[k, 0] * stiff * self.w[k, d + 1]
                matrix[lam, self.first[k] + d] += coupling
                if self.second[k] >= 0:
                    matrix[lam, self.second[k] + d] -= coupling
            stiff *= self.factor * self.factor
            add_pair_curvature(
                matrix, self.first[k], self.second[k], self.ones, self.w[k, 1:], stiff,
                2 * stiff,
            )  # fmt: skip

    @kernel
    def add_rhs(self, rhs: Vector) -> None:
        k: Count
        d: Count
        lam: Count = self.n_classes * self.n_columns
        for k in range(self.degree):
            self.find_target(k)
            rhs[lam] += self.target[0]
            for d in range(self.n_touchable):
                rhs[self.first[k] + d] += self.factor * self.target[1 + d]
                if self.second[k] >= 0:
                    rhs[self.second[k] + d] -= self.factor * self.target[1 + d]

    @kernel
    def find_slack_step(self, turn: Count, step: Vector) -> None:
        k: Count
        d: Count
        begin: Count
        for k in range(self.degree):
            begin = k * self.width
            self.d_slack[turn, begin] = step[self.n_classes * self.n_columns]
            for d in range(self.n_touchable):
                self.d_slack[turn, begin + 1 + d] = self.factor * step[self.first[k] + d]
                if self.second[k] >= 0:
                    self.d_slack[turn, begin + 1 + d] -= (
                        self.factor * step[self.second[k] + d]
                    )

    @kernel
    def find_step(self, turn: Count, step: Vector) -> None:
        k: Count
        self.find_slack_step(turn, step)
        for k in range(self.degree):
            self.find_mult_row(turn, k)

    @kernel
    def find_mult_row(self, turn: Count, k: Count) -> None:
        """The target minus W^-2 times the change of the slack minus the multiplier."""
        d: Count
        begin: Count = k * self.width
        relaxed: Vector = self.scratch
        self.find_target(k)
        scale_row(
            self.d_slack[turn, begin : begin + self.width], self.w[k], 1.0 / self.size[k],
            -1.0, relaxed,
        )  # fmt: skip
        scale_row(relaxed, self.w[k], 1.0 / self.size[k], -1.0, relaxed)
        for d in range(self.width):
            self.d_mult[turn, begin + d] = self.target[d] - relaxed[d] - self.y[k, d]

    @kernel
    def length_in(self, rows: Table, change: Vector) -> Real:
        k: Count
        worst: Real = 0.0
        begin: Count
        for k in range(self.degree):
            begin = k * self.width
            worst = max(worst, longest_in_cone(rows[k], change[begin : begin + self.width]))
        return 1.0 / worst if worst > 0 else NO_END

    @kernel
    def primal_length(self, turn: Count) -> Real:
        return self.length_in(self.r, self.d_slack[turn])

    @kernel
    def dual_length(self, turn: Count) -> Real:
        return self.length_in(self.y, self.d_mult[turn])

    @kernel
    def barrier_after(self, turn: Count, length: Real) -> Real:
        """-1/2 sum log det slack after a primal step."""
        k: Count
        d: Count
        total: Real = 0.0
        for k in range(self.degree):
            for d in range(self.width):
                self.scratch[d] = (
                    self.r[k, d] + length * self.d_slack[turn, k * self.width + d]
                )
            total -= log(det(self.scratch)) / 2
        return total


@cython.cclass
class SingleClasses(SecondOrder):
    """The triangle bound lam >= 2 ||M_i||: one cone per class.

    A shift of all classes by one vector changes these constraints.
    """

    def __init__(self, n_classes, n_columns, n_touchable):
        Cone.__init__(self, n_classes, n_columns, n_touchable)
        self.fixes_gauge, self.factor = True, 2.0
        places = np.arange(n_classes) * n_columns
        self._make_cones(places, np.full(n_classes, -1))

    def combinations(self):
        return 2 * np.eye(self.n_classes)

    def flow(self):
        return None


@cython.cclass
class ConicRows(SecondOrder):
    """Cones (K, 1 + T) of the caller's choice; the caller gives the change of slacks."""

    def __init__(self, slack, centre):
        Cone.__init__(self, 0, 0, slack.shape[1] - 1)
        none = np.zeros(len(slack), dtype=np.intp)
        self._make_cones(none, none)
        self.put_rows(np.ravel(slack), 0.0)
        self.put_central(centre)

    def stiffness(self):
        """W^-2 of every cone, (K, 1 + T, 1 + T)."""
        signs = np.append(1.0, np.full(self.n_touchable, -1.0))
        flipped = signs * np.asarray(self.w)
        square = 2 * flipped[:, :, None] * flipped[:, None, :] - np.diag(signs)
        return square / np.asarray(self.size)[:, None, None] ** 2

    @kernel
    def find_slack_step(self, turn: Count, step: Vector) -> None:
        pass
