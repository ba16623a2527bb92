"""The classifier of the class means: a scale for lam, and of many classes a start."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from ....arrays import Floats
from ....problem import RobustProblem, lipschitz
from ..layout import Layout
from ..samples import SampleArrays
from ..settings import FIRST_ORDER


def classifier_of_means(problem: RobustProblem, layout: Layout) -> tuple[Floats, float]:
    """That of the class means (T, C), scaled to a mean margin of 1, and its modulus.

    With G = sum_n w_n (1 / C - e_y) x_n' it is -G / ||G||^2.  It is shorter where that is
    too long: no optimum pays more for the radius than the risk of zero.
    """
    gradient = _gradient_of_means(problem, layout)
    square = float((gradient * gradient).sum())
    level = problem.loss.of_equal_scores(problem.n_classes)
    highest = level / problem.radius if problem.radius > 0 else np.inf
    modulus = lipschitz(gradient.T, problem.norm, np.ones(len(gradient)))
    # If all rows are equal, rounding is all that G has: a square without a modulus.  Rows
    # of tiny entries have a modulus, but their square underflows.
    if not modulus > 0 < square:
        return np.zeros_like(gradient), min(1.0, highest)
    lam = min(modulus / square, highest)
    return gradient * (-lam / modulus), lam


def leaves_few_classes(problem: RobustProblem, rows: SampleArrays, touch: Floats) -> bool:
    """Whether the table (T, C) says which few of many classes each row may have mass on.

    Then it saves two epochs over all classes.  A sample of the rows tells.  If classes have
    many rows, these epochs learn more.
    """
    n_rows, n_classes = problem.n_rows, problem.n_classes
    most = FIRST_ORDER.rows_per_class_at_means * n_classes
    if n_rows > most:
        return False
    step = -(-n_rows * n_classes // FIRST_ORDER.scores_at_a_time)
    scores = rows.singles[::step] @ touch.astype(np.float32)
    scores[np.arange(len(scores)), rows.y[::step]] = -np.inf
    least = scores.max(axis=1, keepdims=True) - FIRST_ORDER.place_width
    n_near = np.count_nonzero(scores > least)
    return bool(scores.size >= FIRST_ORDER.scores_per_near_class * n_near)


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
