"""Names become solvers, and a wrong name becomes one clear sentence."""

from dataclasses import replace
from typing import NamedTuple

import numpy as np
import pytest

from wdrsvm import WassersteinBall
from wdrsvm.problem import RobustProblem
from wdrsvm.solvers import SOLVERS, SolverSettings, SolverStatus, auto, choose, solve
from wdrsvm.solvers.auto import RULE
from wdrsvm.solvers.registry import Declared


def problem_of(n_features=2, n_classes=3, n_rows=30, norm="l2"):
    rng = np.random.default_rng(0)
    y = np.arange(n_rows) % n_classes
    X = rng.normal(size=(n_rows, n_features)) + y[:, None]
    weight = np.full(n_rows, 1.0 / n_rows)
    return RobustProblem.of(X, y, weight, WassersteinBall(0.05, 2.0, norm), n_classes)


def needs(name):
    package = {"highs": "highspy", "clarabel": "clarabel"}.get(name)
    if package is not None:
        pytest.importorskip(package)


@pytest.mark.parametrize("name", SOLVERS)
def test_every_name_can_be_loaded(name):
    assert callable(SOLVERS[name].address.load())


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


@pytest.mark.parametrize("norm", ["l1", "l2", "linf"])
def test_auto_goes_first_order_when_the_dense_system_is_too_large(norm):
    n_features = RULE.max_dense_unknowns // 3
    narrow = problem_of(n_features - 1, n_rows=1100, norm=norm)
    assert choose(narrow, 1e-6) == "interior-point"
    wide = problem_of(n_features, n_rows=1100, norm=norm)
    assert choose(wide, 1e-6) == "first-order"


def test_auto_goes_first_order_earlier_with_as_many_features_as_rows():
    n_features = RULE.max_wide_unknowns // 3
    assert choose(problem_of(n_features - 1, n_rows=200), 1e-6) == "interior-point"
    assert choose(problem_of(n_features, n_rows=200), 1e-6) == "first-order"
    assert choose(problem_of(n_features, n_rows=200, norm="l1"), 1e-6) == "interior-point"
    assert choose(problem_of(n_features, n_rows=500), 1e-6) == "interior-point"
    assert choose(problem_of(n_features, n_rows=500), 1e-6, True) == "first-order"


def test_auto_counts_at_most_the_rows_with_the_l2_norm():
    assert choose(problem_of(10_000), 1e-6) == "interior-point"


class TestRescue:
    """A first-order run that "auto" chose and that fails is completed by another."""

    problem = problem_of()

    @pytest.fixture(autouse=True)
    def first_order_fails(self, monkeypatch):
        def stalled(problem, settings, start):
            found = SOLVERS["interior-point"].address.load()(problem, settings)
            return replace(found, status=SolverStatus.STALLED, solver="first-order")

        class Failing(NamedTuple):
            def load(self):
                return stalled

        monkeypatch.setattr(auto, "RULE", replace(RULE, max_dense_unknowns=0))
        monkeypatch.setitem(SOLVERS, "first-order", Declared(Failing()))

    def test_it_is_completed(self):
        result = solve(self.problem)
        assert result.solver == "interior-point"
        assert result.status is SolverStatus.CONVERGED

    def test_not_if_it_was_asked_for_by_name(self):
        assert solve(self.problem, "first-order").status is SolverStatus.STALLED

    def test_not_within_a_limit_of_iterations(self):
        result = solve(self.problem, settings=SolverSettings(max_iter=50))
        assert result.status is SolverStatus.STALLED

    def test_not_beyond_what_a_dense_system_can_do(self, monkeypatch):
        rule = replace(RULE, max_dense_unknowns=0, max_rescued_unknowns=5)
        monkeypatch.setattr(auto, "RULE", rule)
        assert solve(self.problem).status is SolverStatus.STALLED


def test_auto_smooths_where_rows_are_many():
    assert choose(problem_of(n_rows=RULE.min_newton_rows), 1e-6) == "interior-point"
    assert choose(problem_of(n_rows=RULE.min_newton_rows + 1), 1e-6) == "newton"


@pytest.mark.parametrize("name", ["simplex", "", None, 1, ["auto"]])
def test_an_unknown_name_is_refused(name):
    with pytest.raises(ValueError, match="solver must be one of 'auto', 'interior-point'"):
        solve(problem_of(), name)
