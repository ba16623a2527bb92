"""The mean classifier: recomputed from its points, with an objective that is recomputed."""

import numpy as np
import pytest

from wdrsvm import RobustLogisticRegression, RobustLogisticRegressionCV
from wdrsvm.datasets import flip_labels
from wdrsvm.estimators.fitting.label_noise import doubted_problem
from wdrsvm.estimators.search.doubt.mean import PointWeights, fitted_mean
from wdrsvm.estimators.search.doubt.path import doubting_points
from wdrsvm.estimators.search.doubt.ridge import STRENGTHS, ridge_points
from wdrsvm.estimators.search.grid import SearchGrid
from wdrsvm.estimators.search.judges import GivenRows
from wdrsvm.robustness.promises.worst_case import linear_scores

from ...cases import CULTIVAR, WINE

LABELS = flip_labels(CULTIVAR, 0.2, random_state=1)
ROWS = GivenRows(WINE, LABELS, None, None)
GRID = SearchGrid(np.array([0.2, 0.02]), [np.inf, 0.6])
ROUGH = RobustLogisticRegression(label_noise="random", tol=1e-2)
BEST = {"radius": 0.2, "label_cost": 0.6}


def mean_of(places, rows=ROWS):
    """The mean at the given places, with weights 1, 2, ... and factors 1, 1/2, ..."""
    weight, factor = np.zeros((2, 4 + len(STRENGTHS)))
    weight[places] = np.arange(1, len(places) + 1)
    factor[places] = 1 / np.arange(1, len(places) + 1)
    grid_weight = weight[:4] / weight[:4].sum()
    points = PointWeights(weight / weight.sum(), factor, grid_weight)
    best = RobustLogisticRegression(label_noise="random", **BEST)
    return fitted_mean(best, ROUGH, rows, GRID, points)


def test_scores_and_beliefs_are_means():
    found = mean_of([2, 3, 6])
    path = {p.place: p.fitted for p in doubting_points(ROUGH, ROWS, GRID, np.ones(4, bool))}
    members = [path[2], path[3], ridge_points(ROUGH, ROWS)[2]]
    scores = sum(each.decision_function(WINE) for each in members) / 6
    scores -= scores.mean(axis=1, keepdims=True)
    assert found.decision_function(WINE) == pytest.approx(scores)
    # Ridge points cannot disbelieve: they say nothing about beliefs.
    belief = (path[2].label_belief_ + 2 * path[3].label_belief_) / 3
    assert found.label_belief_ == pytest.approx(belief)
    changed = found.suggested_labels_ != LABELS
    assert np.array_equal(changed, belief < 0.5)


def test_labels_that_are_not_believed_get_the_likeliest_other_one():
    found = mean_of([2, 3])
    doubted = found.label_belief_ < 0.5
    assert doubted.sum() > 20
    scores = found.decision_function(WINE)
    scores[np.arange(len(LABELS)), LABELS] = -np.inf
    assert np.array_equal(found.suggested_labels_[doubted], scores.argmax(axis=1)[doubted])


def test_the_objective_is_that_of_the_mean_in_the_chosen_ball():
    found = mean_of([2, 3, 6])
    data = found._training_data(*ROWS)
    doubted = doubted_problem(found, found._problem(data, found._ball()))
    scores = linear_scores(found)
    coef, intercept = scores.coef, scores.intercept
    assert found.objective_ == pytest.approx(doubted.value(coef, intercept))
    piece = doubted.convex_piece(doubted.beliefs(coef, intercept))
    best = RobustLogisticRegression(
        radius=piece.problem.radius, label_cost=np.inf, tol=1e-9
    ).fit(piece.problem.X, piece.problem.y, sample_weight=piece.problem.weight)
    assert found.dual_bound_ == pytest.approx(piece.value(best.objective_), rel=1e-5)
    assert found.duality_gap_ == found.objective_ - found.dual_bound_ > 0


def test_one_point_is_its_own_mean():
    found = mean_of([2])
    path = {p.place: p.fitted for p in doubting_points(ROUGH, ROWS, GRID, np.ones(4, bool))}
    assert found.coef_ == pytest.approx(path[2].coef_)
    assert found.duality_gap_ < 0.02 * found.objective_


@pytest.mark.parametrize("y", [LABELS, (LABELS > 0).astype(int)])
def test_a_search_has_the_mean_of_its_weights(y):
    search = RobustLogisticRegressionCV(
        [0.2, 0.02], [np.inf, 0.6], cv=3, label_noise="random"
    ).fit(WINE, y)
    weight = search.cv_results_["weight"]
    assert weight.shape == (4,)
    assert 0 < weight.sum() < 1 + 1e-12
    # The centre is the heaviest point of the heavier kind.
    believing = np.array([True, True, False, False])
    kind = believing == (weight[believing].sum() > weight[~believing].sum())
    assert np.where(kind, weight, -1).argmax() == search.best_index_
    assert np.isfinite(search.label_cost_) == (search.label_belief_ < 0.5).any()
    assert search.coef_ is search.best_estimator_.coef_
    assert search.predict(WINE).shape == (178,)


def test_scorers_and_the_rule_of_one_standard_error_choose_one_point():
    for options in ({"scoring": "accuracy"}, {"one_standard_error": True}):
        search = RobustLogisticRegressionCV(
            [0.2, 0.02], [np.inf, 0.6], cv=3, label_noise="random", **options
        ).fit(WINE, LABELS)
        assert "weight" not in search.cv_results_
        assert search.duality_gap_ < 1e-5
