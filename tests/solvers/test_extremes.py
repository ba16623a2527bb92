"""Solvers where numbers end: they stop, say so, and keep what they have."""

from dataclasses import replace

import numpy as np
import pytest

from wdrsvm import WassersteinBall
from wdrsvm.problem import RobustProblem
from wdrsvm.solvers import SolverSettings, SolverStatus, Start, solve
from wdrsvm.solvers.cones.kernels import native
from wdrsvm.solvers.first_order.state import Ascent
from wdrsvm.solvers.interior_point.point import Iterate, ScaledData
from wdrsvm.solvers.scaling import Scaling

SOLVERS = ["interior-point", "newton", "first-order", "subgradient", "stochastic"]


def clusters(n_classes=3, norm="l2", label_cost=2.0, **parts):
    rng = np.random.default_rng(0)
    y = np.arange(30) % 3
    X = rng.normal(size=(30, 4)) + 2 * np.eye(3, 4)[y]
    ball = WassersteinBall(0.05, label_cost, norm)
    weight = np.full(30, 1 / 30)
    return RobustProblem.of(X, y, weight, ball, n_classes=n_classes, **parts)


@pytest.mark.parametrize("entry", [np.nan, np.inf])
def test_a_factorisation_without_numbers_ends(entry):
    matrix = np.array([[1.0, entry], [entry, 1.0]])
    assert np.isnan(native.NormalSystem(matrix).solve(np.ones(2))).any()


@pytest.mark.parametrize("norm", ["l1", "l2", "linf"])
def test_an_interior_point_does_not_follow_an_overflow(norm):
    problem = clusters(norm=norm)
    data = ScaledData.of(problem, Scaling.of(problem))
    iterate = Iterate(replace(data, linear=np.full_like(data.linear, np.nan)), norm)
    before = iterate.coef.copy(), iterate.lam
    iterate.run(1, 0.0)
    assert iterate.is_stuck
    np.testing.assert_array_equal(iterate.coef, before[0])
    assert iterate.lam == before[1]


@pytest.mark.parametrize("size", [np.nan, np.inf, 1e200])
def test_a_first_order_run_away_is_noticed(size):
    ascent = Ascent(clusters(), None, seed=0)
    assert not ascent.has_run_away
    ascent.block.coef = np.full_like(ascent.block.coef, size)
    assert ascent.has_run_away


def test_a_first_order_run_away_keeps_what_was_known(monkeypatch):
    monkeypatch.setattr(Ascent, "has_run_away", property(lambda ascent: True))
    found = solve(clusters(), "first-order", SolverSettings(max_iter=20))
    assert found.status is SolverStatus.STALLED
    assert found.certificate.objective == pytest.approx(1.0)
    assert found.certificate.dual_bound == 0.0


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("label_cost", [np.inf, "matrix"])
def test_classes_without_mass_change_nothing(solver, label_cost):
    cost = np.inf
    if label_cost == "matrix":
        cost = np.full((6, 6), np.inf)
        cost[:3, :3] = 2.0
        np.fill_diagonal(cost, 0.0)
    small = clusters(label_cost=cost if label_cost == np.inf else cost[:3, :3])
    large = clusters(6, label_cost=cost)
    settings = SolverSettings(tol=1e-4, max_iter=50)
    one, other = solve(small, solver, settings), solve(large, solver, settings)
    assert other.certificate.dual_bound == one.certificate.dual_bound
    assert other.certificate.objective == one.certificate.objective
    exact = large.risk(other.coef, other.intercept).value
    assert exact == pytest.approx(other.certificate.objective, rel=1e-12)


def test_classes_without_mass_may_have_a_start():
    problem = clusters(6, label_cost=np.inf)
    start = Start(np.ones((6, 4)), np.zeros(6), 1.0)
    found = solve(problem, "interior-point", start=start)
    assert found.status is SolverStatus.CONVERGED
    assert found.coef.shape == (6, 4)


def test_without_an_intercept_all_classes_stay():
    """Nothing could keep a class from winning there."""
    problem = clusters(6, label_cost=np.inf, fit_intercept=False)
    found = solve(problem)
    assert found.status is SolverStatus.CONVERGED
    risk = problem.risk(found.coef, found.intercept).value
    assert risk == found.certificate.objective


@pytest.mark.parametrize("norm", ["l1", "l2", "linf"])
def test_a_tiny_ball_around_large_features(norm):
    """In the solver's units lam ends at 1e12, far from where it starts."""
    plain = clusters(norm=norm)
    small = replace(plain.ball, radius=0.05e-12, label_cost=2e-12)
    found = solve(replace(plain, ball=small), "interior-point")
    assert found.status is SolverStatus.CONVERGED
