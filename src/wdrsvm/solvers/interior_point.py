r"""Structured primal-dual interior point: exact training at small and medium size.

Solves the compact program (3C - 1 rows a sample)

    min  eps lam + sum_n w_n s_n
    s_n >= 0,  s_n >= 1 + z_nj - z_ny,  h_n >= z_nj,  s_n >= 1 + h_n - z_nc - lam k_nc,
    lam >= ||M_i - M_j||_*

by Mehrotra's predictor-corrector method.  s and h are eliminated sample by sample
(``sample_rows``), the norm contributes its own block (``norm_cones``), and what is left is
one dense system of size C Q + 1.  Each iteration

1. forms and factorises the normal matrix,
2. predicts: the step to zero complementarity,
3. corrects: recentres by what the prediction achieved, with the second-order term,
4. recentres once more where that lengthens the step (Gondzio),
5. moves primal and dual as far as each stays positive,
6. near the end, asks the certificate whether the gap asked for is reached.

The intercept is one more column that the adversary cannot move.  The iterates stay primal
feasible; the point returned is the analytic centre of the solutions within the gap, never
a vertex of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..problem import Multipliers, RobustProblem, dual_bound
from . import sample_rows
from .complementarity import Lengths, Rows, RowStep
from .cones import Cone, norm_multipliers, normal_system, starting_cone
from .result import (
    History,
    Incumbent,
    SolverResult,
    SolverSettings,
    SolverStatus,
    Start,
)
from .scaling import Scaling

Floats = NDArray[np.float64]

MAX_ITER = 200
# A step goes this share of the way to the boundary.
STEP_SHARE = 0.995
SHORT_STEP = 1e-3
# Centrality correctors an iteration, and the extra length each must promise.
MAX_CORRECTORS = 1
LONGER = 0.08


@dataclass(frozen=True, eq=False)
class ScaledData:
    """The problem in the solver's units; weights sum to N, so that multipliers are of
    order one."""

    scaling: Scaling
    X: Floats
    kappa: Floats
    weight: Floats
    radius: float

    @classmethod
    def of(cls, problem: RobustProblem) -> ScaledData:
        scaling = Scaling.of(problem)
        return cls(
            scaling=scaling,
            X=scaling.design(problem.X),
            kappa=problem.attainable_flip_cost() / scaling.unit,
            weight=problem.weight * problem.n_rows,
            radius=problem.radius / scaling.unit * problem.n_rows,
        )

    @property
    def n_touchable(self) -> int:
        return self.scaling.n_touchable

    def multipliers(self, mult: Floats, cone: Cone) -> Multipliers:
        """Multipliers of the solver as the problem's."""
        n_rows = len(self.weight)
        alpha, beta, phi = mult / n_rows
        return Multipliers(alpha, phi, beta, *norm_multipliers(cone, self.scaling, n_rows))


class Step(NamedTuple):
    """A direction in all variables, with the goals it was computed for."""

    coef: Floats
    lam: float
    s: Floats
    h: Floats
    rows: RowStep
    cone: Any
    row_goal: Floats
    cone_goal: Any
    lengths: Lengths

    @property
    def reach(self) -> float:
        return min(1.0, self.lengths.primal) + min(1.0, self.lengths.dual)


class Iterate:
    """A primal-dual point: coef (C, Q), lam, s, h, the samples' rows, the norm's cone."""

    def __init__(self, problem: RobustProblem):
        self.data = data = ScaledData.of(problem)
        self.y = problem.y
        self.coef = np.zeros((problem.n_classes, data.X.shape[1]))
        self.cone, self.lam = starting_cone(
            problem, data.scaling, data.kappa, data.radius, centre=1.0
        )
        slack, mult, self.s, self.h = sample_rows.start_rows(
            data.weight, data.kappa, self.y, self.lam
        )
        self.rows = Rows(slack, mult)
        self.degree = np.count_nonzero(self.rows.exists) + self.cone.degree
        self.n_short_steps = 0

    @property
    def objective(self) -> float:
        return self.data.radius * self.lam + float(self.data.weight @ self.s)

    def complementarity(self) -> float:
        return self.rows.complementarity() + self.cone.complementarity()

    @property
    def is_stuck(self) -> bool:
        """Whether rounding has taken over: five steps in a row led nowhere, or
        complementarity is past what numbers of this size can tell."""
        return self.n_short_steps >= 5 or self.is_within(1e-15)

    def is_within(self, tol: float) -> bool:
        """Whether complementarity alone would allow the relative gap ``tol``."""
        return self.complementarity() <= tol * max(self.objective, 1e-2 * len(self.y))

    def predictor_corrector(self) -> None:
        """One iteration."""
        self._factorise()
        now = self.complementarity()
        predicted = self._direct(self.rows.goal(0.0), self.cone.goal(0.0))
        reached = self._complementarity_after(predicted, _capped(predicted.lengths, 1.0))
        centre = min(reached / now, 1.0) ** 3 * now / self.degree
        step = self._direct(
            self.rows.goal(centre, predicted.rows), self.cone.goal(centre, predicted.cone)
        )
        step = self._recentred(step, centre)
        by = _capped(step.lengths, STEP_SHARE)
        self._advance(step, by)
        self.n_short_steps = self.n_short_steps + 1 if min(by) < SHORT_STEP else 0

    def _factorise(self) -> None:
        data, rows = self.data, self.rows
        self.spring = rows.spring
        curvature, self.sums = sample_rows.eliminate(self.spring, data.kappa, self.y)
        matrix = sample_rows.weighted_gram(curvature, data.X)
        self.system = normal_system(matrix, self.cone, self.coef.shape, data.n_touchable)

    def _direct(self, row_goal: Floats, cone_goal: Any) -> Step:
        """The Newton direction towards the goals."""
        data, rows = self.data, self.rows
        target = row_goal / rows.slack
        rhs, rhs_lam, local = sample_rows.reduced_rhs(
            target, self.spring, self.sums, data.kappa, self.y, data.weight
        )
        cone_rhs, cone_lam = self.cone.rhs(cone_goal)
        coef_rhs = rhs.T @ data.X
        coef_rhs[:, : data.n_touchable] += cone_rhs
        solution = self.system.solve(np.append(coef_rhs, rhs_lam + cone_lam - data.radius))
        d_coef, d_lam = solution[:-1].reshape(self.coef.shape), float(solution[-1])
        d_slack, d_mult, d_s, d_h = sample_rows.step_rows(
            data.X @ d_coef.T, d_lam, local, target,
            rows.slack, rows.mult, self.spring, self.sums, data.kappa, self.y,
        )  # fmt: skip
        row_step = RowStep(d_slack, d_mult)
        cone_step = self.cone.step_for(cone_goal, d_coef[:, : data.n_touchable], d_lam)
        lengths = self.cone.lengths(cone_step).meet(rows.lengths(row_step))
        return Step(
            d_coef, d_lam, d_s, d_h, row_step, cone_step, row_goal, cone_goal, lengths
        )

    def _recentred(self, step: Step, centre: float) -> Step:
        """Gondzio's correctors: keep each that lengthens the step, stop at the first
        that does not."""
        for _ in range(MAX_CORRECTORS):
            if step.reach >= 2.0:
                break
            aspired = _capped(Lengths(*(x + LONGER for x in step.lengths)), 1 + LONGER)
            trial = self._direct(
                self.rows.recentred(step.row_goal, step.rows, centre, aspired),
                self.cone.recentred(step.cone_goal, step.cone, centre, aspired),
            )
            if trial.reach < step.reach + LONGER / 8:
                break
            step = trial
        return step

    def _complementarity_after(self, step: Step, by: Lengths) -> float:
        after = self.rows.complementarity_after(step.rows, by)
        return after + self.cone.complementarity_after(step.cone, by)

    def _advance(self, step: Step, by: Lengths) -> None:
        self.coef = self.coef + by.primal * step.coef
        self.lam += by.primal * step.lam
        self.s = self.s + by.primal * step.s
        self.h = self.h + by.primal * step.h
        self.rows.advance(step.rows, by)
        self.cone.advance(step.cone, by)


def _capped(lengths: Lengths, share: float) -> Lengths:
    return Lengths(min(1.0, share * lengths.primal), min(1.0, share * lengths.dual))


def interior_point(
    problem: RobustProblem, settings: SolverSettings, start: Start | None = None
) -> SolverResult:
    """Train to the gap asked for.  ``start`` is not used: the method starts centrally."""
    iterate = Iterate(problem)
    best = Incumbent(*iterate.data.scaling.original(iterate.coef))
    history = History(settings.callback)
    max_iter = MAX_ITER if settings.max_iter is None else settings.max_iter
    status, n_iter = SolverStatus.MAX_ITER, 0
    while n_iter < max_iter:
        n_iter += 1
        iterate.predictor_corrector()
        if iterate.is_stuck or n_iter == max_iter or iterate.is_within(2 * settings.tol):
            _judge(problem, iterate, best)
        history.add(n_iter, iterate.objective / problem.n_rows, best.dual_bound)
        if best.certificate.holds(settings.tol):
            status = SolverStatus.CONVERGED
            break
        if iterate.is_stuck:
            status = SolverStatus.STALLED
            break
    return best.result("interior-point", status, n_iter, history)


def _judge(problem: RobustProblem, iterate: Iterate, best: Incumbent) -> None:
    """Let the certificate judge the iterate."""
    coef, intercept = iterate.data.scaling.original(iterate.coef)
    best.offer(coef, intercept, problem.risk(coef, intercept))
    multipliers = iterate.data.multipliers(iterate.rows.mult, iterate.cone)
    best.raise_bound(dual_bound(problem, multipliers), multipliers)
