"""What RobustLinearSVC refuses, each in one sentence that names the argument."""

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.exceptions import NotFittedError
from sklearn.preprocessing import scale

from wdrsvm import RobustLinearSVC

X, y = load_iris(return_X_y=True)
X = scale(X)


@pytest.fixture(scope="module")
def fitted():
    return RobustLinearSVC().fit(X, y)


BAD_PARAMETERS = [
    ({"radius": -1.0}, "radius must be a finite number >= 0"),
    ({"radius": np.nan}, "radius must be a finite number >= 0"),
    ({"label_cost": -1.0}, "label_cost must be >= 0"),
    ({"label_cost": np.ones((3, 3))}, "label_cost must have a zero diagonal"),
    ({"label_cost": 1 - np.eye(2)}, "label_cost has shape .* there are 3 classes"),
    ({"norm": "l3"}, "norm must be one of 'l1', 'l2', 'linf', got 'l3'"),
    ({"feature_cost": [1, 1, 1, 0]}, "feature_cost must be > 0"),
    ({"feature_cost": [1, 1, 1, -1]}, "feature_cost must be > 0"),
    ({"feature_cost": [1, 1]}, "feature_cost has shape .* X has 4 features"),
    ({"smoothing": -0.5}, "smoothing must be a finite number >= 0, got -0.5"),
    ({"smoothing": "much"}, "smoothing must be a finite number >= 0, got 'much'"),
    ({"label_noise": "malicious"}, "label_noise must be 'adversarial' or 'random'"),
    ({"support": (0, 1)}, "support must contain the data, but feature 0"),
    ({"categorical": [([0, 1], 1.0)]}, "categorical must name one-hot columns"),
    ({"solver": "simplex"}, "solver must be one of 'auto'.*, got 'simplex'"),
    ({"tol": 0.0}, "tol must be a finite number > 0"),
    ({"tol": "small"}, "tol must be a finite number > 0"),
    ({"max_iter": 0}, "max_iter must be None or an integer >= 1"),
    ({"max_iter": 1.5}, "max_iter must be None or an integer >= 1"),
    ({"class_weight": "fair"}, "class_weight"),
    ({"class_weight": {0: -1.0, 1: 1.0, 2: 1.0}}, "class_weight must be finite and >= 0"),
    ({"class_weight": {0: 1.0, 1: 0.0, 2: 0.0}}, "class_weight leave weight on 1 class"),
]

BAD_COLUMNS = [
    ({"sample_weight": np.zeros(150)}, "sample_weight must not be zero in every row"),
    ({"sample_weight": np.r_[-1.0, np.ones(149)]}, "sample_weight must be >= 0"),
    ({"sample_weight": np.r_[np.nan, np.ones(149)]}, "sample_weight contains NaN"),
    ({"sample_weight": np.r_[np.inf, np.ones(149)]}, "sample_weight contains infinity"),
    ({"sample_weight": np.ones(7)}, r"sample_weight must have shape \(150,\)"),
    ({"sample_weight": np.ones((150, 1))}, r"sample_weight must have shape \(150,\)"),
    ({"sample_weight": np.where(y == 0, 1.0, 0.0)}, "leave weight on 1 class"),
    ({"label_trust": np.r_[-1.0, np.ones(149)]}, "label_trust must be >= 0"),
    ({"label_trust": np.r_[np.nan, np.ones(149)]}, "label_trust must be >= 0"),
    ({"label_trust": np.ones(7)}, r"label_trust must have shape \(150,\)"),
    ({"label_trust": np.ones((150, 2))}, r"label_trust must have shape \(150,\)"),
]

BAD_DATA = [
    (np.where(np.eye(150, 4), np.nan, X), y, "X contains NaN"),
    (np.where(np.eye(150, 4), np.inf, X), y, "X contains infinity"),
    (np.empty((0, 4)), np.empty(0), "0 sample"),
    (np.empty((150, 0)), y, "0 feature"),
    (X[0], y, "Expected 2D array"),
    (X, y[:-1], "inconsistent numbers of samples"),
    (X, np.zeros(150), "y must have at least 2 classes, got 1 class"),
    (X, np.c_[y, y], "y should be a 1d array"),
    (X, X[:, 0], "Unknown label type: continuous"),
]


@pytest.mark.parametrize(("parameters", "message"), BAD_PARAMETERS)
def test_bad_parameter(parameters, message):
    with pytest.raises(ValueError, match=message):
        RobustLinearSVC(**parameters).fit(X, y)


@pytest.mark.parametrize("smoothing", [0, 0.0, np.float32(0.0)])
def test_zero_of_any_type_is_no_smoothing(smoothing):
    assert RobustLinearSVC(smoothing=smoothing).fit(X, y).n_iter_ > 0


@pytest.mark.parametrize("radius", [None, "0.1"])
def test_radius_of_another_type(radius):
    with pytest.raises(TypeError, match="radius must be a number"):
        RobustLinearSVC(radius).fit(X, y)


@pytest.mark.parametrize(("columns", "message"), BAD_COLUMNS)
def test_bad_column(columns, message):
    with pytest.raises(ValueError, match=message):
        RobustLinearSVC().fit(X, y, **columns)


@pytest.mark.parametrize(("features", "labels", "message"), BAD_DATA)
def test_bad_data(features, labels, message):
    with pytest.raises(ValueError, match=message):
        RobustLinearSVC().fit(features, labels)


def test_predicting_before_fitting():
    with pytest.raises(NotFittedError):
        RobustLinearSVC().predict(X)


def test_predicting_other_features(fitted):
    with pytest.raises(ValueError, match="X has 2 features"):
        fitted.predict(X[:, :2])


def test_risk_on_an_unknown_label(fitted):
    with pytest.raises(ValueError, match="labels that the classifier does not know"):
        fitted.worst_case_risk(X, y + 1)


def test_a_fold_that_lacks_a_class_of_the_matrix():
    with pytest.raises(ValueError, match="every class must be present in y"):
        RobustLinearSVC(label_cost=1 - np.eye(3)).fit(X[:100], y[:100])
