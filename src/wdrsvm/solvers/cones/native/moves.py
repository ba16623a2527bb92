"""The operations of cones and samples for Python, for methods with Python loops."""

from __future__ import annotations

import cython
import numpy as np

from ...runtime.kernel_names import Count, Real, Table, Vector
from .cone import Cone
from .curvature import Curvature
from .linear_system import LinearSystem, fix_gauge
from .samples import SampleRows
from .step_rules import StepRules


@cython.cclass
class NormalSystem:
    """A symmetric positive system, given by its lower triangle."""

    system: LinearSystem

    def __init__(self, matrix):
        self.system = LinearSystem(len(matrix))
        np.asarray(self.system.matrix)[...] = matrix
        self.system.factorise()

    def solve(self, rhs: Vector):
        """The solution of one system."""
        solution = np.empty(len(rhs))
        self.system.solve(rhs, solution)
        return solution


def hold_gauge(matrix: Table, n_classes: Count, n_columns: Count, first: Count):
    """Call ``fix_gauge`` for a matrix of which only the lower triangle is used."""
    fix_gauge(matrix, n_classes, n_columns, first)


@cython.cclass
class Steps(StepRules):
    """The rules of Mehrotra's method, for points that Python moves."""

    def __init__(self):
        self.n_short_steps, self.step_share = 0, 1.0

    def centre(self, now: Real, after: Real, degree: Real):
        return self.central(now, after, degree)

    def lengths(self, primal: Real, dual: Real):
        """The lengths of a step with these largest lengths, which is taken note of."""
        primal, dual = self.length(primal), self.length(dual)
        self.count(primal, dual)
        return primal, dual

    def longer_lengths(self, primal: Real, dual: Real):
        """The lengths that a corrected step tries to reach."""
        return self.longer(primal), self.longer(dual)

    def reach_of(self, primal: Real, dual: Real):
        return self.reach(primal, dual)

    def goes_all_the_way(self, reach: Real):
        """Whether no correction lengthens a step that goes so far."""
        return bool(self.is_whole(reach))

    def is_longer(self, reach: Real, before: Real):
        """Whether a corrected step that goes so far is taken."""
        return bool(self.is_worth(reach, before))

    def stop(self):
        self.give_up()

    def is_stuck(self, gap: Real):
        return bool(self.stuck(gap))


@cython.cclass
class Moves:
    """The operations of a cone, for Python."""

    cone: Cone

    def __init__(self, cone: Cone):
        self.cone = cone

    def prepare(self):
        """Compute the values that all directions from this point share."""
        self.cone.prepare()

    def completed(self, matrix):
        """Add the cone's curvature to the samples' curvature in (coef, lam); factorise."""
        whole: Table = np.array(matrix)
        held = self.cone.n_touchable if self.cone.fixes_gauge else 0
        self.cone.prepare()
        self.cone.add_curvature(whole)
        fix_gauge(whole, self.cone.n_classes, self.cone.n_columns, held)
        return NormalSystem(np.asarray(whole))

    def curvature(self):
        """The cone's part of the normal matrix, as a lower triangle."""
        size = self.cone.n_classes * self.cone.n_columns + 1
        matrix: Table = np.zeros((size, size))
        self.cone.prepare()
        self.cone.add_curvature(matrix)
        return np.asarray(matrix)

    def targets(self):
        """The multipliers that reach the goal at unchanged slacks."""
        none = np.zeros(self.cone.slack.shape[0])
        self.find_given_step(none)
        return np.asarray(self.cone.d_mult[0]) + np.asarray(self.cone.mult)

    def find_given_step(self, change):
        """Find the step for a given change of the slacks."""
        none: Vector = self.cone.lanes
        np.asarray(self.cone.d_slack[0])[:] = np.ravel(change)
        self.cone.find_step(0, none)

    def aim(self, centre: Real):
        self.cone.aim_at_once(centre)

    def aim_after_step(self, centre: Real):
        """Set the goal: the centre minus the second-order term of the last step."""
        self.cone.aim(0, centre)

    def recentre(self, centre: Real, primal: Real, dual: Real):
        self.cone.recentre(0, centre, primal, dual)

    @property
    def goal(self):
        return np.array(self.cone.goal)

    @goal.setter
    def goal(self, goal):
        np.asarray(self.cone.goal)[:] = goal

    def with_goal(self, rhs: Vector):
        """A right-hand side plus the part of the goal."""
        whole: Vector = np.array(rhs)
        self.cone.add_rhs(whole)
        return np.asarray(whole)

    def find_step(self, step: Vector):
        """Find the cone's step for a step of (coef, lam)."""
        self.cone.find_step(0, step)

    @property
    def step(self):
        """The change of slacks and of multipliers."""
        return np.array(self.cone.d_slack[0]), np.array(self.cone.d_mult[0])

    @property
    def lengths(self):
        """The largest lengths of the step with positive slacks, and multipliers."""
        return self.cone.primal_length(0), self.cone.dual_length(0)

    @property
    def complementarity(self):
        return self.cone.complementarity()

    def complementarity_after(self, primal: Real, dual: Real):
        return self.cone.complementarity_after(0, primal, dual)

    def barrier_after(self, length: Real):
        """The barrier of the slacks after a primal step of that length."""
        return self.cone.barrier_after(0, length)

    def advance(self, primal: Real, dual: Real):
        self.cone.advance(0, primal, dual)


@cython.cclass
class SampleMoves:
    """The operations of the samples' rows; arrays are (kinds, C, N) or (C, N)."""

    rows: SampleRows

    def __init__(self, rows: SampleRows):
        self.rows = rows
        rows.prepare()

    def curvature(self):
        """The curvature of each sample in (z, lam), (N, C + 1, C + 1)."""
        lam = self.rows.n_classes
        found: Curvature = Curvature(np.ones((1, self.rows.n_samples)), lam)
        found.find(
            self.rows.spring, self.rows.sums, self.rows.price, self.rows.label,
            self.rows.prices_differ,
        )  # fmt: skip
        first, second = np.tril_indices(lam)
        whole = np.empty((self.rows.n_samples, lam + 1, lam + 1))
        whole[:, first, second] = whole[:, second, first] = np.asarray(found.pairs).T
        whole[:, :lam, lam] = whole[:, lam, :lam] = np.asarray(found.with_lam).T
        whole[:, lam, lam] = np.asarray(found.corner)
        return whole

    def rhs(self, target):
        """The part of target multipliers in z and lam, and the local steps of s and h."""
        np.asarray(self.rows.target)[...] = target
        on_lam = self.rows.find_rhs(0)
        local = np.array(self.rows.d_s[0]), np.array(self.rows.d_h[0])
        return np.array(self.rows.scores), on_lam, local

    def step(self, d_scores, d_lam: Real):
        """Steps of slacks, multipliers, s and h, and the largest step lengths.

        The target is that of the last right-hand side.
        """
        np.asarray(self.rows.scores)[...] = d_scores
        self.rows.find_step(0, d_lam)
        steps = np.array(self.rows.d_slack[0]), np.array(self.rows.d_mult[0])
        local = np.array(self.rows.d_s[0]), np.array(self.rows.d_h[0])
        return steps, local, (self.rows.primal_length(), self.rows.dual_length())
