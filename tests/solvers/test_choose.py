"""Names become solvers, and a wrong name becomes one clear sentence."""

import numpy as np
import pytest

from wdrsvm import WassersteinBall
from wdrsvm.problem import RobustProblem
from wdrsvm.solvers import SOLVERS, SolverSettings, choose, solve
from wdrsvm.solvers.choose import MAX_DENSE_UNKNOWNS, MIN_NEWTON_ROWS


def problem_of(n_features=2, n_classes=3, n_rows=30, norm="l2"):
    rng = np.random.default_rng(0)
    y = np.arange(n_rows) % n_classes
    X = rng.normal(size=(n_rows, n_features)) + y[:, None]
    weight = np.full(n_rows, 1.0 / n_rows)
    return RobustProblem(X, y, weight, WassersteinBall(0.05, 2.0, norm), n_classes)


def needs(name):
    package = {"highs": "highspy", "clarabel": "clarabel"}.get(name)
    if package is not None:
        pytest.importorskip(package)


@pytest.mark.parametrize("name", SOLVERS)
def test_every_name_can_be_loaded(name):
    assert callable(SOLVERS[name].load())


# Steps along subgradients end where the others begin: their gaps are honest, not small.
ROUGH = {"subgradient", "stochastic"}


@pytest.mark.parametrize("name", SOLVERS)
def test_every_solver_brackets_the_optimum(name):
    needs(name)
    problem = problem_of(norm="l1")
    result = solve(problem, name, SolverSettings(tol=1e-4))
    reference = solve(problem, "interior-point", SolverSettings(tol=1e-8)).certificate
    assert result.certificate.dual_bound <= reference.objective + 1e-12
    assert result.certificate.objective >= reference.dual_bound - 1e-12
    assert result.certificate.holds(1e-4) or name in ROUGH


def test_the_result_names_the_solver_that_auto_chose():
    problem = problem_of()
    assert solve(problem).solver == choose(problem, 1e-6)


def test_auto_goes_first_order_when_the_dense_system_is_too_large():
    n_features = MAX_DENSE_UNKNOWNS // 3
    assert choose(problem_of(n_features - 1, norm="l1"), 1e-6) == "interior-point"
    assert choose(problem_of(n_features, norm="l1"), 1e-6) == "first-order"


def test_auto_counts_at_most_the_rows_with_the_l2_norm():
    assert choose(problem_of(10 * MAX_DENSE_UNKNOWNS), 1e-6) == "interior-point"


def test_auto_smooths_where_rows_are_many():
    assert choose(problem_of(n_rows=MIN_NEWTON_ROWS), 1e-6) == "interior-point"
    assert choose(problem_of(n_rows=MIN_NEWTON_ROWS + 1), 1e-6) == "newton"


@pytest.mark.parametrize("name", ["simplex", "", None, 1, ["auto"]])
def test_an_unknown_name_is_refused(name):
    with pytest.raises(ValueError, match="solver must be one of 'auto', 'interior-point'"):
        solve(problem_of(), name)
