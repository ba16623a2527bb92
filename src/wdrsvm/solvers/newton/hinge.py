r"""Smoothing Newton: certified training at large N.

Each sample's maximum is smoothed to mu logsumexp(. / mu) (``native.softmax_pieces``).  Each
round

1. makes mu smaller, and the complementarity of the cone.  The gap that mu leaves falls like
   mu^2, because the smoothing changes only samples near a kink;
2. takes damped Newton steps (``steps``) until the decrease that they promise is small
   compared to this gap;
3. enlarges the sample of rows.  With a large mu few rows are enough.  The curvature is
   always a sum over a bounded number of rows;
4. once all rows are used, computes a certificate.  Its multipliers are the softmax weights.
   If most rows are near a kink, it tests whether a constant classifier is optimal.

If the requested gap is too small for smoothing, the polish follows: rows far from a kink
become one linear term, and the interior point solves the rest (``polish``).
"""

from __future__ import annotations

import numpy as np

from ...cached import cached_property
from ...problem import RobustProblem
from ...problem.certificate.gap import allowed_gap
from ..cones.choice import norm_multipliers
from ..interior_point.constant import best_constant
from ..result import History, Incumbent, SolverResult, SolverSettings, Start
from ..scaling import Scaling
from .polish import polish
from .settings import NEWTON
from .smoothed_risk import SmoothedRisk
from .smoothing import SoftmaxMultipliers
from .steps import NewtonSteps


def smoothing_newton(
    problem: RobustProblem, settings: SolverSettings, start: Start | None = None
) -> SolverResult:
    """Train to the requested gap; ``start`` replaces the origin as the first point."""
    problem = problem.without_idle_rows()
    with problem.reduction() as reduction:
        smoothed = SmoothedRisk.over(problem, Scaling.of(problem), reduction)
        return Rounds(problem, smoothed, settings).solve(start)


class Rounds:
    """The rounds of the method, the best point and the best bound so far."""

    newton: type[NewtonSteps] = NewtonSteps
    well_settled = NEWTON.well_settled

    def __init__(
        self, problem: RobustProblem, smoothed: SmoothedRisk, settings: SolverSettings
    ):
        self.problem, self.smoothed, self.settings = problem, smoothed, settings
        self.max_iter = NEWTON.max_iter if settings.max_iter is None else settings.max_iter
        self.rng = np.random.default_rng(settings.seed)
        self.history = History(settings.callback)
        shape = (problem.n_classes, problem.n_features)
        self.best = Incumbent(np.zeros(shape), np.zeros(problem.n_classes))

    def solve(self, start: Start | None) -> SolverResult:
        n_columns = max(self.smoothed.n_columns, 1)
        n_seen = NEWTON.rows_per_coefficient * self.problem.n_classes * n_columns
        first = self.smoothed if start else self._sample(n_seen)
        newton = self.newton(first, self.rng)
        if start is not None:
            newton.begin_at(start)
        while True:
            newton.settle(self.max_iter)
            on_all = newton.smoothed is self.smoothed
            limited = newton.n_iter >= self.max_iter
            if on_all and (limited or self._promising(newton)):
                newton.settle(self.max_iter, self.well_settled)
                self._certify(newton)
            elif on_all and newton.is_tied and not self.problem.rows.with_trust:
                self._try_constant(newton)
            self.history.add(newton.n_iter, newton.risk, self.best.dual_bound)
            if self._converged() or (on_all and (limited or newton.is_sharp)):
                break
            n_seen = int(n_seen / NEWTON.gap_factor)
            newton.sharpen(self._sample(n_seen))
        n_iter = newton.n_iter
        if not self._converged() and n_iter < self.max_iter:
            n_iter += self._finish(newton)
        stalled = n_iter < self.max_iter
        return self.best.result("newton", self.settings.tol, stalled, n_iter, self.history)

    def _sample(self, n_rows: int) -> SmoothedRisk:
        """The risk of so many random rows; of all rows if a sample would not save work."""
        n_entries = n_rows * self.problem.n_features
        if 2 * n_rows >= self.problem.n_rows or n_entries > NEWTON.max_sample_entries:
            return self.smoothed
        chosen = self.rng.choice(self.problem.n_rows, n_rows, replace=False, shuffle=False)
        return self.smoothed.on(np.sort(chosen))

    def _converged(self) -> bool:
        return self.best.certificate.holds(self.settings.tol)

    def _promising(self, newton: NewtonSteps) -> bool:
        return newton.gap <= allowed_gap(2 * self.settings.tol, newton.risk)

    def _certify(self, newton: NewtonSteps) -> None:
        at = self.smoothed.point(newton.coef, newton.lam, newton.mu)
        norm = norm_multipliers(newton.cone, self.smoothed.scaling, 1.0)
        multipliers = SoftmaxMultipliers(self.smoothed.smoothing, at, *norm)
        tol = self.settings.tol
        self.best.certify(self.problem, at.coef, at.intercept, multipliers, tol)

    def _try_constant(self, newton: NewtonSteps) -> None:
        """Try to prove that the best constant classifier is optimal.

        If it is, the smoothed classifiers are worse by the order of mu.  Their multipliers
        still prove the optimum, after steps towards the centre.
        """
        enough = allowed_gap(self.settings.tol, self.constant)
        if self.constant - newton.now.dual <= NEWTON.constant_hope * newton.gap:
            newton.centre = NEWTON.cone_share * enough / max(newton.degree, 1)
            newton.settle(self.max_iter, NEWTON.constant_settled)
            if self.constant - newton.now.dual <= enough:
                self._certify(newton)

    @cached_property
    def constant(self) -> float:
        """The risk of the best constant classifier, which is offered as a candidate."""
        intercept = best_constant(self.problem, self.smoothed.reduction)
        risk = self.problem.risk(np.zeros_like(self.best.coef), intercept)
        self.best.offer(np.zeros_like(self.best.coef), intercept, risk)
        return risk.value

    def _finish(self, newton: NewtonSteps) -> int:
        """Polish; returns the number of further iterations."""
        n_iter = polish(
            self.smoothed,
            newton.coef,
            newton.lam,
            newton.mu,
            self.best,
            self.settings.tol,
            range(newton.n_iter, self.max_iter),
            self.history,
        )
        if not self._converged():
            self._certify(newton)
        return n_iter
