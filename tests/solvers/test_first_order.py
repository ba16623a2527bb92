"""The first-order solver brackets the optimum on every kind of problem, sparse or dense."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse

from wdrsvm import WassersteinBall
from wdrsvm.problem import RobustProblem, dual_bound
from wdrsvm.solvers import SolverSettings, SolverStatus, Start
from wdrsvm.solvers.first_order import first_order
from wdrsvm.solvers.interior_point import interior_point

from ..agreement.instances import describe, random_problem

ROUGH = SolverSettings(tol=1e-2)


def wide(norm, label_cost, fit_intercept=True, n_rows=60, n_features=300, seed=0):
    rng = np.random.default_rng(seed)
    y = np.arange(n_rows) % 3
    X = sparse.random(n_rows, n_features, 0.1, rng=rng, format="csr")
    X = sparse.csr_array(X + sparse.csr_array(np.eye(3, n_features)[y]))
    ball = WassersteinBall(0.02, label_cost, norm)
    weight = np.full(n_rows, 1 / n_rows)
    return RobustProblem(X, y, weight, ball, 3, fit_intercept)


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
    for same in (problem, replace(problem, X=problem.X.toarray())):
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
    assert result.certificate.objective == pytest.approx(value, rel=1e-12)
    assert result.certificate.gap > 0


def test_a_start_is_used():
    problem = wide("l2", np.inf)
    first = first_order(problem, SolverSettings(tol=1e-4))
    start = Start(first.coef, first.intercept, first.certificate.lam)
    again = first_order(problem, SolverSettings(tol=1e-3), start)
    assert again.n_iter <= first.n_iter
    assert again.certificate.holds(1e-3)
