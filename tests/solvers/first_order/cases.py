"""Problems for the first-order method."""

import numpy as np
from scipy import sparse

from wdrsvm import WassersteinBall
from wdrsvm.problem import LOSSES, Loss, RobustProblem
from wdrsvm.solvers.first_order.state import Ascent

FAMILY = [LOSSES["logistic"], Loss(0.1, 1.0)]


def wide(norm, label_cost, fit_intercept=True, n_rows=60, n_features=300, seed=0):
    rng = np.random.default_rng(seed)
    y = np.arange(n_rows) % 3
    filled = rng.random((n_rows, n_features)) < 0.1
    X = filled * rng.random((n_rows, n_features)) + np.eye(3, n_features)[y]
    X = sparse.csr_array(X)
    ball = WassersteinBall(0.02, label_cost, norm)
    weight = np.full(n_rows, 1 / n_rows)
    return RobustProblem.of(X, y, weight, ball, 3, fit_intercept)


def ascended(problem, n_epochs=5):
    ascent = Ascent(problem, None, seed=0)
    for _ in range(n_epochs):
        ascent.sweep()
        ascent.recentre()
    return ascent
