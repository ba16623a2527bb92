"""Bounded problems at odd scales: every fit ends with its gap, whatever the units."""

from dataclasses import replace

import numpy as np
import pytest

from wdrsvm.solvers import SolverStatus, solve
from wdrsvm.solvers.interior_point.bounded.units import BoundedUnits

from ...cases import BOUNDED_TOL, odd_problem


@pytest.mark.parametrize("seed", range(60))
def test_every_scale_is_solved(seed):
    found = solve(odd_problem(seed))
    assert found.status is SolverStatus.CONVERGED
    assert found.certificate.holds(BOUNDED_TOL)


@pytest.mark.parametrize("seed", range(6))
def test_units_change_no_risk(seed):
    problem = odd_problem(seed)
    units = BoundedUnits.of(problem)
    normalised = units.normalised(problem)
    rng = np.random.default_rng(seed)
    coef = rng.normal(size=(problem.n_classes, problem.n_features))
    intercept = rng.normal(size=problem.n_classes) * problem.fit_intercept
    plain = units.original(coef, intercept)
    mine, its = normalised.risk(coef, intercept), problem.risk(*plain)
    assert mine.value == pytest.approx(its.value, rel=1e-9)
    assert mine.lam == pytest.approx(its.lam * units.unit, rel=1e-6, abs=1e-12)


def test_the_optimum_does_not_depend_on_the_unit():
    problem = odd_problem(2)
    ball, t = problem.ball, 1e5
    scaled = replace(
        ball,
        radius=t * ball.radius,
        label_cost=t * np.asarray(ball.label_cost),
        support=tuple(t * end for end in ball.support),
    )
    other = replace(problem.with_rows(X=t * problem.X), ball=scaled)
    first, second = (solve(each).certificate.objective for each in (problem, other))
    assert second == pytest.approx(first, rel=2 * BOUNDED_TOL)
