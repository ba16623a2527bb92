"""Our solvers agree with the judges on the paper's own program.

HiGHS solves it for l1 and linf transport, Clarabel for l2.  The risk of the judge's
classifier is attained, so that no bound may exceed it; the value that the judge claims is
the optimum up to the judge's own error.
"""

from __future__ import annotations

from functools import cache

import pytest

from wdrsvm.problem import RobustProblem
from wdrsvm.solvers.interior_point.loop import interior_point
from wdrsvm.solvers.newton.hinge import smoothing_newton
from wdrsvm.solvers.reference.peers import solve_clarabel, solve_highs
from wdrsvm.solvers.result import Solver, SolverSettings, SolverStatus

from .instances import describe, random_problem

pytest.importorskip("highspy")
pytest.importorskip("clarabel")

RELATIVE = 1e-6
BATCH = 10
INTERIOR_POINT_BATCHES = range(20)
NEWTON_BATCHES = range(10)


# What the judges leave open at their finest.
JUDGE_ERROR = {"l1": 1e-9, "linf": 1e-9, "l2": 1e-7}


@cache
def instance(seed: int) -> tuple[RobustProblem, float, float]:
    """A problem, its optimum, and a risk that is attained."""
    problem = random_problem(seed)
    judge = solve_clarabel if problem.ball.norm == "l2" else solve_highs
    found = judge(problem)
    assert found.finished, describe(problem)
    return problem, found.value, problem.risk(found.coef, found.intercept).value


def resolution(value: float) -> float:
    return RELATIVE * max(value, 1e-2)


def check(solver: Solver, seed: int) -> None:
    problem, optimum, attained = instance(seed)
    result = solver(problem, SolverSettings())
    found = result.certificate
    told = seed, describe(problem), optimum, found
    assert result.status is SolverStatus.CONVERGED, told
    assert found.holds(RELATIVE), told
    assert abs(found.objective - optimum) <= resolution(optimum), told
    assert found.dual_bound <= attained + 1e-10, told
    assert found.objective >= optimum - JUDGE_ERROR[problem.ball.norm], told
    assert found.objective == problem.risk(result.coef, result.intercept).value, told


def check_batch(solver: Solver, batch: int) -> None:
    for seed in range(BATCH * batch, BATCH * (batch + 1)):
        check(solver, seed)


@pytest.mark.parametrize("batch", INTERIOR_POINT_BATCHES)
def test_interior_point_finds_the_optimum(batch: int) -> None:
    check_batch(interior_point, batch)


@pytest.mark.parametrize("batch", NEWTON_BATCHES)
def test_newton_finds_the_optimum(batch: int) -> None:
    check_batch(smoothing_newton, batch)


@pytest.mark.parametrize("batch", NEWTON_BATCHES)
def test_solvers_bracket_each_other(batch: int) -> None:
    """No judge: each one's bound is below the other's objective, at fine gaps."""
    settings = SolverSettings(tol=1e-8)
    for seed in range(BATCH * batch, BATCH * (batch + 1)):
        problem = random_problem(1000 + seed)
        one = interior_point(problem, settings).certificate
        other = smoothing_newton(problem, SolverSettings()).certificate
        assert one.dual_bound <= other.objective + 1e-12, describe(problem)
        assert other.dual_bound <= one.objective + 1e-12, describe(problem)
