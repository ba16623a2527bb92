"""Random fitted classifiers, data and balls."""

from types import SimpleNamespace

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.datasets import load_iris
from sklearn.preprocessing import scale

from wdrsvm import WassersteinBall
from wdrsvm.problem import RobustProblem

ORDER = {"l1": 1, "l2": 2, "linf": np.inf}


class FixedScores(BaseEstimator):
    """A fitted linear classifier with the coefficients it is given."""

    def __init__(self, coef, intercept):
        self.coef_, self.intercept_ = coef, intercept
        self.classes_ = np.arange(len(coef))

    def fit(self, X, y):
        return self


def random_case(seed):
    """Any classifier, data, weights, trust and ball; some costs zero or infinite."""
    rng = np.random.default_rng(seed)
    n_rows, n_features, n_classes = rng.integers(2, 12), rng.integers(1, 5), 2 + seed % 4
    label_cost = rng.exponential(size=(n_classes, n_classes))
    label_cost[rng.random(label_cost.shape) < 0.3] = np.inf
    label_cost[rng.random(label_cost.shape) < 0.1] = 0.0
    np.fill_diagonal(label_cost, 0.0)
    feature_cost = rng.exponential(size=n_features) + 0.1
    feature_cost[rng.random(n_features) < 0.2] = np.inf
    trust = rng.choice([0.5, 1.0, 2.0, np.inf], n_rows)
    classifier = FixedScores(
        rng.normal(size=(n_classes, n_features)), rng.normal(size=n_classes)
    )
    norm = rng.choice(["l1", "l2", "linf"])
    ball = WassersteinBall(rng.exponential(0.3), label_cost, norm, feature_cost)
    weight = rng.exponential(size=n_rows) * (rng.random(n_rows) < 0.9)
    weight[0] = 1.0
    X = rng.normal(size=(n_rows, n_features))
    y = rng.integers(0, rng.integers(1, n_classes + 1), n_rows)
    return SimpleNamespace(
        classifier=classifier,
        X=X,
        y=y,
        ball=ball,
        options={"sample_weight": weight, "label_trust": trust},
        loss=rng.choice(["crammer-singer", "logistic"]),
    )


_rng = np.random.default_rng(0)
CODES = np.arange(12) % 3
FEATURES = _rng.normal(size=(12, 2)) + 1.5 * np.eye(3)[CODES][:, :2]
WEIGHT = _rng.uniform(0.5, 1.5, 12)


def twelve_rows(ball=None, **changes):
    """The training problem of the twelve rows."""
    ball = WassersteinBall(0.05, 2.0) if ball is None else ball
    return RobustProblem.of(FEATURES, CODES, WEIGHT / WEIGHT.sum(), ball, 3, **changes)


IRIS, SPECIES = load_iris(return_X_y=True)
IRIS, SPECIES = scale(IRIS)[::3], SPECIES[::3]
CALM_KERNELS = [
    {"kernel": "linear"},
    {"kernel": "rbf", "gamma": 0.5},
    {"kernel": "laplacian", "gamma": 0.3},
    {"kernel": "poly", "degree": 1, "gamma": 2.0},
    {"kernel": "rbf", "gamma": 0.5, "n_components": 15},
    {"kernel": "rbf", "gamma": 0.5, "lipschitz": "triangle"},
]
