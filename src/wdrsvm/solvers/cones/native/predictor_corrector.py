r"""The engine of the interior point: a primal-dual point and Mehrotra's step.

Each iteration

1. forms and factorises the normal matrix,
2. predicts: the step to zero complementarity,
3. corrects: chooses the centre by the result of the prediction, and adds its second-order
   term,
4. recentres once more if that lengthens the step (Gondzio),
5. moves primal and dual variables as far as they stay positive.

All iterations run in one call, without Python's lock and without new memory, unless the
linear system is a Python object.
"""

from __future__ import annotations

import cython
import numpy as np
from cython.cimports.libc.math import fabs, isfinite

from wdrsvm.problem.certificate.gap import LEAST_SCALE

from ...runtime.blas import check_signals, multiply, multiply_rows, seconds
from ...runtime.kernel_names import (
    Count,
    Flag,
    Real,
    Small,
    Table,
    Vector,
    interruptible,
    kernel,
)
from .cone import Cone
from .rows import dot, move
from .samples import SampleRows
from .step_rules import StepRules
from .step_system import DenseSystem, GivenSystem, StepSystem

# Gaps are relative to the objective, or to this number if the objective is smaller.
LEAST_OBJECTIVE = cython.declare(Real, LEAST_SCALE)
# A step that restores multipliers changes the sum of products by less than this share.
SLIGHT = cython.declare(Real, 0.1)
# Seconds between checks for Ctrl-C: a person does not notice a shorter delay.
PATIENCE = cython.declare(Real, 0.1)


@cython.cclass
class PrimalDual(StepRules):
    """A primal-dual point: (coef, lam), the rows of the samples, and the norm's cone.

    ``gradient`` is the gradient in (coef, lam) of the objective without the samples' loss.
    The linear system may be ``given``; otherwise it is the normal matrix.
    """

    rows: SampleRows
    cone: Cone
    system: StepSystem
    n_classes: Count
    n_columns: Count
    # The factor on all terms of the objective.
    mass: Real
    columns: Table
    gradient: Vector
    point: Vector
    step: Table
    d_coef: Table
    on_coef: Table
    rhs: Vector
    lengths: Table
    # The product of slack and multiplier that the step aims at.
    centre: Real
    degree = cython.declare(Real, visibility="readonly")
    objective = cython.declare(Real, visibility="readonly")
    # The duality gap according to complementarity.
    gap = cython.declare(Real, visibility="readonly")

    def __init__(self, columns, rows: SampleRows, cone: Cone, gradient, mass, given=None):
        n_columns = len(columns)
        size = len(gradient)
        self.rows, self.cone, self.columns = rows, cone, columns
        self.n_classes, self.n_columns = rows.n_classes, n_columns
        self.mass = mass
        self.gradient, self.point = np.array(gradient), np.zeros(size)
        if given is None:
            self.system = DenseSystem(columns, rows, cone)
        else:
            self.system = GivenSystem(given)
        self.rhs = np.zeros(size)
        self.step, self.lengths = np.zeros((2, size)), np.zeros((2, 2))
        shape = self.n_classes, n_columns
        self.d_coef, self.on_coef = np.zeros(shape), np.zeros(shape)
        self.degree = np.count_nonzero(rows.existing) + cone.degree
        self.n_short_steps, self.step_share = 0, 1.0

    @property
    def coef(self):
        """A copy of the coefficients, (C, Q)."""
        return np.array(self.point[: self.n_classes * self.n_columns]).reshape(
            self.n_classes, self.n_columns
        )

    @property
    def lam(self):
        return self.point[self.point.shape[0] - 1]

    def put(self, coef, lam):
        np.asarray(self.point)[:] = np.append(coef, lam)
        self.measure()

    @property
    def is_stuck(self):
        """Whether rounding prevents progress."""
        return self.stuck(self.gap)

    def run(self, max_steps: Count, tol: Real):
        """Iterate until the gap is ``tol`` of the objective, the point is stuck, or the
        steps are used up.

        Returns one line per iteration: objective, gap, seconds since the call.
        """
        seen = np.empty((max_steps, 3))
        lines: Table = seen
        n_steps: Count = 0
        began: Real = seconds()
        last_look: Real = 0.0
        with cython.nogil:
            while n_steps < max_steps:
                self.iterate()
                self.measure()
                lines[n_steps, 0] = self.objective
                lines[n_steps, 1] = self.gap
                lines[n_steps, 2] = seconds() - began
                n_steps += 1
                if lines[n_steps - 1, 2] - last_look > PATIENCE:
                    last_look = lines[n_steps - 1, 2]
                    check_signals()
                if self.stuck(self.gap) or self.is_near(tol):
                    break
        return seen[:n_steps]

    def restore(self):
        """Bring the multipliers back to their equalities, which rounding has left.

        The step keeps all products of slack and multiplier as they are.  It is so short
        that its own rounding is far below that of the steps before.  A step that is not
        short is the fault of its linear system, and is not made.
        """
        with cython.nogil:
            self.prepare()
            self.rows.aim_at_share(1.0)
            self.cone.aim_at_present()
            self.direct(0)
            if self.has_numbers(0) and self.is_slight():
                self.advance(0)
            self.measure()

    @kernel
    def is_slight(self) -> Flag:
        """Whether the whole step changes the sum of all products by a small share."""
        change: Real = self.products_after(0, 1.0, 1.0) / self.products() - 1
        return self.is_whole(self.reach_of(0)) and fabs(change) < SLIGHT

    @kernel
    def is_near(self, tol: Real) -> Flag:
        return self.gap <= tol * max(self.objective, LEAST_OBJECTIVE)

    @kernel
    def measure(self) -> None:
        """Set the objective and the gap of the present point."""
        loss: Real = dot(self.rows.weight, self.rows.s)
        self.objective = (dot(self.gradient, self.point) + loss) / self.mass
        self.gap = self.products() / self.mass

    @kernel
    def products(self) -> Real:
        return self.rows.complementarity() + self.cone.complementarity()

    @kernel
    def products_after(self, turn: Count, primal: Real, dual: Real) -> Real:
        after: Real = self.rows.complementarity_after(turn, primal, dual)
        return after + self.cone.complementarity_after(turn, primal, dual)

    @interruptible
    def iterate(self) -> Small:
        """Make a predictor-corrector step with one corrector towards the centre.

        The point does not move if the direction has overflowed.
        """
        turn: Count = 0
        self.prepare()
        self.predict()
        self.rows.aim(0, self.centre)
        self.cone.aim(0, self.centre)
        self.direct(0)
        if not self.is_whole(self.reach_of(0)):
            self.recentre(self.centre)
            self.direct(1)
            turn = 1 if self.is_worth(self.reach_of(1), self.reach_of(0)) else 0
        if self.has_numbers(turn):
            self.advance(turn)
        else:
            self.give_up()
        return 0

    @interruptible
    def prepare(self) -> Small:
        """Form the linear system of the present point."""
        self.rows.prepare()
        self.cone.prepare()
        self.system.form()
        return 0

    @interruptible
    def predict(self) -> Small:
        """Choose the centre by the result of a step to zero complementarity."""
        now: Real = self.products()
        after: Real
        self.rows.aim_at_share(0.0)
        self.cone.aim_at_once(0.0)
        self.direct(0)
        after = self.products_after(
            0, min(1.0, self.lengths[0, 0]), min(1.0, self.lengths[0, 1])
        )
        self.centre = self.central(now, after, self.degree)
        return 0

    @kernel
    def recentre(self, centre: Real) -> None:
        """Set Gondzio's goal for a somewhat longer step."""
        primal: Real = self.longer(self.lengths[0, 0])
        dual: Real = self.longer(self.lengths[0, 1])
        self.rows.recentre(0, centre, primal, dual)
        self.cone.recentre(0, centre, primal, dual)

    @kernel
    def reach_of(self, turn: Count) -> Real:
        return self.reach(self.lengths[turn, 0], self.lengths[turn, 1])

    @kernel
    def has_numbers(self, turn: Count) -> Flag:
        i: Count
        for i in range(self.point.shape[0]):
            if not isfinite(self.step[turn, i]):
                return False
        return True

    @interruptible
    def direct(self, turn: Count) -> Small:
        """Find the Newton direction towards the goals, and its largest lengths."""
        i: Count
        d: Count
        lam: Count = self.point.shape[0] - 1
        self.rhs[lam] = self.rows.find_rhs(turn) - self.gradient[lam]
        multiply_rows(self.rows.scores, self.columns, self.on_coef)
        for i in range(self.n_classes):
            for d in range(self.n_columns):
                self.rhs[i * self.n_columns + d] = (
                    self.on_coef[i, d] - self.gradient[i * self.n_columns + d]
                )
        self.cone.add_rhs(self.rhs)
        self.system.solve(self.rhs, self.step[turn])
        for i in range(self.n_classes):
            for d in range(self.n_columns):
                self.d_coef[i, d] = self.step[turn, i * self.n_columns + d]
        multiply(self.d_coef, self.columns, self.rows.scores)
        self.rows.find_step(turn, self.step[turn, lam])
        self.cone.find_step(turn, self.step[turn])
        self.lengths[turn, 0] = min(
            self.rows.primal_length(), self.cone.primal_length(turn)
        )
        self.lengths[turn, 1] = min(self.rows.dual_length(), self.cone.dual_length(turn))
        return 0

    @kernel
    def advance(self, turn: Count) -> None:
        primal: Real = self.length(self.lengths[turn, 0])
        dual: Real = self.length(self.lengths[turn, 1])
        move(self.point, self.step[turn], primal)
        self.rows.advance(turn, primal, dual)
        self.cone.advance(turn, primal, dual)
        self.count(primal, dual)
