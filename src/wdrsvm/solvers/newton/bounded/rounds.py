r"""Rounds of Newton's method for balls with bounded or categorical features.

The same rounds as in the unbounded ball (``hinge``), on the program by pairs of classes
(``interior_point.bounded.layout``).
"""

from __future__ import annotations

from typing import Any

from ....problem import RobustProblem
from ....problem.bounded.certificate import bounded_dual_bound
from ...interior_point.bounded.evaluation import BoundedEvaluation
from ...result import SolverResult, SolverSettings, Start
from ..hinge import Rounds
from .passes import BoundedPasses
from .steps import BoundedNewton


def bounded_newton(
    problem: RobustProblem, settings: SolverSettings, start: Start | None = None
) -> SolverResult:
    """Train to the gap asked for."""
    evaluation = BoundedEvaluation.of(problem.without_idle_rows())
    normalised = evaluation.normalised
    with normalised.reduction() as reduction:
        passes = BoundedPasses.over(normalised, evaluation.layout(), reduction)
        return BoundedRounds(evaluation, passes, settings).solve(None)


class BoundedRounds(Rounds):
    """The rounds; points are judged by the problem in its own units."""

    passes: Any
    newton: Any = BoundedNewton

    def __init__(
        self,
        evaluation: BoundedEvaluation,
        passes: BoundedPasses,
        settings: SolverSettings,
    ):
        super().__init__(evaluation.problem, passes, settings)  # type: ignore[arg-type]
        self.evaluation = evaluation

    def _judge(self, newton: Any) -> None:
        self.evaluation.offer(newton.layout, newton, self.best)
        mass = self.passes.masses(newton.at)
        plan = self.evaluation.plan(newton.layout, mass, newton.moves.mults(), 1.0)
        self.best.raise_bound(bounded_dual_bound(self.evaluation.normalised, plan), None)

    def _finish(self, newton: Any) -> int:
        self._judge(newton)
        return 0
