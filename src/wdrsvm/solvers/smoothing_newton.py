r"""Smoothing Newton: certified training at large N.

Each sample's maximum is smoothed to mu logsumexp(. / mu) (``soft_rows``); the norm
constraint keeps its primal-dual cone (``norm_cones``).  The state is (M, b, lam) and the
cone, so one pass over the rows returns all that a step needs.  The rounds

1. cut mu, and the cone's complementarity with the gap that mu leaves, which falls like
   mu^2: only samples near a kink feel the smoothing;
2. take damped Newton steps until their promise is small beside that gap;
3. enlarge the sample of rows: early rounds see only as many as their mu can tell apart,
   and curvature is always summed over a bounded number of rows that have any;
4. on all rows, ask the certificate, whose multipliers are the softmax weights;
5. where the gap asked for is finer than smoothing can deliver, polish: rows far from a
   kink become one linear term, the interior point solves the rest.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..problem import RobustProblem, lipschitz
from .complementarity import Lengths
from .cones import norm_multipliers, normal_system, starting_cone
from .passes import Passes
from .polish import polish
from .result import (
    History,
    Incumbent,
    SolverResult,
    SolverSettings,
    SolverStatus,
    Start,
)
from .scaling import Scaling
from .smoothing import SoftmaxMultipliers

Floats = NDArray[np.float64]

FIRST_MU = 0.5
LAST_MU = 1e-5
MU_FACTOR = 0.4
# The gap left by smoothing falls with the square of mu.
GAP_FACTOR = MU_FACTOR**2
MAX_STEPS_A_ROUND = 50
MAX_ITER = 500
# Rows a coefficient that a round's sample, and its curvature, should have.
ROWS_A_COEFFICIENT = 30
MAX_SAMPLE_ENTRIES = 8_000_000
STEP_SHARE = 0.99
MAX_TRIALS = 30
# A step that is too long is cut to a share of itself between these.
SHORTEST, LONGEST = 0.25, 0.5
# A merit that rises by no more than this share has not risen.
ROUNDING = 1e-15
# Steps have settled when they promise this share of the gap; the cone's is this one.
SETTLED = 0.05
WELL_SETTLED = 1e-5
CONE_SHARE = 0.1
FIRST_CENTRE = 1e-3
WARM_MU = 0.03
WARM_SLACK = 1e-2
# Without a budget flips are free or impossible: there is no price to start from.
NO_PRICES = np.empty(0)
# Below this many rows near a kink, a coefficient, rounds end and the polish begins.
SOFT_ROWS_A_COEFFICIENT = 4


class Newton:
    """The state of the method and its steps."""

    step_share = STEP_SHARE

    def __init__(self, passes: Passes, rng: np.random.Generator):
        problem, scaling = passes.problem, passes.scaling
        centre = FIRST_CENTRE
        self.passes, self.rng = passes, rng
        self.radius = problem.radius / scaling.unit
        self.coef = np.zeros((problem.n_classes, scaling.n_columns))
        self.cone, self.lam = starting_cone(
            problem.norm,
            problem.n_classes,
            scaling.n_touchable,
            NO_PRICES,
            self.radius,
            centre,
        )
        self.mu, self.centre = FIRST_MU, centre
        self.max_curvature_rows = ROWS_A_COEFFICIENT * self.coef.size
        self.n_iter = 0
        self._look()

    def begin_at(self, start: Start) -> None:
        """Move to a given point, at a mu from which it is not far to its neighbours."""
        scaling, n_touchable = self.passes.scaling, self.passes.scaling.n_touchable
        self.coef = scaling.scaled(start.coef, start.intercept)
        touchable = self.coef[:, :n_touchable]
        problem = self.passes.problem
        if problem.norm == "l1":  # the gauge in which its box holds
            touchable -= (touchable.max(axis=0) + touchable.min(axis=0)) / 2
        steepest = lipschitz(start.coef, problem.norm, problem.attainable_feature_cost())
        self.lam = scaling.unit * max(start.lam, steepest) * (1 + WARM_SLACK) + WARM_SLACK
        self.mu = WARM_MU
        self._look()
        self.centre = self._share_of_gap()
        self.cone.place(touchable, self.lam, self.centre)

    def _look(self) -> None:
        self.now = self.passes.evaluate(self.coef, self.lam, self.mu)

    @property
    def risk(self) -> float:
        """The smoothed risk, an upper bound of the risk on the rows seen."""
        return self.radius * self.lam + self.now.loss

    @property
    def gap(self) -> float:
        """What smoothing and centring leave of the gap, once the steps have settled."""
        return self.risk - self.now.dual

    @property
    def is_sharp(self) -> bool:
        """Whether too few rows are near a kink for their curvature to guide steps."""
        few = self.now.n_soft < SOFT_ROWS_A_COEFFICIENT * self.coef.size
        return few or self.mu < LAST_MU

    def sharpen(self, passes: Passes) -> None:
        """Start the next round: smaller mu and centre, perhaps more rows."""
        self.passes = passes
        self.mu *= MU_FACTOR
        self.centre = GAP_FACTOR * self._share_of_gap()
        self._look()

    def _share_of_gap(self) -> float:
        """The complementarity that adds little to the gap.

        Before the steps have settled the gap is only a guess, and may be negative.
        """
        gap = max(self.gap, self.mu**2 * self.risk)
        return CONE_SHARE * gap / max(self.cone.degree, 1)

    def settle(self, max_iter: int, share: float = SETTLED) -> None:
        """Newton steps until they promise only a share of the gap, or lead nowhere."""
        for _ in range(MAX_STEPS_A_ROUND):
            if self.n_iter >= max_iter:
                break
            self.n_iter += 1
            promise = self._step()
            if not promise > share * self.gap:
                break

    def _step(self) -> float:
        """A damped Newton step; returns the decrease that it promised, 0 if it failed."""
        data = self.passes.scaling
        matrix = self._curvature()
        system = normal_system(matrix, self.cone, self.coef.shape, data.n_touchable)
        goal = self.cone.goal(self.centre)
        cone_rhs, cone_lam = self.cone.rhs(goal)
        rhs = -self.now.gradient
        rhs[:, : data.n_touchable] += cone_rhs
        rhs = np.append(rhs, self.now.on_flips - self.radius + cone_lam)
        step = system.solve(rhs)
        d_coef, d_lam = step[:-1].reshape(self.coef.shape), float(step[-1])
        cone_step = self.cone.step_for(goal, d_coef[:, : data.n_touchable], d_lam)
        promise = float(rhs @ step) / 2
        moved = self._search(d_coef, d_lam, cone_step, 2 * promise)
        return promise if moved else 0.0

    def _curvature(self) -> Floats:
        return self._curvature_of(min(1.0, self.max_curvature_rows / self._n_soft))

    @property
    def _n_soft(self) -> int:
        return max(self.now.n_soft, 1)

    def _curvature_of(self, share: float) -> Floats:
        """The samples' curvature, told by a share of those that have any."""
        seed = int(self.rng.integers(2**32)) if share < 1 else 0
        at = self.coef, self.lam, self.mu
        return self.passes.curvature(*at, self.now, share, seed)

    def _search(self, d_coef: Floats, d_lam: float, cone_step: Any, decline: float) -> bool:
        """Go along the step, shorter and shorter, until the barrier function falls.

        ``decline`` is its slope at the start, which a parabola through the last trial
        takes up.
        """
        lengths = self.cone.lengths(cone_step)
        length = min(1.0, self.step_share * lengths.primal)
        dual = min(1.0, self.step_share * lengths.dual)
        coef, lam = self.coef, self.lam
        merit = self._merit_after(cone_step, 0.0)
        for _ in range(MAX_TRIALS):
            self.coef, self.lam = coef + length * d_coef, lam + length * d_lam
            self._look()
            rise = self._merit_after(cone_step, length) - merit
            if rise <= ROUNDING * abs(merit):
                self.cone.advance(cone_step, Lengths(length, dual))
                return True
            lowest = decline * length / (2 * (rise + decline * length))
            length *= min(max(lowest, SHORTEST), LONGEST)
        self.coef, self.lam = coef, lam
        self._look()
        return False

    def _merit_after(self, cone_step: Any, length: float) -> float:
        """The barrier function at the present point, the cone having gone ``length``."""
        barrier = self.cone.barrier_after(cone_step, length)
        return self.radius * self.lam + self.now.merit + self.centre * barrier


def smoothing_newton(
    problem: RobustProblem, settings: SolverSettings, start: Start | None = None
) -> SolverResult:
    """Train to the gap asked for; ``start`` replaces the origin as the first point."""
    problem = problem.without_idle_rows()
    with problem.sweeps() as sweeps:
        passes = Passes.over(problem, Scaling.of(problem), sweeps)
        return Rounds(problem, passes, settings).solve(start)


class Rounds:
    """The rounds of the method, the best point and the best bound so far."""

    newton: type[Newton] = Newton
    well_settled = WELL_SETTLED

    def __init__(self, problem: RobustProblem, passes: Passes, settings: SolverSettings):
        self.problem, self.passes, self.settings = problem, passes, settings
        self.max_iter = MAX_ITER if settings.max_iter is None else settings.max_iter
        self.rng = np.random.default_rng(settings.seed)
        self.history = History(settings.callback)
        shape = (problem.n_classes, problem.n_features)
        self.best = Incumbent(np.zeros(shape), np.zeros(problem.n_classes))

    def solve(self, start: Start | None) -> SolverResult:
        n_columns = max(self.passes.scaling.n_columns, 1)
        n_seen = ROWS_A_COEFFICIENT * self.problem.n_classes * n_columns
        first = self.passes if start else self._sample(n_seen)
        newton = self.newton(first, self.rng)
        if start is not None:
            newton.begin_at(start)
        while True:
            newton.settle(self.max_iter)
            on_all = newton.passes is self.passes
            limited = newton.n_iter >= self.max_iter
            if on_all and (limited or self._promising(newton)):
                newton.settle(self.max_iter, self.well_settled)
                self._judge(newton)
            self.history.add(newton.n_iter, newton.risk, self.best.dual_bound)
            if self._converged() or (on_all and (limited or newton.is_sharp)):
                break
            n_seen = int(n_seen / GAP_FACTOR)
            newton.sharpen(self._sample(n_seen))
        n_iter = newton.n_iter
        if not self._converged() and n_iter < self.max_iter:
            n_iter += self._finish(newton)
        status = SolverStatus.CONVERGED if self._converged() else self._failure(n_iter)
        return self.best.result("newton", status, n_iter, self.history)

    def _failure(self, n_iter: int) -> SolverStatus:
        limited = n_iter >= self.max_iter
        return SolverStatus.MAX_ITER if limited else SolverStatus.STALLED

    def _sample(self, n_rows: int) -> Passes:
        """Passes over that many rows, all if they are not many more or a copy too large."""
        n_entries = n_rows * self.problem.n_features
        if 2 * n_rows >= self.problem.n_rows or n_entries > MAX_SAMPLE_ENTRIES:
            return self.passes
        chosen = self.rng.choice(self.problem.n_rows, n_rows, replace=False, shuffle=False)
        return self.passes.on(np.sort(chosen))

    def _converged(self) -> bool:
        return self.best.certificate.holds(self.settings.tol)

    def _promising(self, newton: Newton) -> bool:
        return newton.gap <= 2 * self.settings.tol * max(newton.risk, 1e-2)

    def _judge(self, newton: Newton) -> None:
        at = self.passes.point(newton.coef, newton.lam, newton.mu)
        norm = norm_multipliers(newton.cone, self.passes.scaling, 1.0)
        multipliers = SoftmaxMultipliers(self.passes.smoothing, at, *norm)
        tol = self.settings.tol
        self.best.judge(self.problem, at.coef, at.intercept, multipliers, tol)

    def _finish(self, newton: Newton) -> int:
        """Polish; returns the number of further iterations."""
        n_iter = polish(
            self.passes,
            newton.coef,
            newton.lam,
            newton.mu,
            self.best,
            self.settings.tol,
            range(newton.n_iter, self.max_iter),
            self.history,
        )
        if not self._converged():
            self._judge(newton)
        return n_iter
