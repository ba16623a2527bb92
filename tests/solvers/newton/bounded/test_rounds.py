"""Newton in boxes and with categories, against the interior point and its own bound."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from wdrsvm import WassersteinBall
from wdrsvm.problem import LOSSES, RobustProblem
from wdrsvm.solvers import SolverSettings, SolverStatus, solve
from wdrsvm.solvers.result import Start

from ....agreement.bounded_instances import bounded_problem

NORMS = ["l1", "l2", "linf"]


def mixed_table(n_rows, norm="l1", label_cost=2.0, seed=0):
    """Six numbers between -3 and 3, and a category, which hint at one of three classes."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, n_rows)
    numbers = np.clip(rng.normal(size=(3, 6))[y] + rng.normal(size=(n_rows, 6)), -3, 3)
    category = np.where(rng.random(n_rows) < 0.5, y, rng.integers(0, 3, n_rows))
    X = np.hstack([numbers, np.eye(3)[category]])
    ball = WassersteinBall(
        0.05, label_cost, norm, support=(-3.0, 3.0), categorical=[([6, 7, 8], 1.0)]
    )
    return RobustProblem.of(X, y, np.full(n_rows, 1 / n_rows), ball, 3)


@cache
def optimum(n_rows, norm, label_cost):
    problem = mixed_table(n_rows, norm, label_cost)
    return solve(problem, "interior-point", SolverSettings(tol=1e-8)).certificate


@pytest.mark.parametrize("label_cost", [2.0, np.inf])
@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("tol", [1e-3, 1e-6])
def test_it_reaches_the_gap_asked_for_and_the_interior_point_s_optimum(
    tol, norm, label_cost
):
    problem, expected = mixed_table(700, norm, label_cost), optimum(700, norm, label_cost)
    found = solve(problem, "newton", SolverSettings(tol=tol))
    assert found.status is SolverStatus.CONVERGED
    assert found.solver == "newton"
    assert found.certificate.holds(tol)
    assert found.certificate.dual_bound <= expected.objective * (1 + 1e-9)
    assert found.certificate.objective >= expected.dual_bound * (1 - 1e-9)
    if norm == "l1":
        risk = problem.risk(found.coef, found.intercept).value
        assert risk == found.certificate.objective


@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("seed", range(4))
def test_few_rows_infinite_ends_and_untouchable_features(seed, norm):
    problem = bounded_problem(seed, norm, n_rows=20)
    one = solve(problem, "newton").certificate
    other = solve(problem, "interior-point").certificate
    assert one.holds(1e-6)
    assert one.dual_bound <= other.objective + 1e-9
    assert other.dual_bound <= one.objective + 1e-9


def test_it_is_deterministic():
    first, second = (solve(mixed_table(700), "newton") for _ in range(2))
    np.testing.assert_array_equal(first.coef, second.coef)


def test_an_exact_gap_is_reached_by_the_polish():
    found = solve(mixed_table(2000), "newton", SolverSettings(tol=1e-9))
    assert found.status is SolverStatus.CONVERGED


def test_a_limit_of_iterations_is_kept_and_the_bound_stays_valid():
    expected = optimum(700, "l1", 2.0)
    for limit in (1, 5, 12):
        found = solve(mixed_table(700), "newton", SolverSettings(max_iter=limit))
        assert found.n_iter <= limit
        assert found.certificate.dual_bound <= expected.objective * (1 + 1e-9)
        assert found.certificate.objective >= expected.dual_bound * (1 - 1e-9)


@pytest.mark.parametrize("loss", ["crammer-singer", "logistic"])
def test_a_start_nearby_saves_steps_and_changes_no_result(loss):
    problem = replace(mixed_table(900), loss=LOSSES[loss])
    settings = SolverSettings(tol=1e-4)
    near = solve(problem.with_radius(1.2 * problem.radius), "newton", settings)
    start = Start(near.coef, near.intercept, near.certificate.lam)
    cold, warm = (solve(problem, "newton", settings, at) for at in (None, start))
    assert warm.certificate.holds(1e-4)
    assert warm.n_iter < cold.n_iter
    allowed = 2e-4 * max(cold.certificate.objective, 1e-2)
    assert abs(warm.certificate.objective - cold.certificate.objective) <= allowed


@pytest.mark.parametrize("norm", ["l2", "linf"])
def test_a_start_is_left_out_where_a_split_is_not_known(norm):
    problem, settings = bounded_problem(2, norm, n_rows=30), SolverSettings(tol=1e-4)
    cold = solve(problem, "newton", settings)
    start = Start(cold.coef, cold.intercept, cold.certificate.lam)
    again = solve(problem, "newton", settings, start)
    np.testing.assert_array_equal(again.coef, cold.coef)
