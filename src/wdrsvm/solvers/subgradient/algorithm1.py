r"""Algorithm 1 of the paper, corrected: projected subgradients on (M, b, lam).

    F(M, b, lam) = radius lam + sum_n w_n max( l(z_n, y_n), max_c l(z_n, c) - lam k[n, c] )

over lam >= ||(M_i - M_j) / feature_cost||_*.  For sample n let c be the label whose piece
is largest and j the class that wins against it.  An iteration t

1. evaluates: one pass finds the active pieces, which give F and a subgradient,
       d_lam = radius - sum_n w_n k[n, c] [c != y_n],    d_M = sum_n w_n (e_j - e_c) x_n',
   d_b likewise without x_n (the paper prints radius + k sum_n and leaves out w_n);
2. steps against the subgradient.  The length is sigma_0 / t, sigma_0 / sqrt(t), or Polyak's
   step to a target value between the best bound and the best value;
3. projects on the constraint, exactly (``problem.projections``);
4. computes a certificate, at iterations that grow by a factor.  The multipliers are the
   active pieces, averaged over the iterations since the last certificate.

The best iterate is kept.  The average of the iterates is a further candidate.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Protocol

import numpy as np

from ...problem import Multipliers, RobustProblem
from ...problem.projections import project
from ..result import History, Incumbent, SolverResult, SolverSettings, Start
from .active_pieces import ActiveRows, ParameterVector
from .kernels import count_pieces
from .settings import SubgradientSettings

__all__ = ["STEP_RULES", "SubgradientSettings", "subgradient"]


class SubgradientDescent:
    """The iterate, its mean, and the multipliers collected since the last certificate."""

    def __init__(
        self, problem: RobustProblem, settings: SubgradientSettings, start: Start | None
    ):
        self.problem, self.settings = problem, settings
        self.rows = ActiveRows(problem)
        self.cost = problem.attainable_feature_cost()
        self.at = self._begin(start)
        self.best = self.mean = self.at
        self.best_value = np.inf
        self.rule: StepRule = STEP_RULES[settings.step_rule](settings)
        self.last_length = 1.0
        self._collect_anew()

    def _begin(self, start: Start | None) -> ParameterVector:
        n_classes = self.problem.n_classes
        if start is None:
            zeros = np.zeros((n_classes, self.problem.n_features))
            return ParameterVector(zeros, np.zeros(n_classes), 0.0)
        return self._projected(ParameterVector(start.coef, start.intercept, start.lam))

    def _projected(self, to: ParameterVector) -> ParameterVector:
        norm, rtol = self.problem.ball.norm, self.settings.projection_rtol
        lam, coef = project(to.lam, to.coef, norm, self.cost, rtol)
        return ParameterVector(coef, to.intercept, lam)

    def _tangent(self, slope: ParameterVector) -> ParameterVector:
        """The part of a subgradient that does not point out of the feasible set.

        The projection undoes the other part.  Without it a step has the same descent, and
        Polyak's step is longer.
        """
        short = self.last_length * self.settings.tangent_share or 1.0
        there = self._projected(self.at.plus(-short, slope))
        return self.at.plus(-1.0, there).times(1.0 / short)

    def _collect_anew(self) -> None:
        self.counts = np.zeros((3, self.problem.n_rows, self.problem.n_classes))
        self.pushed, self.collected = np.zeros_like(self.at.coef), 0.0

    def iterate(self, t: int, bound: float) -> None:
        """Evaluate, step and project; keep the best point and the mean."""
        looked = self.rows.look(self.at)
        if looked.value < self.best_value:
            self.best, self.best_value = self.at, looked.value
        downhill = self._tangent(looked.slope) if self.rule.along_set else looked.slope
        length = self.rule.length(t, looked.value, downhill.square, bound)
        moved = self._projected(self.at.plus(-length, downhill))
        self.pushed += moved.coef - self.at.coef + length * looked.slope.coef
        self.collected += length
        self.at, self.last_length = moved, length
        self.mean = self.mean.plus(2.0 / (t + 1), self.at.plus(-1.0, self.mean))
        count_pieces(self.rows.pieces, self.problem.y, length, self.counts)

    def _multipliers(self) -> Multipliers:
        alpha, phi, beta = self.counts
        # The changes by the projection are the norm's part of the gradient.
        return Multipliers(alpha, phi, beta, gradient=self.pushed / self.collected)

    def offer(self, best: Incumbent) -> None:
        """Offer the best point, the last point and the mean as classifiers."""
        points = [self.best, self.at] + [self.mean] * self.settings.average
        for point in points:
            risk = self.problem.risk(point.coef, point.intercept)
            best.offer(point.coef, point.intercept, risk)

    def certify(self, best: Incumbent) -> None:
        """Offer points and multipliers, and start a new average of multipliers."""
        self.offer(best)
        if self.settings.certify and self.collected > 0:
            tol = self.settings.tol
            best.certify(self.problem, best.coef, best.intercept, self._multipliers(), tol)
        self._collect_anew()


class StepRule(Protocol):
    """Length of a step; with ``along_set`` steps follow the tangent of the set."""

    along_set: bool

    def length(self, t: int, value: float, square: float, bound: float) -> float: ...


class Harmonic:
    """sigma_0 / t, the paper's rule."""

    along_set = False

    def __init__(self, settings: SubgradientSettings):
        self.settings, self.step0 = settings, settings.step0 or 1.0

    def length(self, t: int, value: float, square: float, bound: float) -> float:
        return self.step0 / t


class Root(Harmonic):
    """sigma_0 / sqrt(t)."""

    def length(self, t: int, value: float, square: float, bound: float) -> float:
        return float(self.step0 / np.sqrt(t))


class Polyak(Harmonic):
    """(F - target) / ||subgradient||^2.

    The target is the best value minus a slack, but at least the best bound.  The slack
    grows whenever the value falls by half of it.  It is halved if the value does not fall
    so far for some iterations.
    """

    along_set = True

    def __init__(self, settings: SubgradientSettings):
        super().__init__(settings)
        self.lowest = self.reference = self.slack = np.inf
        self.waited = 0

    def length(self, t: int, value: float, square: float, bound: float) -> float:
        if np.isinf(self.slack):
            self.reference, self.slack = value, value / 2
        self.lowest = min(self.lowest, value)
        self._adjust()
        floor = self.settings.slack_floor * self.lowest / float(np.sqrt(t))
        self.slack = max(self.slack, floor)
        above = value - max(self.lowest - self.slack, bound)
        return self.step0 * max(above, 0.0) / square if square > 0 else 0.0

    def _adjust(self) -> None:
        self.waited += 1
        if self.lowest <= self.reference - self.slack / 2:
            self.reference, self.waited = self.lowest, 0
            self.slack *= self.settings.slack_growth
        elif self.waited >= self.settings.patience:
            self.reference, self.waited = self.lowest, 0
            self.slack /= 2


STEP_RULES: dict[str, Callable[[SubgradientSettings], StepRule]] = {
    "polyak": Polyak,
    "1/t": Harmonic,
    "1/sqrt(t)": Root,
}


def subgradient(
    problem: RobustProblem, settings: SolverSettings, start: Start | None = None
) -> SolverResult:
    """Run Algorithm 1 from ``start``, or from M = 0, lam = 0."""
    own, history = SubgradientSettings.of(settings), History(settings.callback)
    descent = _begun(problem, own, start)
    best = Incumbent(descent.at.coef, descent.at.intercept)
    max_iter = own.default_max_iter if own.max_iter is None else own.max_iter
    t, record_due, judge_due = 0, 1.0, float(own.first_judgement)
    while t < max_iter and not best.certificate.holds(own.tol):
        t += 1
        descent.iterate(t, best.dual_bound)
        if t >= min(judge_due, max_iter):
            judge_due = t * own.judge_factor
            descent.certify(best)
        if t >= min(record_due, max_iter):
            record_due = t * own.record_factor
            history.add(t, min(best.objective, descent.best_value), best.dual_bound)
    return best.result("subgradient", own.tol, False, t, history)


def _begun(
    problem: RobustProblem, settings: SubgradientSettings, start: Start | None
) -> SubgradientDescent:
    """The descent at its start; if no step is given, trials choose it."""
    is_polyak = settings.step_rule == "polyak"
    if settings.step0 is not None or (is_polyak and start is not None):
        return SubgradientDescent(problem, settings, start)
    step0, end = _tried(problem, replace(settings, step_rule="1/t"), start)
    if is_polyak:
        return SubgradientDescent(problem, settings, end)
    return SubgradientDescent(problem, replace(settings, step0=step0), start)


def _tried(
    problem: RobustProblem, settings: SubgradientSettings, start: Start | None
) -> tuple[float, Start]:
    """The step with the lowest value after a few iterations, and its last point."""
    lowest = Incumbent(*SubgradientDescent(problem, settings, start).at[:2])
    chosen = unit = _linear_step(problem, settings, start)
    for factor in settings.trial_steps:
        before = lowest.objective
        descent = SubgradientDescent(problem, replace(settings, step0=factor * unit), start)
        for t in range(1, settings.trial_iter + 1):
            descent.iterate(t, -np.inf)
        descent.offer(lowest)
        chosen = factor * unit if lowest.objective < before else chosen
    return chosen, Start(lowest.coef, lowest.intercept, lowest.lam)


def _linear_step(
    problem: RobustProblem, settings: SubgradientSettings, start: Start | None
) -> float:
    """The step that brings F to 0 if F is linear; 1 if F is flat or 0."""
    descent = SubgradientDescent(problem, settings, start)
    looked = descent.rows.look(descent.at)
    square = looked.slope.square
    return looked.value / square if square > 0 and looked.value > 0 else 1.0
