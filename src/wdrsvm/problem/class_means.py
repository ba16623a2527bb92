r"""The problem of the class means: one row a class, below the problem of all rows.

The loss of a row is convex in its features, whatever the classifier, the flips and lam.
So replacing the rows of a class by their mean lowers the objective of every classifier
(Jensen), and with it the optimum V(radius).  Its ceiling V* stays: a constant classifier
sees masses of labels alone.  Where the means' optimum has reached V*, so has that of all
rows: the means' ``radius_max`` is an upper bound of that of all rows, from a few rows.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy import sparse

from ..arrays import Floats
from ..rows.reduce import added
from .ball import WassersteinBall
from .problem import RobustProblem


def class_means(problem: RobustProblem) -> RobustProblem:
    """One row for each label, verified or not, in as few columns as will do.

    Rows that are trusted more or less become trusted as the most trusted of them, which
    too lowers the objective.
    """
    is_trusting = problem.rows.with_trust
    with problem.reduction() as reduction:
        sums = reduction.fold(_sums, added)
        finite = float(reduction.fold(_largest_trust, max)) if is_trusting else 1.0
    kind = np.flatnonzero(sums[:, 0])
    X = sums[kind, 1:] / sums[kind, :1]
    ball, X = (problem.ball, X) if problem.ball.is_bounded else _rotated(problem, X)
    return RobustProblem.of(
        X,
        kind // 2,
        sums[kind, 0],
        ball,
        problem.n_classes,
        problem.fit_intercept,
        np.where(kind % 2, np.inf, finite) if is_trusting else None,
        loss=problem.loss,
        lipschitz=problem.lipschitz,
    )


def _largest_trust(problem: RobustProblem, rows: slice) -> float:
    """Of the labels that are not verified."""
    trust = np.asarray(problem.label_trust)[rows]
    return float(trust[np.isfinite(trust)].max(initial=0.0))


def _sums(problem: RobustProblem, rows: slice) -> Floats:
    """Mass of each label, verified or not, and its features times their weights."""
    kind, weight = 2 * problem.y[rows].astype(np.intp), problem.weight[rows]
    if problem.label_trust is not None:
        kind = kind + np.isinf(problem.label_trust[rows])
    shape = 2 * problem.n_classes, len(kind)
    mass = sparse.csc_array((weight, kind, np.arange(len(kind) + 1)), shape)
    features = mass @ problem.features(rows)
    features = features.toarray() if sparse.issparse(features) else features
    return np.column_stack([np.bincount(kind, weight, shape[0]), features])


def _rotated(problem: RobustProblem, means: Floats) -> tuple[WassersteinBall, Floats]:
    """In the Euclidean norm only the means' own subspace matters."""
    cost = problem.feature_cost
    is_wide = means.shape[1] > len(means) and problem.ball.norm == "l2"
    if not is_wide or not np.isfinite(cost).all():
        return problem.ball, means
    basis = np.linalg.qr((means * cost).T)[0]
    return replace(problem.ball, feature_cost=None), means * cost @ basis
