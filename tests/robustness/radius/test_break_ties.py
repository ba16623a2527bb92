"""The tie of a constant classifier, by hand."""

from dataclasses import replace

import numpy as np
import pytest

from wdrsvm import WassersteinBall
from wdrsvm.problem import Certificate, RobustProblem
from wdrsvm.robustness.radius import break_ties as ties
from wdrsvm.robustness.radius.break_ties import (
    ROUGHLY,
    break_ties,
    is_constant,
    nominal_classifier,
)
from wdrsvm.robustness.radius.radius_max import LimitClassifier
from wdrsvm.solvers import SolverResult, SolverSettings, SolverStatus, solve

from ..cases import CODES, FEATURES, twelve_rows

rng = np.random.default_rng(0)
Y = np.arange(9) % 3
X = rng.normal(size=(9, 2)) + 1.5 * np.eye(3)[Y][:, :2]
LIMIT = LimitClassifier(np.full((3, 2), 0.25), np.array([0.5, 0.25, 0.0]), 2.0)
COEF, INTERCEPT = rng.normal(size=(3, 2)), rng.normal(size=3)


def problem_of(radius=0.5, cost=0.5):
    return RobustProblem.of(X, Y, np.full(9, 1 / 9), WassersteinBall(radius, cost), 3)


def result_of(bound):
    certificate = Certificate(2.0, bound, 0.0)
    return SolverResult(
        LIMIT.coef, LIMIT.intercept, certificate, None, SolverStatus.CONVERGED, 7, "told"
    )


def nominal():
    found = result_of(0.0)
    return SolverResult(
        COEF, INTERCEPT, found.certificate, None, SolverStatus.CONVERGED, 1, "told"
    )


def test_tolerances_are_these():
    assert ROUGHLY.tol == 1e-3


def test_the_nominal_problem_has_no_adversary_and_a_rough_answer(monkeypatch):
    asked = []
    monkeypatch.setattr(ties, "solve", lambda problem, **kw: asked.append((problem, kw)))
    nominal_classifier(problem_of())
    ((problem, options),) = asked
    assert (problem.radius, problem.ball.label_cost) == (0.0, np.inf)
    assert problem.X is X
    assert options == {"settings": ROUGHLY}


@pytest.mark.parametrize("tol", [0.5, 1e-3, 1e-6, 1e-9])
def test_constant_is_what_reaches_the_limit_within_the_tolerance(tol):
    edge = 2.0 * (1 - 1.01 * tol)
    assert is_constant(problem_of(), edge, LIMIT, tol)
    assert not is_constant(problem_of(), edge - 1e-10, LIMIT, tol)
    assert not is_constant(problem_of(radius=0.0), 2.0, LIMIT, tol)


@pytest.mark.parametrize("tol", [0.25, 1e-2, 1e-9])
@pytest.mark.parametrize("bound", [2.0, 1.9999999995])
@pytest.mark.parametrize("nominal_risk", [None, 5.0, 2.0001])
def test_the_step_costs_half_of_what_the_tolerance_leaves(tol, bound, nominal_risk):
    problem, told = problem_of(), nominal()
    given = {} if nominal_risk is None else {"nominal_risk": nominal_risk}
    found = break_ties(problem, result_of(bound), LIMIT, told, tol, **given)
    if nominal_risk is None:
        nominal_risk = problem.risk(COEF, INTERCEPT).value
        assert nominal_risk > 2.0
    spare = bound - 2.0 + 2.0 * tol
    step = min(1.0, spare / 2 / (nominal_risk - 2.0))
    coef = (1 - step) * LIMIT.coef + step * COEF
    intercept = (1 - step) * LIMIT.intercept + step * INTERCEPT
    np.testing.assert_allclose(found.coef, coef, rtol=1e-9)
    np.testing.assert_allclose(found.intercept, intercept, rtol=1e-9)
    risk, lam = problem.risk(found.coef, found.intercept)
    assert found.certificate == Certificate(risk, min(bound, risk), lam)
    assert (found.n_iter, found.solver) == (7, "told")


@pytest.mark.parametrize(("bound", "nominal_risk"), [(1.5, 5.0), (1.4, 5.0), (2.0, 2.0)])
def test_nothing_leans_without_room_or_cost(bound, nominal_risk):
    """At the bound that the tolerance just allows, or where leaning is free."""
    result = result_of(bound)
    assert break_ties(problem_of(), result, LIMIT, nominal(), 0.25, nominal_risk) is result


def test_the_nominal_classifier_has_no_adversary():
    problem = twelve_rows(WassersteinBall(0.5, 0.1))
    found = nominal_classifier(problem)
    calm = replace(problem, ball=WassersteinBall(0.0))
    best = solve(calm, settings=SolverSettings(tol=1e-6)).certificate
    risk = calm.risk(found.coef, found.intercept).value
    assert risk <= best.objective + 1e-3 * max(best.objective, 1e-2)


@pytest.mark.parametrize("tol", [1e-3, 1e-9])
def test_constant_is_what_is_proven_to_the_tolerance(tol):
    limit = LimitClassifier(np.zeros((3, 2)), np.zeros(3), 2.0)
    assert is_constant(twelve_rows(), 2.0 * (1 - tol), limit, tol)
    assert not is_constant(twelve_rows(), 2.0 * (1 - 1.1 * tol), limit, tol)
    calm = twelve_rows(WassersteinBall(0.0, 2.0))
    assert not is_constant(calm, 2.0, limit, tol)


def leaned(bound_share=1.0, **changes):
    """A constant fit, leaned; with a bound of that share of the constant's risk."""
    problem = RobustProblem.of(
        FEATURES, CODES, np.full(12, 1 / 12), WassersteinBall(2.0, 0.5), 3
    )
    found = solve(problem)
    limit = LimitClassifier(np.zeros((3, 2)), np.zeros(3), 1.0)
    certificate = found.certificate._replace(dual_bound=bound_share)
    result = replace(found, certificate=certificate)
    nominal = nominal_classifier(problem)
    return (
        problem,
        result,
        break_ties(problem, result, limit, nominal, 1e-3, **changes),
        nominal,
    )


def test_leaning_ranks_as_the_nominal_classifier_within_the_tolerance():
    problem, _, found, nominal = leaned()
    assert found.certificate.objective <= 1.0 + 1e-3
    risk = problem.risk(found.coef, found.intercept).value
    assert found.certificate.objective == risk
    scores = problem.scores(found.coef, found.intercept)
    best = problem.scores(nominal.coef, nominal.intercept)
    np.testing.assert_array_equal(scores.argmax(axis=1), best.argmax(axis=1))


@pytest.mark.parametrize("options", [{"bound_share": 0.99}, {"nominal_risk": 0.5}])
def test_without_room_nothing_leans(options):
    _, result, found, _ = leaned(**options)
    assert found is result
