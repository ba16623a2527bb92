"""The first-order method on smooth losses: rows one by one, and whole problems."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse

from wdrsvm.problem import LOSSES, Loss, RobustProblem, WassersteinBall
from wdrsvm.problem.certificate.smooth import RowTangents
from wdrsvm.solvers import SolverSettings, SolverStatus, solve
from wdrsvm.solvers.first_order.kernels import Price
from wdrsvm.solvers.first_order.samples import Duals

from .test_loop import OneRow

FAMILY = [LOSSES["logistic"], Loss(0.1, 1.0)]


def problem_of(loss, norm="l2", label_cost=np.inf, fit_intercept=True):
    rng = np.random.default_rng(0)
    y = np.arange(120) % 4
    X = rng.normal(size=(120, 8)) + 0.8 * rng.normal(size=(4, 8))[y]
    ball = WassersteinBall(0.05, label_cost, norm)
    return RobustProblem.of(X, y, np.full(120, 1 / 120), ball, 4, fit_intercept, loss=loss)


@pytest.mark.parametrize("loss", FAMILY, ids=str)
@pytest.mark.parametrize("norm", ["l1", "l2", "linf"])
@pytest.mark.parametrize("label_cost", [1.0, np.inf])
def test_it_brackets_newton(norm, label_cost, loss):
    problem = problem_of(loss, norm, label_cost)
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


@pytest.mark.tiny
@pytest.mark.parametrize("loss", FAMILY, ids=str)
def test_a_row_settles_where_its_point_is_its_scores(loss):
    rng = np.random.default_rng(2)
    factor = rng.normal(size=(4, 4))
    metric, q, r, tol = factor @ factor.T + np.eye(4), 2.0, 0.3, 1e-9
    duals = Duals(np.zeros((1, 4)), 0.7 * np.eye(4)[[1]], np.zeros((1, 4)))
    cost = np.array([0.5, np.inf, 0.2, np.inf])
    price = Price(1.0, 1.0, loss.temperature, loss.margin)
    price.response = 0.1
    row, total = OneRow(duals, cost[None], 1, q, rng.normal(size=4), r), np.zeros(4)
    for _ in range(50):
        row.settle(price, metric, tol)
        row.scores -= (q * metric + r * np.eye(4)) @ row.change
        total += row.change
    scores, ((u,), (masses,), (slopes,)) = row.scores, duals
    made = RowTangents(loss, u[None], masses[None])
    np.testing.assert_allclose(u, scores, atol=1e-7)
    np.testing.assert_allclose(slopes, made.slopes(None)[0], atol=1e-12)
    np.testing.assert_allclose(total, slopes, atol=1e-12)
    assert masses.sum() == pytest.approx(0.7)
    worth = loss.of_labels(u[None])[0] - price.lam * np.where(np.arange(4) == 1, 0, cost)
    assert worth[masses > 0].min() >= worth.max() - 1e-7


def test_a_problem_without_an_intercept_is_solved_too():
    problem = replace(problem_of(FAMILY[0]), fit_intercept=False)
    found = solve(problem, "first-order", SolverSettings(tol=1e-4))
    assert found.certificate.holds(1e-4)
