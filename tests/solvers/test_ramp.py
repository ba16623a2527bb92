"""Training for the worst-case error: certified, the same every time."""

import numpy as np
import pytest
from sklearn.datasets import load_digits, load_iris, load_wine
from sklearn.preprocessing import scale

from wdrsvm.problem import RobustProblem, WassersteinBall
from wdrsvm.problem.ramp import Errors, RampProblem
from wdrsvm.solvers import SolverSettings, solve
from wdrsvm.solvers.descent_settings import DESCENT
from wdrsvm.solvers.ramp import best_of, ends_from, minimise_ramp

SETTINGS = SolverSettings()


def ramp_of(X, y, radius=0.1, label_cost=np.inf, norm="l2", trust=None):
    ball = WassersteinBall(radius, label_cost, norm)
    weight = np.full(len(y), 1 / len(y))
    n_classes = int(y.max()) + 1
    return RampProblem(RobustProblem.of(X, y, weight, ball, n_classes, label_trust=trust))


def noisy_rows(seed, n_rows=40):
    rng = np.random.default_rng(seed)
    y = rng.integers(3, size=n_rows)
    return np.eye(3)[y] + 0.6 * rng.normal(size=(n_rows, 3)), y


@pytest.mark.parametrize("label_cost", [np.inf, 0.5])
@pytest.mark.parametrize("norm", ["l1", "l2", "linf"])
def test_the_certificate_is_that_of_the_classifier(norm, label_cost):
    for seed in range(4):
        ramp = ramp_of(*noisy_rows(seed), label_cost=label_cost, norm=norm)
        found = minimise_ramp(ramp, SETTINGS)
        value, bound, lam = found.certificate
        again = ramp.point(found.coef, found.intercept)
        assert (value, lam) == (again.value, again.lam)
        assert value >= ramp.errors(found.coef, found.intercept).worst - 1e-12
        assert value <= ramp.point(0.5 * found.coef, 0.5 * found.intercept).value + 1e-12
        assert bound <= value


def test_the_dual_bound_is_that_of_the_rows_kept():
    X, y = load_wine(return_X_y=True)
    ramp = ramp_of(scale(X), y)
    found = minimise_ramp(ramp, SETTINGS)
    piece = ramp.doubted.convex_piece(ramp.doubted.beliefs(found.coef, found.intercept))
    optimum = piece.value(solve(piece.problem).certificate.objective)
    assert found.certificate.dual_bound == pytest.approx(optimum, abs=1e-5)


def test_new_rows_are_withstood_better_than_by_the_convex_fit():
    X, y = load_digits(return_X_y=True)
    X = scale(X)[:, 20:40]
    worst = []
    for first in range(0, 600, 200):
        rows = np.arange(len(y)) // 200 == first // 200
        train, test = ramp_of(X[rows], y[rows]), ramp_of(X[~rows], y[~rows])
        found, convex = minimise_ramp(train, SETTINGS), solve(train.problem)
        worst.append(
            [test.errors(each.coef, each.intercept).worst for each in (found, convex)]
        )
    ours, theirs = np.mean(worst, axis=0)
    assert ours < theirs - 0.01


def test_the_same_every_time():
    X, y = noisy_rows(1)
    one, other = (minimise_ramp(ramp_of(X, y), SETTINGS) for _ in range(2))
    np.testing.assert_array_equal(one.coef, other.coef)
    assert one.certificate == other.certificate


def test_one_of_the_ends_is_chosen():
    ramp = ramp_of(*noisy_rows(3))
    found = minimise_ramp(ramp, SETTINGS)
    ends = [ramp.scaled(*end).coef for end in ends_from(ramp, solve(ramp.problem))]
    assert len(ends) == len(DESCENT.radius_shares) + 2
    assert min(np.abs(found.coef - end).max() for end in ends) < 1e-6


def test_a_plain_error_is_worth_a_share_of_a_worst_case_error():
    worth = DESCENT.plain_weight
    dear, cheap = Errors(0.3 + 0.11 * worth, 0.1), Errors(0.3 + 0.09 * worth, 0.1)
    given_up = Errors(0.3, 0.2)
    assert best_of([dear, given_up]) == 1
    assert best_of([cheap, given_up]) == 0
    assert best_of([Errors(0.4, 0.1), Errors(0.39, 0.1)]) == 1
    assert best_of([given_up, given_up]) == 0


def test_one_descent_is_made_at_a_smaller_radius():
    """It gives up fewer rows."""
    X, y = load_wine(return_X_y=True)
    ramp = ramp_of(scale(X)[:, :3], y, radius=0.4)
    _, whole, part, _ = ends_from(ramp, solve(ramp.problem))
    assert ramp.errors(*part).plain < ramp.errors(*whole).plain - 0.02


@pytest.mark.parametrize("n_rows", [2, 3, 5, 9])
def test_few_rows_are_judged_where_they_are(n_rows):
    y = np.arange(n_rows) % 2
    X = np.where(y, 1.0, -1.0)[:, None] * np.ones((n_rows, 2))
    found = minimise_ramp(ramp_of(X, y, 0.05), SETTINGS)
    assert ((X @ found.coef.T + found.intercept).argmax(axis=1) == y).all()


def test_without_a_budget_separable_rows_have_no_error():
    X, y = load_iris(return_X_y=True)
    found = minimise_ramp(ramp_of(X[y < 2], y[y < 2], radius=0.0), SETTINGS)
    assert found.certificate.objective == pytest.approx(0.0, abs=1e-9)
