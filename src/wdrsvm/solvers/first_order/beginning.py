"""Where the first-order method begins: its samples, multipliers, point and price."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from ...arrays import Floats, Singles
from ...problem import RobustProblem, lipschitz
from ..result import Start
from .kernels import row_squares
from .known_multipliers import KnownMasses
from .layout import Layout, design_of
from .places_of_rows.masses import on_own_labels, restored
from .samples import NO_SINGLES, Duals, SampleArrays
from .settings import FIRST_ORDER


def sample_arrays(problem: RobustProblem, layout: Layout) -> SampleArrays:
    touch = design_of(layout.touch)
    squares = np.empty(problem.n_rows)
    row_squares(touch.record, np.ones(layout.touch.shape[1]), squares)
    return SampleArrays(
        touch=touch,
        free=design_of(layout.free),
        y=problem.y.astype(np.intp),
        weight=problem.weight.astype(np.float64),
        cost=_flip_cost(problem),
        touch_curvature=squares,
        free_curvature=np.zeros(problem.n_rows),
        row_width=layout.row_width,
        singles=_singles(problem, layout, squares),
    )


def _flip_cost(problem: RobustProblem) -> Floats:
    """Flip costs (N, C); no rows of them if no label can be flipped."""
    none = np.empty((0, problem.n_classes))
    if problem.trusts_labels:
        return none
    cost = problem.attainable_flip_cost()
    return np.ascontiguousarray(cost) if np.isfinite(cost).any() else none


def _singles(problem: RobustProblem, layout: Layout, squares: Floats) -> Singles:
    """Dense rows in single precision, if that is faster and no product is out of range.

    If labels can be flipped, it is while epochs are long.
    """
    work = layout.touch.shape[0] * layout.touch.shape[1] * problem.n_classes
    is_short = work < FIRST_ORDER.least_slack_work and not problem.trusts_labels
    if not isinstance(layout.touch, np.ndarray) or is_short:
        return NO_SINGLES
    low, high = FIRST_ORDER.single_squares
    if problem.loss.temperature > 0 or not low < squares.max() < high:
        return NO_SINGLES
    return layout.touch.astype(np.float32)


def first_duals(
    rows: SampleArrays, problem: RobustProblem, known: KnownMasses | None
) -> Duals:
    """The known multipliers, made feasible row by row, or else none with a slope."""
    if known is None:
        return _without_slopes(rows, problem)
    if _has_few_masses(rows, problem):
        return Duals(restored(known.alpha, problem), rows.cost, rows.cost)
    every, cost = slice(0, problem.n_rows), problem.attainable_flip_cost()
    given = known.rows(problem, every)
    alpha, *flips = given.restored(rows.weight, problem.y, cost, flip_share=1.0)
    if len(rows.cost) == 0 or not flips:
        flips = [np.zeros_like(rows.cost), np.zeros_like(rows.cost)]
    return Duals(*map(np.ascontiguousarray, (alpha, *flips)))


def _has_few_masses(rows: SampleArrays, problem: RobustProblem) -> bool:
    """Whether masses are kept in a sparse table: where a dense one would be large, and
    epochs go from place to place."""
    n_entries = problem.n_rows * problem.n_classes
    placed = problem.norm == "l2" and len(rows.cost) == 0 and len(rows.singles) > 0
    has_fixed = np.isinf(problem.attainable_feature_cost()).any()
    return placed and not has_fixed and n_entries > FIRST_ORDER.max_dense_masses


def with_flips(duals: Duals) -> Duals:
    """The same with zeros for flips that are impossible."""
    if len(duals.phi):
        return duals
    none = np.broadcast_to(0.0, duals.alpha.shape)
    return duals._replace(phi=none, beta=none)


def _without_slopes(rows: SampleArrays, problem: RobustProblem) -> Duals:
    """Multipliers with all mass on the true label, so that G = 0."""
    if _has_few_masses(rows, problem):
        return Duals(on_own_labels(problem), rows.cost, rows.cost)
    alpha = np.zeros((problem.n_rows, problem.n_classes))
    alpha[np.arange(problem.n_rows), rows.y] = rows.weight
    if problem.loss.temperature > 0:
        return Duals(np.zeros_like(alpha), alpha, np.zeros_like(alpha))
    return Duals(alpha, np.zeros_like(rows.cost), np.zeros_like(rows.cost))


def first_point(
    problem: RobustProblem, layout: Layout, start: Start | None
) -> tuple[Floats, Floats, float]:
    """Tables (T, C), (E, C) and lam to begin at."""
    lam = _first_lam(problem, layout)
    if start is not None:
        touch, free = layout.tables(start)
        return touch, free, start.lam if start.lam > 0 else lam
    n_classes = problem.n_classes
    touch = np.zeros((layout.touch.shape[1], n_classes))
    return touch, np.zeros((layout.free.shape[1], n_classes)), lam


def _first_lam(problem: RobustProblem, layout: Layout) -> float:
    """The modulus of the class means, scaled to a mean margin of 1.

    With G = sum_n w_n (1 / C - e_y) x_n' the classifier -G / ||G||^2 has it.  No optimum
    pays more for the radius than the risk of zero.
    """
    gradient = _gradient_of_means(problem, layout)
    square = float((gradient * gradient).sum())
    level = problem.loss.of_equal_scores(problem.n_classes)
    highest = level / problem.radius if problem.radius > 0 else np.inf
    modulus = lipschitz(gradient.T, problem.norm, np.ones(len(gradient)))
    # If all rows are equal, rounding is all that G has: a square without a modulus.  Rows
    # of tiny entries have a modulus, but their square underflows.
    return min(modulus / square if modulus > 0 < square else 1.0, highest)


def _gradient_of_means(problem: RobustProblem, layout: Layout) -> Floats:
    """G = sum_n w_n x_n (1 / C - e_y)', (T, C)."""
    places = np.arange(problem.n_rows), problem.y
    shape = problem.n_rows, problem.n_classes
    if sparse.issparse(layout.touch):
        labels = np.zeros(shape)
        labels[places] = problem.weight
        of_classes = np.asarray(layout.touch.T @ labels)
    else:
        # A row has one entry here: no product with all classes is needed.
        labels = sparse.csr_array((problem.weight, places), shape=shape)
        of_classes = (labels.T @ layout.touch).T
    return np.asarray(of_classes.mean(axis=1, keepdims=True) - of_classes)
