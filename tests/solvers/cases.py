"""Problems that tests of several solvers share."""

from dataclasses import replace

import numpy as np
import pytest

from wdrsvm import WassersteinBall
from wdrsvm.problem import RobustProblem
from wdrsvm.solvers.result import SolverStatus


def three_clusters(n_classes=3, norm="l2", label_cost=2.0, **parts):
    rng = np.random.default_rng(0)
    y = np.arange(30) % 3
    X = rng.normal(size=(30, 4)) + 2 * np.eye(3, 4)[y]
    ball = WassersteinBall(0.05, label_cost, norm)
    weight = np.full(30, 1 / 30)
    return RobustProblem.of(X, y, weight, ball, n_classes=n_classes, **parts)


def rows_in_line(n_features=2, n_classes=3, n_rows=30, norm="l2"):
    rng = np.random.default_rng(0)
    y = np.arange(n_rows) % n_classes
    X = rng.normal(size=(n_rows, n_features)) + y[:, None]
    weight = np.full(n_rows, 1.0 / n_rows)
    return RobustProblem.of(X, y, weight, WassersteinBall(0.05, 2.0, norm), n_classes)


BOUNDED_TOL = 1e-6


def odd_problem(seed):
    """Features of scale 1e-3 to 1e6, a radius of 1e-4 to 100 of them, ends at random."""
    rng = np.random.default_rng(seed)
    n_classes, n_numeric, n_rows = rng.integers(2, 5), rng.integers(1, 4), 24
    y = np.arange(n_rows) % n_classes
    scale = 10.0 ** rng.uniform(-3, 6)
    columns = scale * 10.0 ** (rng.uniform(-2, 2, n_numeric) if seed % 2 else 0.0)
    X = (rng.normal(size=(n_rows, n_numeric)) + y[:, None] + rng.integers(50)) * columns
    low, high = X.min(axis=0), X.max(axis=0) + rng.uniform(size=n_numeric) * columns
    low = np.where(rng.random(n_numeric) < 0.3, -np.inf, low)
    high = np.where(rng.random(n_numeric) < 0.3, np.inf, high)
    categorical = None
    if seed % 3 == 0:
        X = np.hstack([X, np.eye(2)[rng.integers(0, 2, n_rows)]])
        low, high = (np.r_[end, 0.0, 0.0] for end in (low, high))
        categorical = [([n_numeric, n_numeric + 1], scale * 10.0 ** rng.uniform(-2, 1))]
    cost = 10.0 ** rng.uniform(-1, 1, X.shape[1]) if seed % 4 == 1 else None
    label_cost = scale * 10.0 ** rng.uniform(-1, 1, (n_classes, n_classes))
    label_cost[rng.random(label_cost.shape) < 0.3] = np.inf
    np.fill_diagonal(label_cost, 0.0)
    weight = rng.gamma(0.5, size=n_rows) + 1e-3
    ball = WassersteinBall(
        scale * 10.0 ** rng.uniform(-4, 2),
        label_cost,
        ("l1", "l2", "linf")[seed % 3 if seed % 2 else (seed + 1) % 3],
        cost,
        (low, high),
        categorical,
    )
    return RobustProblem.of(X, y, weight / weight.sum(), ball, int(n_classes), seed % 5 > 0)


every_norm = pytest.mark.parametrize("norm", ["l1", "l2", "linf"])


def clusters(n_rows=45, n_features=4, n_classes=3, distance=1.0, seed=0):
    rng = np.random.default_rng(seed)
    y = np.arange(n_rows) % n_classes
    return rng.normal(size=(n_rows, n_features)) + distance * y[:, None], y


def problem_of(X, y, norm="l2", radius=0.05, label_cost=2.0, n_classes=None, **options):
    weight = options.pop("weight", np.full(len(y), 1.0 / len(y)))
    ball = WassersteinBall(radius, label_cost, norm, options.pop("feature_cost", None))
    n_classes = int(y.max()) + 1 if n_classes is None else n_classes
    return RobustProblem.of(X, y, weight / weight.sum(), ball, n_classes, **options)


def duplicate_rows(norm):
    X, y = clusters()
    return problem_of(np.tile(X, (3, 1)), np.tile(y, 3), norm)


def constant_column(norm):
    X, y = clusters()
    X[:, 1] = 0.1
    return problem_of(X, y, norm)


def collinear_columns(norm):
    X, y = clusters()
    return problem_of(np.column_stack([X, X[:, 0], X[:, 1] - X[:, 2]]), y, norm)


def collinear_columns_that_cannot_be_moved(norm):
    return replace(collinear_columns(norm), ball=WassersteinBall(0.0, 2.0, norm))


def separable(norm):
    X, y = clusters(distance=9.0)
    return problem_of(X, y, norm, label_cost=np.inf)


def single_sample_classes(norm):
    X, _ = clusters(5)
    return problem_of(X, np.arange(5), norm)


def more_features_than_rows(norm):
    X, y = clusters(12, 30, distance=0.0)
    return problem_of(X, y, norm)


def features_of_many_sizes(norm):
    X, y = clusters()
    return problem_of(X * 10.0 ** np.array([-3, -1, 1, 3]), y, norm)


def far_from_the_origin(norm):
    X, y = clusters()
    return problem_of(X + 1e4, y, norm)


def beyond_the_constant_classifier(norm):
    return problem_of(*clusters(), norm, radius=1e3)


def without_features(norm):
    return problem_of(np.empty((9, 0)), np.arange(9) % 3, norm)


def equal_features(norm):
    return problem_of(np.ones((9, 2)), np.arange(9) % 3, norm)


def one_row(norm):
    return problem_of(np.array([[1.0, -2.0]]), np.array([0]), norm, n_classes=2)


def an_absent_class(norm):
    return problem_of(*clusters(), norm, label_cost=np.inf, n_classes=5)


def weights_of_all_sizes(norm):
    weight = 10.0 ** np.random.default_rng(0).uniform(-9, 0, 45)
    return problem_of(*clusters(), norm, weight=weight)


def free_flips(norm):
    return problem_of(*clusters(), norm, label_cost=0.0)


def hardly_any_flips(norm):
    return problem_of(*clusters(), norm, label_cost=1e9)


DEGENERATE = [
    duplicate_rows,
    constant_column,
    collinear_columns,
    collinear_columns_that_cannot_be_moved,
    separable,
    single_sample_classes,
    more_features_than_rows,
    features_of_many_sizes,
    far_from_the_origin,
    beyond_the_constant_classifier,
    without_features,
    equal_features,
    one_row,
    an_absent_class,
    weights_of_all_sizes,
    free_flips,
    hardly_any_flips,
]


def assert_solved(problem, result, tol):
    found = result.certificate
    assert result.status is SolverStatus.CONVERGED
    assert found.holds(tol)
    value, lam = problem.risk(result.coef, result.intercept)
    assert (found.objective, found.lam) == pytest.approx((value, lam), rel=1e-12)
    assert found.dual_bound <= found.objective
