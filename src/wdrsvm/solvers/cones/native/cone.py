"""The base class of norm constraints, and the constraints without a norm.

A cone keeps its slacks and multipliers.  It has the operations of a primal-dual method: set
a goal, add its right-hand side and curvature in (M, lam), and find its step for a step of
(M, lam).  ``M`` has shape (C, Q).  The constraint uses the first T columns, which are the
touchable features, already divided by their costs.  (M, lam) is one vector.  Only the lower
triangle of the normal matrix is kept.  There is memory for two steps, so that a second step
can be tried while the first is kept; ``turn`` is the number of the step.
"""

from __future__ import annotations

import cython
import numpy as np

from ...runtime.kernel_names import (
    Count,
    Flag,
    Real,
    Table,
    Vector,
    kernel,
)
from .rows import (
    LANES,
    dot,
    dot_after,
    find_mult_step,
    invert,
    log_barrier,
    longest,
    move,
    pull_goal,
    second_order_goal,
    times,
)


@cython.cclass
class Cone:
    """A norm constraint as rows: each slack and each multiplier is positive.

    ``degree`` is the number of complementarity products.  ``fixes_gauge`` tells whether the
    constraint changes if one vector is added to M in all classes.
    """

    degree = cython.declare(Count, visibility="readonly")
    fixes_gauge = cython.declare(Flag, visibility="readonly")
    n_classes = cython.declare(Count, visibility="readonly")
    n_columns: Count
    n_touchable: Count
    slack: Vector
    mult: Vector
    exists: Vector
    inverse: Vector
    dual_inverse: Vector
    spring: Vector
    goal: Vector
    d_slack: Table
    d_mult: Table
    lanes: Vector

    def __init__(
        self, n_classes: Count, n_columns: Count,
        n_touchable: Count,
    ):  # fmt: skip
        self.n_classes, self.n_columns = n_classes, n_columns
        self.n_touchable = n_touchable
        self.fixes_gauge = False

    def _make_rows(self, n_rows: Count):
        self.degree = n_rows
        self.slack, self.mult = np.ones(n_rows), np.ones(n_rows)
        self.exists = np.ones(n_rows)
        self.inverse, self.dual_inverse = np.empty(n_rows), np.empty(n_rows)
        self.spring, self.goal = np.empty(n_rows), np.zeros(n_rows)
        self.d_slack, self.d_mult = np.zeros((2, n_rows)), np.zeros((2, n_rows))
        self.lanes = np.empty(LANES)

    def rows(self):
        """Copies of slacks and multipliers."""
        return np.array(self.slack), np.array(self.mult)

    def put_rows(self, slack, mult):
        np.asarray(self.slack)[:] = slack
        np.asarray(self.mult)[:] = mult

    def place(self, coef, lam, centre):
        """Set the slacks of a point (C, T), lam, and the central multipliers for them."""
        slack = self.slacks_at(np.asarray(coef), lam)
        self.put_rows(slack, centre / slack)

    def slacks_at(self, coef, lam):
        """The slacks of a point, as one vector."""
        return np.empty(0)

    def flow(self):
        """Multipliers on the differences of classes; None if the cone has none."""
        return None

    def gradient(self):
        """The gradient in M, (C, T), of the constraint times its multipliers."""
        return np.zeros((self.n_classes, 0))

    @kernel
    def prepare(self) -> None:
        """Compute the values that all directions from this point share."""
        invert(self.slack, self.inverse)
        invert(self.mult, self.dual_inverse)
        times(self.mult, self.inverse, self.spring)

    @kernel
    def complementarity(self) -> Real:
        return dot(self.slack, self.mult)

    @kernel
    def complementarity_after(self, turn: Count, primal: Real, dual: Real) -> Real:
        return dot_after(
            self.slack, self.mult, self.d_slack[turn], self.d_mult[turn], primal, dual
        )

    @kernel
    def aim(self, turn: Count, centre: Real) -> None:
        """Set the goal: the centre minus the second-order term of a predicted step."""
        second_order_goal(
            self.goal, self.exists, self.d_slack[turn], self.d_mult[turn], centre
        )

    @kernel
    def aim_at_once(self, centre: Real) -> None:
        """Set the goal: the centre for all rows."""
        i: Count
        for i in range(self.goal.shape[0]):
            self.goal[i] = centre * self.exists[i]

    @kernel
    def aim_at_present(self) -> None:
        """Set the goal: the products of slack and multiplier as they are."""
        times(self.slack, self.mult, self.goal)

    @kernel
    def recentre(
        self, turn: Count, centre: Real, primal: Real,
        dual: Real,
    ) -> None:  # fmt: skip
        pull_goal(
            self.goal, self.exists, self.slack, self.mult, self.d_slack[turn],
            self.d_mult[turn], centre, primal, dual,
        )  # fmt: skip

    @kernel
    def add_curvature(self, matrix: Table) -> None:
        """Add the curvature in (M, lam); without a constraint, this keeps lam fixed."""
        matrix[matrix.shape[0] - 1, matrix.shape[0] - 1] += 1.0

    @kernel
    def add_rhs(self, rhs: Vector) -> None:
        """Add the goal's part of the right-hand side in (M, lam)."""
        pass

    @kernel
    def find_slack_step(self, turn: Count, step: Vector) -> None:
        """Find the change of the slacks for a step of (M, lam)."""
        pass

    @kernel
    def find_step(self, turn: Count, step: Vector) -> None:
        self.find_slack_step(turn, step)
        find_mult_step(
            self.d_mult[turn], self.goal, self.inverse, self.mult, self.d_slack[turn]
        )

    @kernel
    def primal_length(self, turn: Count) -> Real:
        return longest(self.d_slack[turn], self.inverse, self.lanes)

    @kernel
    def dual_length(self, turn: Count) -> Real:
        return longest(self.d_mult[turn], self.dual_inverse, self.lanes)

    @kernel
    def barrier_after(self, turn: Count, length: Real) -> Real:
        """-sum log slack after a primal step."""
        return log_barrier(self.slack, self.d_slack[turn], length)

    @kernel
    def advance(self, turn: Count, primal: Real, dual: Real) -> None:
        move(self.slack, self.d_slack[turn], primal)
        move(self.mult, self.d_mult[turn], dual)


@cython.cclass
class Absent(Cone):
    """No constraint: lam has no effect, and its step is zero."""

    def __init__(self, n_classes, n_columns):
        Cone.__init__(self, n_classes, n_columns, 0)
        self._make_rows(0)


@cython.cclass
class Floor(Cone):
    """lam >= 0, for problems with label flips in which no feature can move."""

    def __init__(self, n_classes, n_columns):
        Cone.__init__(self, n_classes, n_columns, 0)
        self._make_rows(1)

    def slacks_at(self, coef, lam):
        return np.array([lam])

    @kernel
    def add_curvature(self, matrix: Table) -> None:
        matrix[matrix.shape[0] - 1, matrix.shape[0] - 1] += self.spring[0]

    @kernel
    def add_rhs(self, rhs: Vector) -> None:
        rhs[rhs.shape[0] - 1] += self.goal[0] * self.inverse[0]

    @kernel
    def find_slack_step(self, turn: Count, step: Vector) -> None:
        self.d_slack[turn, 0] = step[step.shape[0] - 1]


@cython.cclass
class LinearRows(Cone):
    """Rows of the caller's choice; the caller gives the change of their slacks."""

    def __init__(self, slack, mult):
        Cone.__init__(self, 0, 0, 0)
        self._make_rows(slack.size)
        self.put_rows(np.ravel(slack), np.ravel(mult))
        self.exists = np.asarray(np.ravel(mult) > 0, dtype=np.float64)
        self.degree = np.count_nonzero(self.exists)
