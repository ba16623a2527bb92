"""Newton's method for every loss of the family."""

from __future__ import annotations

from ...problem import RobustProblem
from ..result import SolverResult, SolverSettings, SolverStatus, Start
from .hinge import smoothing_newton
from .products.choice import in_products, unknowns
from .products.loop import product_newton
from .products.settings import PRODUCTS
from .smooth_loss import label_newton


def newton(
    problem: RobustProblem, settings: SolverSettings, start: Start | None = None
) -> SolverResult:
    """Choose the method: hinge losses are smoothed, smooth losses are not."""
    if problem.loss.temperature == 0:
        return smoothing_newton(problem, settings, start)
    if not in_products(problem):
        return label_newton(problem, settings, start)
    found = product_newton(problem, settings, start)
    failed = found.status is not SolverStatus.CONVERGED and settings.max_iter is None
    if not failed or unknowns(problem) > PRODUCTS.max_rescued_unknowns:
        return found
    again = label_newton(problem, settings, start)
    return min(again, found, key=lambda result: result.certificate.gap)
