"""Newton's method for every loss of the family."""

from __future__ import annotations

from ...problem import RobustProblem
from ..result import SolverResult, SolverSettings, Start
from .hinge import smoothing_newton
from .smooth_loss import label_newton


def newton(
    problem: RobustProblem, settings: SolverSettings, start: Start | None = None
) -> SolverResult:
    """Only a loss with kinks of its own has to be smoothed."""
    solver = label_newton if problem.loss.temperature > 0 else smoothing_newton
    return solver(problem, settings, start)
