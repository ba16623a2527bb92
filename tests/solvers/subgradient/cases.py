"""Problems and points for steps along subgradients."""

import numpy as np
from sklearn.datasets import make_classification

from wdrsvm import WassersteinBall
from wdrsvm.problem import RobustProblem

SEEDS = range(12)


def clusters(norm="l1", radius=0.05, label_cost=2.0, n_rows=300, intercept=True):
    rng = np.random.default_rng(0)
    y = np.arange(n_rows) % 3
    X = rng.normal(size=(n_rows, 4)) + 1.5 * np.eye(3, 4)[y]
    weight = np.full(n_rows, 1.0 / n_rows)
    ball = WassersteinBall(radius, label_cost, norm)
    return RobustProblem.of(X, y, weight, ball, 3, intercept)


N_CLASSES = 4


def rows(n_rows, n_features=8):
    X, y = make_classification(
        n_rows,
        n_features=n_features,
        n_informative=n_features,
        n_redundant=0,
        n_classes=N_CLASSES,
        n_clusters_per_class=1,
        class_sep=1.5,
        random_state=0,
    )
    return X, y.astype(np.intp)


def problem_of(X, y, ball, **kwargs):
    weight = np.full(len(y), 1.0 / len(y))
    return RobustProblem.of(X, y, weight, ball, N_CLASSES, **kwargs)


X, y = rows(5000)


BALL = WassersteinBall(0.05, 2.0)
