"""Newton's method for every loss of the family."""

from __future__ import annotations

from dataclasses import replace

from ...problem import RobustProblem
from ..result import Solver, SolverResult, SolverSettings, SolverStatus, Start
from ..size import coefficients, unknowns
from .hinge import smoothing_newton
from .products.choice import by_envelope, by_lengths, in_products, serves_few_unknowns
from .products.envelopes.rounds import envelope_newton
from .products.lengths.rounds import length_newton
from .products.loop import product_newton
from .products.settings import PRODUCTS
from .settings import NEWTON
from .smooth_loss import label_newton


def newton(
    problem: RobustProblem, settings: SolverSettings, start: Start | None = None
) -> SolverResult:
    """Choose the method: hinge losses are smoothed, smooth losses are not."""
    if problem.is_distributed:
        _check_distributed_size(problem)
    if not (in_products(problem) or serves_few_unknowns(problem, settings.tol)):
        _check_dense_size(problem)
        of_loss = smoothing_newton if problem.loss.temperature == 0 else label_newton
        return of_loss(problem, settings, start)
    found = _in_rounds(problem)(problem, settings, start)
    most, is_small = settings.max_iter, unknowns(problem) <= PRODUCTS.max_rescued_unknowns
    left = None if most is None else max(0, most - found.n_iter)
    if found.status is SolverStatus.CONVERGED or left == 0 or not is_small:
        return found
    again = label_newton(problem, replace(settings, max_iter=left), start)
    return min(again, found, key=lambda result: result.certificate.gap)


def _in_rounds(problem: RobustProblem) -> Solver:
    """The method in matrix products that suits the norm."""
    if by_lengths(problem):
        return length_newton
    return envelope_newton if by_envelope(problem) else product_newton


def _check_distributed_size(problem: RobustProblem) -> None:
    size, most = coefficients(problem), PRODUCTS.max_sent_unknowns
    if size > most and not in_products(problem):
        raise ValueError(
            f"X, a dask collection, has {problem.n_features} features, which with "
            f"{problem.n_classes} classes makes {size} coefficients: at most {most} can be "
            "fitted where the rows are not in memory, or any number with the l2 norm and "
            "either the logistic loss and one label cost for all labels, or smoothing > 0 "
            "and label_cost=inf."
        )


def _check_dense_size(problem: RobustProblem) -> None:
    size, most = unknowns(problem), NEWTON.max_unknowns
    if size > most:
        raise ValueError(
            f"solver='newton' needs a dense matrix for {size} unknowns, which X with "
            f"{problem.n_features} features and {problem.n_classes} classes makes: at most "
            f"{most} are allowed; use solver='auto' or 'first-order'."
        )
