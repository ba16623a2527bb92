"""The mean of the classifiers of a grid, for a search that weighs its points.

A choice among many points by a few hundred doubtful labels is partly a matter of chance.
The mean of the points' classifiers, with weights from the evidence (``choice``),
varies less.  Factors bring the scores of all points to the scale of one point, the centre
(``choice``).  They are ratios of the factors with which probabilities fit best
(``opinions``).  The mean of linear classifiers is a linear classifier.

The objective of the mean is recomputed in the ball of the centre.
The dual bound is that of the convex problem for the best beliefs there.  So the duality gap
says what the mean costs in this objective.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from ....arrays import Codes, Floats
from ....problem import Certificate
from ....robustness.promises.worst_case import linear_scores
from ....rows.blocks import scores_of
from ....solvers import SolverResult, Start
from ...fitting.label_noise import LIKELY, doubted_problem
from ...fitting.steps import TrainingData, solver_of, solver_settings
from ..grid import SearchGrid
from ..judges import GivenRows
from .path import doubting_points
from .ridge import ridge_points


class PointWeights(NamedTuple):
    """Weights of the points of a grid and of the ridge points, and factors on their
    scores.  ``grid_weight`` has the weights of the grid points among themselves."""

    weight: Floats
    factor: Floats
    grid_weight: Floats


class MeanClassifier(NamedTuple):
    """Mean coefficients (C, P), mean intercepts (C,), and mean beliefs in the labels.

    The beliefs are those of the grid points: ridge points cannot disbelieve.
    """

    coef: Floats
    intercept: Floats
    belief: Floats


class _Member(NamedTuple):
    """The place of a point, and its classifier."""

    place: int
    fitted: Any


def fitted_mean(
    estimator: Any, rough: Any, rows: GivenRows, grid: SearchGrid, points: PointWeights
) -> Any:
    """The estimator, which has the parameters of one point, with the mean classifier.

    ``rough`` is fitted at all points on all rows, in the same way as in the folds.
    """
    mean = _mean_of(_classifiers(rough, rows, grid), points)
    data = estimator._training_data(*rows)
    estimator._keep(_certified(estimator, data, mean), data)
    estimator.label_belief_ = mean.belief
    likelier = np.where(mean.belief < LIKELY, _best_other(rows, data, mean), data.codes)
    estimator.suggested_labels_ = data.classes[likelier]
    return estimator


def _classifiers(rough: Any, rows: GivenRows, grid: SearchGrid) -> Iterator[_Member]:
    """The classifiers of the grid on all rows, and those of the ridge points."""
    n_points = len(grid.params)
    for place, fitted, _ in doubting_points(rough, rows, grid, np.ones(n_points, bool)):
        yield _Member(place, fitted)
    for place, fitted in enumerate(ridge_points(rough, rows), start=n_points):
        yield _Member(place, fitted)


def _mean_of(found: Iterator[_Member], points: PointWeights) -> MeanClassifier:
    members = list(found)
    in_grid = [each for each in members if each.place < len(points.grid_weight)]
    belief = sum(points.grid_weight[p] * fitted.label_belief_ for p, fitted in in_grid)
    counted = [each for each in members if points.weight[each.place] > 0]
    weight = points.weight[[each.place for each in counted]]
    factor = weight * points.factor[[each.place for each in counted]]
    scores = [linear_scores(each.fitted) for each in counted]
    return MeanClassifier(
        coef=np.tensordot(factor, [each.coef for each in scores], 1),
        intercept=factor @ np.array([each.intercept for each in scores]),
        belief=np.asarray(belief),
    )


def _certified(estimator: Any, data: TrainingData, mean: MeanClassifier) -> SolverResult:
    """The mean with its objective, and the dual bound for the best beliefs."""
    doubted = doubted_problem(estimator, estimator._problem(data, estimator._ball()))
    piece = doubted.convex_piece(doubted.beliefs(mean.coef, mean.intercept))
    risk = piece.problem.risk(mean.coef, mean.intercept)
    start = Start(mean.coef, mean.intercept, risk.lam)
    settings = replace(solver_settings(estimator), callback=None)
    best = solver_of(estimator)(piece.problem, settings, start)
    bound = best.certificate.dual_bound
    return replace(
        best,
        coef=mean.coef,
        intercept=mean.intercept,
        certificate=piece.certified(Certificate(risk.value, bound, risk.lam)),
    )


def _best_other(rows: GivenRows, data: TrainingData, mean: MeanClassifier) -> Codes:
    """The likeliest other label of each row, as a code."""
    scores = scores_of(rows.X, mean.coef, mean.intercept)
    scores[np.arange(len(data.codes)), data.codes] = -np.inf
    return np.asarray(scores.argmax(axis=1))
