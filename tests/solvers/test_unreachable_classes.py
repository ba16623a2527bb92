"""Classes that no mass can carry change nothing."""

import numpy as np
import pytest

from wdrsvm.solvers import SolverSettings, SolverStatus, Start, solve

from .cases import three_clusters

SOLVERS = ["interior-point", "newton", "first-order", "subgradient", "stochastic"]


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("label_cost", [np.inf, "matrix"])
def test_classes_without_mass_change_nothing(solver, label_cost):
    cost = np.inf
    if label_cost == "matrix":
        cost = np.full((6, 6), np.inf)
        cost[:3, :3] = 2.0
        np.fill_diagonal(cost, 0.0)
    small = three_clusters(label_cost=cost if label_cost == np.inf else cost[:3, :3])
    large = three_clusters(6, label_cost=cost)
    settings = SolverSettings(tol=1e-4, max_iter=50)
    one, other = solve(small, solver, settings), solve(large, solver, settings)
    assert other.certificate.dual_bound == one.certificate.dual_bound
    assert other.certificate.objective == one.certificate.objective
    exact = large.risk(other.coef, other.intercept).value
    assert exact == pytest.approx(other.certificate.objective, rel=1e-12)


def test_classes_without_mass_may_have_a_start():
    problem = three_clusters(6, label_cost=np.inf)
    start = Start(np.ones((6, 4)), np.zeros(6), 1.0)
    found = solve(problem, "interior-point", start=start)
    assert found.status is SolverStatus.CONVERGED
    assert found.coef.shape == (6, 4)


def test_without_an_intercept_all_classes_stay():
    """Nothing could keep a class from winning there."""
    problem = three_clusters(6, label_cost=np.inf, fit_intercept=False)
    found = solve(problem)
    assert found.status is SolverStatus.CONVERGED
    risk = problem.risk(found.coef, found.intercept).value
    assert risk == found.certificate.objective
