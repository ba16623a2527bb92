"""The last fit of a search: weights of a mean, or one point alone."""

import numpy as np
import pytest

from wdrsvm import RobustLinearSVCCV, RobustLogisticRegressionCV
from wdrsvm.estimators.search.doubt.choice import doubts_of
from wdrsvm.estimators.search.doubt.opinions import Opinion
from wdrsvm.estimators.search.grid import SearchGrid

GRID = SearchGrid(np.array([0.2, 0.02]), [np.inf])
LABELS = np.array([0, 1, 1, 0, 1, 0])
# The second point says the same at half the scale.
SCORES = np.outer(np.where(LABELS == 1, 2.0, -2.0) * [1, 1, 1, 1, 1, -1], [-0.5, 0.5])


def point_weights(kind):
    rows = np.arange(6)
    told = [[Opinion(SCORES, LABELS), Opinion(SCORES / 2, LABELS)]]
    search = kind(label_noise="random")
    search.best_index_ = 1
    constant = np.array([False, False])
    search.cv_results_ = {"mean_test_score": np.ones(2), "constant": constant}
    doubted = doubts_of(LABELS, None, [rows], told, rows)
    return search._point_weights(doubted, GRID)


def test_a_mean_has_the_scale_of_the_chosen_point():
    found = point_weights(RobustLogisticRegressionCV)
    assert found.factor == pytest.approx([0.5, 1.0])
    assert found.weight == pytest.approx([0.5, 0.5])
    assert found.grid_weight == pytest.approx([0.5, 0.5])


def test_one_point_has_the_weight_one_and_its_own_scale():
    found = point_weights(RobustLinearSVCCV)
    assert [each.tolist() for each in found] == [[0, 1], [1, 1], [0, 1]]
