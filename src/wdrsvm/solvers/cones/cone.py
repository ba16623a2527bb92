"""What all norm constraints are, and those without a norm.

A cone keeps its slacks and multipliers and makes the moves of a primal-dual method: a
goal, the right-hand side and curvature it puts on (M, lam), and the step that belongs to
a step of (M, lam).  Here ``M`` has shape (C, Q), of which the constraint sees the first T
columns: the touchable features, already divided by their costs.  (M, lam) is one vector;
of the normal matrix only the lower triangle is kept.  Of two steps one may be tried while
the other is kept: ``turn`` says which one is meant.
"""

import cython
import numpy as np

if not cython.compiled:
    from .rows import (
        LANES,
        dot,
        dot_after,
        fill,
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
    """A norm constraint on rows: slacks and multipliers that are positive one by one.

    ``degree`` counts its complementarity products, ``fixes_gauge`` says whether it tells M
    from M shifted by one vector in all classes.
    """

    degree = cython.declare(cython.Py_ssize_t, visibility="readonly")
    fixes_gauge = cython.declare(cython.bint, visibility="readonly")
    n_classes = cython.declare(cython.Py_ssize_t)
    n_columns = cython.declare(cython.Py_ssize_t)
    n_touchable = cython.declare(cython.Py_ssize_t)
    slack = cython.declare(cython.double[::1])
    mult = cython.declare(cython.double[::1])
    exists = cython.declare(cython.double[::1])
    inverse = cython.declare(cython.double[::1])
    dual_inverse = cython.declare(cython.double[::1])
    spring = cython.declare(cython.double[::1])
    goal = cython.declare(cython.double[::1])
    d_slack = cython.declare(cython.double[:, ::1])
    d_mult = cython.declare(cython.double[:, ::1])
    lanes = cython.declare(cython.double[::1])

    def __init__(
        self, n_classes: cython.Py_ssize_t, n_columns: cython.Py_ssize_t,
        n_touchable: cython.Py_ssize_t,
    ):  # fmt: skip
        self.n_classes, self.n_columns = n_classes, n_columns
        self.n_touchable = n_touchable
        self.fixes_gauge = False

    def _make_rows(self, n_rows: cython.Py_ssize_t):
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
        """Slacks of a point (C, T), lam, with the multipliers that are central for them."""
        slack = self.slacks_at(np.asarray(coef), lam)
        self.put_rows(slack, centre / slack)

    def slacks_at(self, coef, lam):
        """The slacks of a point, as one vector."""
        return np.empty(0)

    def flow(self):
        """Multipliers on the differences of classes, if the cone has such."""
        return None

    def gradient(self):
        """What the multipliers pull on M, (C, T)."""
        return np.zeros((self.n_classes, 0))

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def prepare(self) -> cython.void:
        """What all directions from this point need."""
        invert(self.slack, self.inverse)
        invert(self.mult, self.dual_inverse)
        times(self.mult, self.inverse, self.spring)

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def complementarity(self) -> cython.double:
        return dot(self.slack, self.mult)

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def complementarity_after(
        self, turn: cython.Py_ssize_t, primal: cython.double, dual: cython.double
    ) -> cython.double:
        return dot_after(
            self.slack, self.mult, self.d_slack[turn], self.d_mult[turn], primal, dual
        )

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def aim(self, turn: cython.Py_ssize_t, centre: cython.double) -> cython.void:
        """A goal: the centre, less the second-order term of a predicted step."""
        second_order_goal(
            self.goal, self.exists, self.d_slack[turn], self.d_mult[turn], centre
        )

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def aim_at_once(self, centre: cython.double) -> cython.void:
        """The centre everywhere."""
        fill(self.goal, centre)

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def recentre(
        self, turn: cython.Py_ssize_t, centre: cython.double, primal: cython.double,
        dual: cython.double,
    ) -> cython.void:  # fmt: skip
        pull_goal(
            self.goal, self.exists, self.slack, self.mult, self.d_slack[turn],
            self.d_mult[turn], centre, primal, dual,
        )  # fmt: skip

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def add_curvature(self, matrix: cython.double[:, ::1]) -> cython.void:
        """Add the curvature in (M, lam), which keeps lam where nothing else does."""
        matrix[matrix.shape[0] - 1, matrix.shape[0] - 1] += 1.0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def add_rhs(self, rhs: cython.double[::1]) -> cython.void:
        """Add what the goal puts on (M, lam)."""
        pass

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def find_slack_step(
        self, turn: cython.Py_ssize_t, step: cython.double[::1]
    ) -> cython.void:
        """The change of the slacks that belongs to a step of (M, lam)."""
        pass

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def find_step(self, turn: cython.Py_ssize_t, step: cython.double[::1]) -> cython.void:
        self.find_slack_step(turn, step)
        find_mult_step(
            self.d_mult[turn], self.goal, self.inverse, self.mult, self.d_slack[turn]
        )

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def primal_length(self, turn: cython.Py_ssize_t) -> cython.double:
        return longest(self.d_slack[turn], self.inverse, self.lanes)

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def dual_length(self, turn: cython.Py_ssize_t) -> cython.double:
        return longest(self.d_mult[turn], self.dual_inverse, self.lanes)

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def barrier_after(
        self, turn: cython.Py_ssize_t, length: cython.double
    ) -> cython.double:
        """-sum log slack after a primal step."""
        return log_barrier(self.slack, self.d_slack[turn], length)

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def advance(
        self, turn: cython.Py_ssize_t, primal: cython.double, dual: cython.double
    ) -> cython.void:
        move(self.slack, self.d_slack[turn], primal)
        move(self.mult, self.d_mult[turn], dual)


@cython.cclass
class Absent(Cone):
    """No constraint: nothing is priced by lam, and its step is kept at zero."""

    def __init__(self, n_classes, n_columns):
        Cone.__init__(self, n_classes, n_columns, 0)
        self._make_rows(0)


@cython.cclass
class Floor(Cone):
    """lam >= 0, where no feature can be moved but labels can be flipped."""

    def __init__(self, n_classes, n_columns):
        Cone.__init__(self, n_classes, n_columns, 0)
        self._make_rows(1)

    def slacks_at(self, coef, lam):
        return np.array([lam])

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def add_curvature(self, matrix: cython.double[:, ::1]) -> cython.void:
        matrix[matrix.shape[0] - 1, matrix.shape[0] - 1] += self.spring[0]

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def add_rhs(self, rhs: cython.double[::1]) -> cython.void:
        rhs[rhs.shape[0] - 1] += self.goal[0] * self.inverse[0]

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def find_slack_step(
        self, turn: cython.Py_ssize_t, step: cython.double[::1]
    ) -> cython.void:
        self.d_slack[turn, 0] = step[step.shape[0] - 1]
