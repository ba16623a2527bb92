"""Problems that several tests of this room share, and label costs written out."""

from itertools import product

import numpy as np

from wdrsvm import WassersteinBall
from wdrsvm.problem import RobustProblem


def costs_by_hand(problem):
    """Label costs (N, C): 0 of the own label, inf wherever a factor is."""
    cost = np.zeros((problem.n_rows, problem.n_classes))
    trust = problem.label_trust
    for n, c in product(range(problem.n_rows), range(problem.n_classes)):
        if c == problem.y[n]:
            continue
        factors = [problem.label_cost[problem.y[n], c]]
        factors += [] if trust is None else [trust[n]]
        cost[n, c] = np.inf if np.inf in factors else np.prod(factors)
    return cost


def far_problem(offset):
    rng = np.random.default_rng(0)
    y = np.arange(20) % 2
    X = rng.normal(size=(20, 3)) + y[:, None] + offset
    weight = np.full(20, 1 / 20)
    return RobustProblem.of(X, y, weight, WassersteinBall(0.1, 2.0), n_classes=2)


SEEDS = range(30)


def value_by_hand(problem, coef, intercept, lam):
    """F(M, b, lam) from its definition."""
    losses = problem.loss.of_labels(problem.X @ coef.T + intercept)
    cost = costs_by_hand(problem)
    possible = np.isfinite(cost)
    pieces = np.where(possible, losses - lam * np.where(possible, cost, 0.0), -np.inf)
    return problem.radius * lam + problem.weight @ pieces.max(axis=1)


def classifier_for(problem, seed=0):
    rng = np.random.default_rng(seed)
    coef = rng.normal(size=(problem.n_classes, problem.n_features))
    return coef, rng.normal(size=problem.n_classes)
