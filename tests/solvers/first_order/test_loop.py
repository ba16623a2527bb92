"""The first-order solver brackets the optimum on every kind of problem, sparse or dense."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse

from wdrsvm import WassersteinBall
from wdrsvm.problem import RobustProblem, dual_bound
from wdrsvm.solvers import SolverSettings, SolverStatus, Start, solve
from wdrsvm.solvers.first_order.loop import first_order
from wdrsvm.solvers.first_order.state import Ascent
from wdrsvm.solvers.interior_point.loop import interior_point

from ...agreement.instances import describe, random_problem
from ..cases import three_clusters
from .cases import FAMILY, wide

ROUGH = SolverSettings(tol=1e-2)


@pytest.mark.parametrize("seed", range(30))
def test_the_optimum_lies_between_bound_and_objective(seed):
    problem = random_problem(seed)
    found = first_order(problem, ROUGH).certificate
    exact = interior_point(problem, SolverSettings(tol=1e-8)).certificate
    assert found.dual_bound <= exact.objective + 1e-9, describe(problem)
    assert found.objective >= exact.dual_bound - 1e-9, describe(problem)


@pytest.mark.parametrize(
    ("norm", "label_cost", "fit_intercept"),
    [
        ("l1", np.inf, True),
        ("l1", 0.5, False),
        ("l2", np.inf, False),
        ("l2", 0.5, True),
        ("linf", np.inf, False),
        ("linf", 0.5, True),
    ],
)
def test_sparse_and_dense_agree_with_the_interior_point(norm, label_cost, fit_intercept):
    problem = wide(norm, label_cost, fit_intercept)
    exact = interior_point(problem, SolverSettings(tol=1e-6)).certificate
    for same in (problem, problem.with_rows(X=problem.X.toarray())):
        found = first_order(same, ROUGH).certificate
        assert found.holds(1e-2)
        assert found.dual_bound <= exact.objective + 1e-9
        assert found.objective >= exact.dual_bound - 1e-9


@pytest.mark.parametrize("norm", ["l1", "l2", "linf"])
def test_the_multipliers_returned_prove_the_bound(norm):
    problem = wide(norm, 0.5)
    result = first_order(problem, ROUGH)
    bound = dual_bound(problem, result.multipliers)
    assert bound <= interior_point(problem, SolverSettings()).certificate.objective + 1e-9
    assert bound >= 0.5 * result.certificate.dual_bound


def test_equal_seeds_give_equal_results():
    problem = wide("l2", np.inf)
    one, other = (first_order(problem, ROUGH) for _ in range(2))
    np.testing.assert_array_equal(one.coef, other.coef)


def test_too_few_epochs_give_the_true_gap():
    problem = wide("l2", np.inf)
    result = first_order(problem, SolverSettings(tol=1e-8, max_iter=3))
    assert result.status is SolverStatus.MAX_ITER
    value = problem.risk(result.coef, result.intercept).value
    assert result.n_iter == 3
    assert result.certificate.objective == pytest.approx(value, rel=1e-12)
    exact = interior_point(problem, SolverSettings(tol=1e-6)).certificate
    assert result.certificate.gap >= exact.objective - exact.dual_bound
    assert result.certificate.dual_bound <= exact.objective <= value


def test_a_start_is_used():
    problem = wide("l2", np.inf)
    first = first_order(problem, SolverSettings(tol=1e-4))
    start = Start(first.coef, first.intercept, first.certificate.lam)
    again = first_order(problem, SolverSettings(tol=1e-3), start)
    assert again.n_iter <= first.n_iter
    assert again.certificate.holds(1e-3)


def test_no_result_is_worse_than_its_start():
    problem = wide("l1", 0.5)
    good = first_order(problem, ROUGH)
    start = Start(good.coef, good.intercept, good.certificate.lam)
    again = first_order(problem, SolverSettings(tol=1e-9, max_iter=1), start)
    assert again.certificate.objective <= good.certificate.objective


@pytest.mark.parametrize("norm", ["l1", "l2", "linf"])
@pytest.mark.parametrize("fit_intercept", [False, True])
def test_costs_trust_and_weights_of_wide_data(norm, fit_intercept):
    """Prices of every kind at once: infinite ones make columns free."""
    rng = np.random.default_rng(1)
    problem = wide(norm, 0.5, fit_intercept)
    cost = rng.uniform(0.5, 2.0, problem.n_features)
    cost[[5, 7]] = np.inf
    prices = rng.uniform(0.2, 1.0, (3, 3))
    prices[0, 1] = np.inf
    np.fill_diagonal(prices, 0.0)
    trust = rng.choice([0.5, 1.0, np.inf], problem.n_rows)
    weight = rng.exponential(size=problem.n_rows)
    weight[:3] = 0.0
    problem = problem.with_rows(weight=weight / weight.sum(), label_trust=trust)
    problem = replace(problem, ball=WassersteinBall(0.02, prices, norm, cost))
    found = first_order(problem, ROUGH).certificate
    exact = interior_point(problem, SolverSettings(tol=1e-6)).certificate
    assert found.holds(1e-2)
    assert found.dual_bound <= exact.objective + 1e-9
    assert found.objective >= exact.dual_bound - 1e-9


@pytest.mark.parametrize("radius", [0.0, 30.0])
@pytest.mark.parametrize("norm", ["l1", "l2", "linf"])
def test_no_budget_and_too_much_of_it(radius, norm):
    problem = wide(norm, 0.5)
    problem = problem.with_radius(radius)
    result = first_order(problem, SolverSettings(tol=1e-3, max_iter=200))
    # Wide data can be separated; against a large budget only the constant helps.
    assert result.certificate.objective == pytest.approx(float(radius > 0), abs=1e-3)
    assert 0 <= result.certificate.dual_bound <= result.certificate.objective + 1e-12
    assert result.certificate.holds(1e-3) or radius == 0


def test_labels_that_nobody_has_cost_nothing():
    problem = wide("l2", np.inf)
    more = replace(problem, n_classes=5)
    few, many = (first_order(each, ROUGH).certificate for each in (problem, more))
    assert many.dual_bound <= few.objective
    assert few.dual_bound <= many.objective


def test_history_is_passed_on_and_closes_in():
    seen = []
    settings = SolverSettings(tol=1e-3, callback=seen.append)
    result = first_order(wide("l2", 0.5), settings)
    assert tuple(seen) == result.history
    assert result.history[-1].n_iter == result.n_iter
    objectives = [record.objective for record in seen]
    bounds = [record.dual_bound for record in seen]
    assert objectives == sorted(objectives, reverse=True)
    assert bounds == sorted(bounds)


def test_another_seed_gives_another_way_to_the_same_value():
    problem = wide("l2", 0.5)
    one, other = (
        first_order(problem, SolverSettings(tol=1e-3, seed=seed)) for seed in (0, 1)
    )
    assert np.any(one.coef != other.coef)
    assert one.certificate.dual_bound <= other.certificate.objective
    assert other.certificate.dual_bound <= one.certificate.objective


def test_sparse_data_are_never_made_dense(monkeypatch):
    problem = wide("l2", 0.5, n_features=20_000)

    def refuse(*_):
        raise AssertionError("dense copy")

    monkeypatch.setattr(sparse.csr_array, "toarray", refuse)
    assert first_order(problem, ROUGH).certificate.holds(1e-2)


def test_a_first_order_run_away_keeps_what_was_known(monkeypatch):
    monkeypatch.setattr(Ascent, "has_run_away", property(lambda ascent: True))
    found = solve(three_clusters(), "first-order", SolverSettings(max_iter=20))
    assert found.status is SolverStatus.STALLED
    assert found.certificate.objective == pytest.approx(1.0)
    assert found.certificate.dual_bound == 0.0


def smooth_problem(loss, norm="l2", label_cost=np.inf, fit_intercept=True):
    rng = np.random.default_rng(0)
    y = np.arange(120) % 4
    X = rng.normal(size=(120, 8)) + 0.8 * rng.normal(size=(4, 8))[y]
    ball = WassersteinBall(0.05, label_cost, norm)
    return RobustProblem.of(X, y, np.full(120, 1 / 120), ball, 4, fit_intercept, loss=loss)


@pytest.mark.parametrize("loss", FAMILY, ids=str)
@pytest.mark.parametrize("norm", ["l1", "l2", "linf"])
@pytest.mark.parametrize("label_cost", [1.0, np.inf])
def test_it_brackets_newton(norm, label_cost, loss):
    problem = smooth_problem(loss, norm, label_cost)
    exact = solve(problem, "newton").certificate
    found = solve(problem, "first-order", SolverSettings(tol=1e-4))
    assert found.status is SolverStatus.CONVERGED
    assert found.certificate.dual_bound <= exact.objective + 1e-9
    assert found.certificate.objective >= exact.dual_bound - 1e-9
    assert found.certificate.holds(1e-4)


@pytest.mark.parametrize("loss", FAMILY, ids=str)
def test_wide_sparse_data_are_certified(loss):
    """More coefficients than a dense system could hold."""
    rng = np.random.default_rng(1)
    y = np.arange(300) % 5
    X = sparse.random_array((300, 20_000), density=1e-3, format="csr", rng=rng)
    X = sparse.csr_array(X + sparse.csr_array(np.eye(5)[y] @ np.eye(5, 20_000)))
    ball = WassersteinBall(0.02, 2.0, "l2")
    problem = RobustProblem.of(X, y, np.full(300, 1 / 300), ball, 5, loss=loss)
    found = solve(problem, "first-order", SolverSettings(tol=1e-3))
    assert found.status is SolverStatus.CONVERGED
    assert found.certificate.objective < 0.9 * loss.of_equal_scores(5)


def test_a_problem_without_an_intercept_is_solved_too():
    problem = replace(smooth_problem(FAMILY[0]), fit_intercept=False)
    found = solve(problem, "first-order", SolverSettings(tol=1e-4))
    assert found.certificate.holds(1e-4)
