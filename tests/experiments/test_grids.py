"""Grids agree with fits of the estimators, cell by cell."""

import warnings

import numpy as np

from wdrsvm import RobustLinearSVC, RobustOneVsRestSVC
from wdrsvm.datasets import make_simulation
from wdrsvm.experiments.grids import accuracy_grid, multiclass_grid, one_vs_rest_grid

X, y, X_test, y_test = make_simulation(60, 100, 3, 4, random_state=1)
RADII, COSTS = np.array([1e-3, 1e-2, 10.0]), np.array([0.3, 1.0])


def fitted(kind, radius, cost):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = kind(radius, cost, norm="l1", fit_intercept=False, tol=1e-4)
        return model.fit(X, y)


def test_one_machine_for_all_classes():
    scores = multiclass_grid(X, y, X_test, RADII, COSTS)
    assert scores.shape == (3, 2, 100, 4)
    accuracy = accuracy_grid(scores, y_test)
    for r in (0, 1):
        for k in (0, 1):
            model = fitted(RobustLinearSVC, RADII[r], COSTS[k])
            expected = np.mean(model.predict(X_test) == y_test)
            assert abs(accuracy[r, k] - expected) <= 0.02


def test_one_machine_a_class():
    accuracy = accuracy_grid(one_vs_rest_grid(X, y, X_test, RADII, COSTS), y_test)
    model = fitted(RobustOneVsRestSVC, RADII[1], COSTS[1])
    assert abs(accuracy[1, 1] - np.mean(model.predict(X_test) == y_test)) <= 0.02


def test_where_nothing_beats_a_constant_one_class_is_right():
    for grid in (multiclass_grid, one_vs_rest_grid):
        scores = grid(X, y, X_test, RADII, COSTS)
        assert not scores[2].any()
        np.testing.assert_allclose(accuracy_grid(scores, y_test)[2], 0.25)
