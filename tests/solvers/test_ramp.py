"""The descent of the ramp bound: never up, certified, the same every time."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.datasets import load_iris, load_wine
from sklearn.preprocessing import scale

from wdrsvm.problem import RobustProblem, WassersteinBall
from wdrsvm.problem.ramp import RampProblem
from wdrsvm.solvers import SolverSettings, Start, solve
from wdrsvm.solvers.descent_settings import DESCENT
from wdrsvm.solvers.ramp import minimise_ramp

SETTINGS = SolverSettings()


def ramp_of(X, y, radius=0.1, label_cost=np.inf, norm="l2", trust=None):
    ball = WassersteinBall(radius, label_cost, norm)
    weight = np.full(len(y), 1 / len(y))
    n_classes = int(y.max()) + 1
    return RampProblem(RobustProblem.of(X, y, weight, ball, n_classes, label_trust=trust))


def noisy_rows(seed):
    rng = np.random.default_rng(seed)
    y = rng.integers(3, size=40)
    return np.eye(3)[y] + 0.6 * rng.normal(size=(40, 3)), y


@pytest.mark.parametrize("label_cost", [np.inf, 0.5])
@pytest.mark.parametrize("norm", ["l1", "l2", "linf"])
def test_the_end_is_no_higher_than_the_convex_fit(norm, label_cost):
    for seed in range(6):
        ramp = ramp_of(*noisy_rows(seed), label_cost=label_cost, norm=norm)
        convex = solve(ramp.problem)
        found, settled = minimise_ramp(ramp, SETTINGS)
        assert settled
        value, bound, lam = found.certificate
        assert value <= ramp.point(convex.coef, convex.intercept).value
        assert value <= ramp.scaled(convex.coef, convex.intercept).value
        assert value <= ramp.constant().value
        again = ramp.point(found.coef, found.intercept)
        assert (value, lam) == (again.value, again.lam)
        assert bound <= value


@pytest.mark.parametrize("load", [load_iris, load_wine])
def test_the_end_is_optimal_for_the_rows_kept(load):
    X, y = load(return_X_y=True)
    ramp = ramp_of(scale(X), y)
    found, _ = minimise_ramp(ramp, SETTINGS)
    assert found.certificate.gap <= 1e-6
    piece = ramp.doubted.convex_piece(ramp.doubted.beliefs(found.coef, found.intercept))
    optimum = piece.value(solve(piece.problem).certificate.objective)
    assert found.certificate.objective == pytest.approx(optimum, abs=1e-6)


def test_one_label_cost_only_limits_the_multiplier_from_below():
    # Then the bound is eps max(L, 1 / cost) + ramp loss: a smaller radius is trained for.
    X, y = noisy_rows(0)
    dear, cheap = (ramp_of(X, y, 0.2, cost) for cost in (100.0, 0.4))
    low, high = (minimise_ramp(each, SETTINGS)[0].certificate for each in (dear, cheap))
    assert high.lam == pytest.approx(1 / 0.4) or high.lam > 1 / 0.4
    assert low.objective < high.objective
    for radius in np.linspace(0.0, 0.2, 21):
        other, _ = minimise_ramp(ramp_of(X, y, radius), SETTINGS)
        assert high.objective <= cheap.scaled(other.coef, other.intercept).value + 0.01


def test_the_same_every_time():
    X, y = noisy_rows(1)
    one, other = (minimise_ramp(ramp_of(X, y), SETTINGS)[0] for _ in range(2))
    np.testing.assert_array_equal(one.coef, other.coef)
    assert one.certificate == other.certificate


def test_a_start_that_is_better_is_kept():
    X, y = noisy_rows(2)
    ramp = ramp_of(X, y)
    found, _ = minimise_ramp(ramp, SETTINGS)
    rng, best = np.random.default_rng(0), found
    for _ in range(20):
        weight = rng.exponential(size=len(y))
        other = solve(ramp.problem.with_rows(weight=weight / weight.sum()))
        start = Start(other.coef, other.intercept, other.certificate.lam)
        end, _ = minimise_ramp(ramp, SETTINGS, start)
        assert end.certificate.objective <= found.certificate.objective + 1e-12
        best = min(best, end, key=lambda each: each.certificate.objective)
    assert best.certificate.objective < found.certificate.objective - 1e-4


def test_rounds_that_have_not_settled_say_so(monkeypatch):
    monkeypatch.setattr("wdrsvm.solvers.ramp.DESCENT", replace(DESCENT, max_rounds=0))
    found, settled = minimise_ramp(ramp_of(*noisy_rows(0)), SETTINGS)
    assert not settled
    assert found.certificate.dual_bound == -np.inf


def test_without_a_budget_separable_rows_have_no_error():
    X, y = load_iris(return_X_y=True)
    found, _ = minimise_ramp(ramp_of(X[y < 2], y[y < 2], radius=0.0), SETTINGS)
    assert found.certificate.objective == pytest.approx(0.0, abs=1e-9)
