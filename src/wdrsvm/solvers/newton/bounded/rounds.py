r"""Rounds of Newton's method for balls with bounded or categorical features.

The same rounds as in the unbounded ball (``hinge``), on the program by pairs of classes
(``interior_point.bounded.layout``).
"""

from __future__ import annotations

from typing import Any

from ....problem import RobustProblem
from ....problem.bounded.certificate import bounded_dual_bound
from ....problem.certificate.gap import allowed_gap
from ...interior_point.bounded.evaluation import BoundedEvaluation
from ...result import SolverResult, SolverSettings, Start
from ..hinge import Rounds
from ..settings import NEWTON
from .polish import bounded_polish
from .smoothed_risk import BoundedSmoothedRisk
from .steps import BoundedNewton, SmoothBoundedNewton


def bounded_newton(
    problem: RobustProblem, settings: SolverSettings, start: Start | None = None
) -> SolverResult:
    """Train to the gap asked for; with l1 transport, ``start`` is the first point."""
    evaluation = BoundedEvaluation.of(problem.without_idle_rows())
    normalised = evaluation.normalised
    with normalised.reduction() as reduction:
        smoothed = BoundedSmoothedRisk.over(normalised, evaluation.layout(), reduction)
        is_smooth = problem.loss.temperature > 0
        rounds = SmoothBoundedRounds if is_smooth else BoundedRounds
        if problem.ball.norm != "l1":
            start = None  # a split of the slopes between box and norm is not known
        elif start is not None:
            start = evaluation.normalised_start(start)
        return rounds(evaluation, smoothed, settings).solve(start)


class BoundedRounds(Rounds):
    """The rounds; points are judged by the problem in its own units."""

    smoothed: Any
    newton: Any = BoundedNewton

    def __init__(
        self,
        evaluation: BoundedEvaluation,
        smoothed: BoundedSmoothedRisk,
        settings: SolverSettings,
    ):
        super().__init__(evaluation.problem, smoothed, settings)  # type: ignore[arg-type]
        self.evaluation = evaluation

    def _certify(self, newton: Any) -> None:
        self.evaluation.offer(newton.layout, newton, self.best)
        masses, mults = self.smoothed.masses(newton.at), newton.moves.mults()
        plan = self.evaluation.plan(newton.layout, masses, mults)
        if self.problem.loss.temperature > 0:
            masses = self.smoothed.masses(newton.at, with_stays=True)
            plan = plan.with_stays(self.problem.n_classes, masses)
        self.best.raise_bound(bounded_dual_bound(self.evaluation.normalised, plan), None)

    def _finish(self, newton: Any) -> int:
        """Polish; returns the number of further iterations."""
        newton.settle(self.max_iter, self.well_settled)
        self._certify(newton)
        left, tol = self.max_iter - newton.n_iter, self.settings.tol
        told = self.evaluation, self.smoothed, newton.at, self.best, tol, left
        n_iter = bounded_polish(*told)
        self.history.add(newton.n_iter + n_iter, self.best.objective, self.best.dual_bound)
        return n_iter


class SmoothBoundedRounds(BoundedRounds):
    """The rounds for a smooth loss; it needs no polish, because mu may fall to nearly 0."""

    newton = SmoothBoundedNewton
    well_settled = NEWTON.smooth_well_settled

    def _promising(self, newton: Any) -> bool:
        wanted = allowed_gap(self.settings.tol, newton.risk)
        is_itself = newton.mu <= self.problem.loss.temperature
        return bool(is_itself and max(newton.gap, newton.resolution) <= wanted)

    def _finish(self, newton: Any) -> int:
        self._certify(newton)
        return 0
