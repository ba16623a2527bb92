"""The judges agree with each other and with the closed-form risk.

HiGHS (simplex, interior point) and Clarabel, on the paper's program and on the compact
one, are three codes and two formulations; the objective is recomputed by
``RobustProblem.risk`` and the bound by the certificate.
"""

from __future__ import annotations

import sys
from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from wdrsvm.problem import LOSSES, Certificate, RobustProblem, certify
from wdrsvm.problem.norms import NORMS, divergence
from wdrsvm.solvers.reference.peers import (
    Limits,
    ReferenceSolution,
    clarabel,
    highs,
    solve_clarabel,
    solve_highs,
)
from wdrsvm.solvers.result import Solver, SolverSettings, SolverStatus

from .instances import describe, random_problem

pytest.importorskip("highspy")
pytest.importorskip("clarabel")

SEEDS = range(48)
RELATIVE = 1e-6


@cache
def every_judge(seed: int) -> tuple[RobustProblem, dict[str, ReferenceSolution]]:
    problem = random_problem(seed)
    solutions = {}
    for program in ("paper", "compact"):
        solutions[f"clarabel {program}"] = solve_clarabel(problem, program=program)
        if problem.ball.norm == "l2":
            continue
        for method in ("simplex", "ipm"):
            solution = solve_highs(problem, program=program, method=method)
            solutions[f"highs {method} {program}"] = solution
    return problem, solutions


def certificate_of(problem: RobustProblem, solution: ReferenceSolution) -> Certificate:
    assert solution.multipliers is not None
    return certify(problem, solution.coef, solution.intercept, solution.multipliers)


def resolution(value: float) -> float:
    return RELATIVE * max(value, 1e-2)


@pytest.mark.parametrize("seed", SEEDS)
def test_judges_agree(seed: int) -> None:
    problem, solutions = every_judge(seed)
    values = {name: found.value for name, found in solutions.items()}
    spread = max(values.values()) - min(values.values())
    assert spread <= resolution(max(values.values())), (describe(problem), values)


@pytest.mark.parametrize("seed", SEEDS)
def test_risk_at_the_solution_is_the_optimal_value(seed: int) -> None:
    problem, solutions = every_judge(seed)
    for name, found in solutions.items():
        risk = problem.risk(found.coef, found.intercept).value
        assert abs(risk - found.value) <= resolution(risk), (name, describe(problem))


@pytest.mark.parametrize("seed", SEEDS)
def test_bounds_hold_and_are_tight(seed: int) -> None:
    problem, solutions = every_judge(seed)
    certificates = {name: certificate_of(problem, each) for name, each in solutions.items()}
    best = min(found.objective for found in certificates.values())
    for name, found in certificates.items():
        assert found.dual_bound <= best + 1e-12, (name, describe(problem))
        assert best - found.dual_bound <= 2 * resolution(best), (name, describe(problem))


@pytest.mark.parametrize("norm", list(NORMS))
def test_flow_carries_the_gradient(norm: str) -> None:
    problem = random_problem(11, norm=norm, radius=0.05)
    multipliers = solve_clarabel(problem).multipliers
    assert multipliers is not None
    assert multipliers.flow is not None
    gradient = (problem.X.T @ multipliers.rows(problem, slice(None)).slopes(problem.y)).T
    touchable = np.isfinite(problem.feature_cost)
    carried = divergence(multipliers.flow, problem.n_classes)
    np.testing.assert_allclose(carried[:, touchable], gradient[:, touchable], atol=1e-8)


@pytest.mark.parametrize("solver", [highs, clarabel])
def test_solver_converges_to_its_tolerance(solver: Solver) -> None:
    problem = random_problem(5, norm="l1", radius=0.05)
    records = []
    result = solver(problem, SolverSettings(tol=1e-7, callback=records.append))
    assert result.status is SolverStatus.CONVERGED
    assert result.certificate.holds(1e-7)
    assert result.solver in ("highs", "clarabel")
    assert tuple(records) == result.history
    np.testing.assert_allclose(result.coef.sum(axis=0), 0.0, atol=1e-12)


@pytest.mark.parametrize("solver", [highs, clarabel])
def test_iteration_limit_is_reported(solver: Solver) -> None:
    problem = random_problem(4, norm="l1", radius=0.05)
    result = solver(problem, SolverSettings(max_iter=1))
    assert result.status is SolverStatus.MAX_ITER
    assert np.isfinite(result.coef).all()
    assert result.certificate.dual_bound <= result.certificate.objective


def test_time_limit_leaves_a_usable_point() -> None:
    problem = random_problem(4, norm="linf", radius=0.05)
    found = solve_highs(problem, limits=Limits(time_limit=0.0))
    assert not found.finished
    assert found.limited
    assert np.isfinite(found.coef).all()


def test_constant_problem_without_touchable_features() -> None:
    problem = random_problem(1, radius=0.0)
    found = solve_clarabel(problem)
    risk = problem.risk(found.coef, found.intercept).value
    assert abs(risk - found.value) <= resolution(risk)


def test_highs_refuses_cones() -> None:
    problem = random_problem(0, norm="l2")
    with pytest.raises(ValueError, match=r"does not know norm='l2': use .*'clarabel'"):
        highs(problem, SolverSettings())


def test_other_losses_are_refused() -> None:
    problem = replace(random_problem(0, norm="l1"), loss=LOSSES["logistic"])
    for solver in (highs, clarabel):
        with pytest.raises(ValueError, match=r"losses other than the Crammer-Singer loss"):
            solver(problem, SolverSettings())


def test_unknown_method_is_named() -> None:
    with pytest.raises(ValueError, match="'barrier'"):
        solve_highs(random_problem(0, norm="l1"), method="barrier")


@pytest.mark.parametrize("package", ["highspy", "clarabel"])
def test_missing_package_names_the_extra(
    package: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    solver = {"highspy": highs, "clarabel": clarabel}[package]
    with pytest.raises(ImportError, match=r'pip install "wdrsvm\[reference\]"'):
        solver(random_problem(0, norm="l1"), SolverSettings())
