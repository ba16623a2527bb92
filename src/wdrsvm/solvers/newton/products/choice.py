"""Which problems are solved in matrix products."""

from __future__ import annotations

import numpy as np

from ....problem import RobustProblem
from ...size import coefficients, is_mapped, unknowns
from .diameter import DIAMETERS
from .lengths.settings import LENGTHS
from .settings import PRODUCTS


def in_products(problem: RobustProblem) -> bool:
    """Whether the method can solve the problem, and is faster than the other one.

    With the l1 norm and labels that can be flipped it needs more rows than unknowns; else
    too many coefficients are at a bound that the norm sets.  On a cluster every pass is
    expensive.  The other method, which sends a matrix of curvature, needs fewer passes
    while that matrix is small.
    """
    size, least = unknowns(problem), PRODUCTS.least_unknowns
    if problem.is_distributed:
        size, least = coefficients(problem), PRODUCTS.max_sent_unknowns + 1
    suits_norm = problem.norm == "l2" or problem.n_rows >= size
    suits_norm = suits_norm or by_envelope(problem) or by_lengths(problem)
    return size >= least and suits_norm and is_known(problem)


def serves_few_unknowns(problem: RobustProblem, tol: float) -> bool:
    """Whether the method is taken with few unknowns, too.

    It is faster where labels are trusted and rows are not fewer than unknowns.  At small
    tolerances the other method comes closer to the optimum than it was asked to.  A memory
    map is not copied, because the other method reads it as it is.
    """
    if problem.n_rows < unknowns(problem):
        return False
    suits = tol >= PRODUCTS.least_tol_of_few and single_flip_cost(problem) == np.inf
    is_held = not problem.is_distributed and not is_mapped(problem.X)
    return suits and is_held and problem.n_classes > 1 and is_known(problem)


def by_envelope(problem: RobustProblem) -> bool:
    """Whether an envelope takes the place of the power mean of lengths.

    It does where the norm may hold many lengths at once.  Prices of flips are not part of
    it.
    """
    return problem.norm == "l1" and single_flip_cost(problem) == np.inf


def by_lengths(problem: RobustProblem) -> bool:
    """Whether the lengths of all pairs of classes are smoothed.

    The differences of all pairs must not be too many, and a matrix of curvature must be
    too large to be faster.
    """
    n_pairs = problem.n_classes * (problem.n_classes - 1) // 2
    entries = n_pairs * problem.n_features
    many = unknowns(problem) >= LENGTHS.least_unknowns
    return problem.norm == "linf" and many and entries <= LENGTHS.max_entries


def is_known(problem: RobustProblem) -> bool:
    """Whether the method can solve the problem.

    It cannot solve problems with label costs that differ, finite label costs with a margin,
    features that cost nothing or cannot move, classes that no row can have, or sparse rows.
    """
    norm_known = problem.norm in DIAMETERS or by_lengths(problem)
    ball_known = norm_known and problem.radius > 0 and not problem.is_bounded
    if not ball_known or problem.loss.temperature == 0:
        return False
    if not _is_dense(problem) or not np.isfinite(problem.feature_cost).all():
        return False
    cost = single_flip_cost(problem)
    trusted = cost == np.inf
    flippable = cost > 0 and problem.loss.margin == 0
    return bool((trusted or flippable) and problem.reachable.all())


def _is_dense(problem: RobustProblem) -> bool:
    """Whether rows are dense, or dense in the chunks of a cluster."""
    return problem.is_distributed or isinstance(problem.X, np.ndarray)


def single_flip_cost(problem: RobustProblem) -> float:
    """The cost of every flip of a label; nan if costs differ."""
    if problem.trusts_labels and problem.n_classes > 1:
        return np.inf
    costs = problem.label_cost[~np.eye(problem.n_classes, dtype=bool)]
    return float(costs[0]) if len(costs) and (costs == costs[0]).all() else np.nan
