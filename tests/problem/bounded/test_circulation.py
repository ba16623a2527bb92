"""Masses that are zero in every balanced plan."""

import numpy as np
import pytest
from scipy.optimize import linprog

from wdrsvm import WassersteinBall
from wdrsvm.problem import RobustProblem

EVERY = slice(None)


def one_hot_problem(seed, n_groups=1, label_cost=np.inf, fit_intercept=True):
    """Few rows of three classes, whose categories cannot be switched."""
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, 3, size=(n_groups, 7))
    X = np.hstack([np.eye(3)[code] for code in codes])
    groups = [(range(3 * g, 3 * g + 3), np.inf) for g in range(n_groups)]
    ball = WassersteinBall(0.1, label_cost, categorical=groups)
    y = np.r_[0, 1, 2, rng.integers(0, 3, 4)]
    return RobustProblem.of(X, y, np.full(7, 1 / 7), ball, 3, fit_intercept)


def allowed_by(problem):
    winner, label = problem.moves.pairs
    possible = np.isfinite(problem.label_price()[:, label].T)
    return possible & problem.moves.circulation.allows(problem, EVERY, winner, label)


def largest_mass(problem, pair, row):
    """The largest mass of a pair and a row among all balanced plans, by HiGHS."""
    winner, label = problem.moves.pairs
    unit = np.eye(problem.n_classes)
    rows = np.hstack([problem.X, np.ones((problem.n_rows, 1))])
    rows = rows if problem.fit_intercept else rows[:, :-1]
    pulls = np.einsum("kc,nd->cdkn", unit[winner] - unit[label], rows)
    shape = len(winner), problem.n_rows
    cost = np.zeros(shape)
    cost[pair, row] = -1.0
    ends = np.where(np.isfinite(problem.label_price()[:, label].T), 1.0, 0.0)
    found = linprog(
        cost.ravel(),
        A_eq=pulls.reshape(-1, cost.size),
        b_eq=np.zeros(pulls.shape[0] * pulls.shape[1]),
        bounds=np.column_stack([np.zeros(cost.size), ends.ravel()]),
    )
    return -found.fun


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("seed", range(3))
def test_what_is_taken_away_is_zero_in_all_balanced_plans(seed, fit_intercept):
    problem = one_hot_problem(seed, n_groups=2, fit_intercept=fit_intercept)
    allowed = allowed_by(problem)
    assert not allowed.all()
    for pair, row in np.argwhere(~allowed):
        assert largest_mass(problem, pair, row) == pytest.approx(0.0, abs=1e-9)


@pytest.mark.parametrize("seed", range(4))
def test_with_one_category_nothing_else_is_zero(seed):
    problem = one_hot_problem(seed)
    for pair, row in np.argwhere(allowed_by(problem)):
        assert largest_mass(problem, pair, row) > 0.1


def test_a_class_that_can_be_flipped_to_is_there():
    """Every label can be had in every category, so that nothing is zero."""
    assert allowed_by(one_hot_problem(0, label_cost=1.0)).all()
    assert not allowed_by(one_hot_problem(0)).all()


def test_pairs_of_equal_classes_are_allowed():
    problem, each = one_hot_problem(0), np.arange(3)
    assert problem.moves.circulation.allows(problem, EVERY, each, each).all()


def test_columns_that_can_change_circulate_nothing():
    X = np.eye(2)[[0, 1, 0]]
    ball = WassersteinBall(0.1, categorical=[([0, 1], 1.0)])
    problem = RobustProblem.of(X, np.array([0, 1, 1]), np.full(3, 1 / 3), ball, 2)
    assert problem.moves.circulation is None
    # Entries of both signs need no balance by themselves.
    ball = WassersteinBall(0.1, feature_cost=[np.inf, 1.0], support=(-2.0, 2.0))
    X = np.array([[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0]])
    mixed = RobustProblem.of(X, np.array([0, 1, 1]), np.full(3, 1 / 3), ball, 2, False)
    assert mixed.moves.circulation is None
