"""Bounded problems at odd scales: every fit ends with its gap, whatever the units."""

from dataclasses import replace

import numpy as np
import pytest

from wdrsvm import WassersteinBall
from wdrsvm.problem import RobustProblem
from wdrsvm.solvers import SolverStatus, Start, solve
from wdrsvm.solvers.interior_point.bounded.units import BoundedUnits
from wdrsvm.solvers.solve import _no_worse_than_known

TOL = 1e-6


def odd_problem(seed):
    """Features of scale 1e-3 to 1e6, a radius of 1e-4 to 100 of them, ends at random."""
    rng = np.random.default_rng(seed)
    n_classes, n_numeric, n_rows = rng.integers(2, 5), rng.integers(1, 4), 24
    y = np.arange(n_rows) % n_classes
    scale = 10.0 ** rng.uniform(-3, 6)
    columns = scale * 10.0 ** (rng.uniform(-2, 2, n_numeric) if seed % 2 else 0.0)
    X = (rng.normal(size=(n_rows, n_numeric)) + y[:, None] + rng.integers(50)) * columns
    low, high = X.min(axis=0), X.max(axis=0) + rng.uniform(size=n_numeric) * columns
    low = np.where(rng.random(n_numeric) < 0.3, -np.inf, low)
    high = np.where(rng.random(n_numeric) < 0.3, np.inf, high)
    categorical = None
    if seed % 3 == 0:
        X = np.hstack([X, np.eye(2)[rng.integers(0, 2, n_rows)]])
        low, high = (np.r_[end, 0.0, 0.0] for end in (low, high))
        categorical = [([n_numeric, n_numeric + 1], scale * 10.0 ** rng.uniform(-2, 1))]
    cost = 10.0 ** rng.uniform(-1, 1, X.shape[1]) if seed % 4 == 1 else None
    label_cost = scale * 10.0 ** rng.uniform(-1, 1, (n_classes, n_classes))
    label_cost[rng.random(label_cost.shape) < 0.3] = np.inf
    np.fill_diagonal(label_cost, 0.0)
    weight = rng.gamma(0.5, size=n_rows) + 1e-3
    ball = WassersteinBall(
        scale * 10.0 ** rng.uniform(-4, 2),
        label_cost,
        ("l1", "l2", "linf")[seed % 3 if seed % 2 else (seed + 1) % 3],
        cost,
        (low, high),
        categorical,
    )
    return RobustProblem.of(X, y, weight / weight.sum(), ball, int(n_classes), seed % 5 > 0)


@pytest.mark.parametrize("seed", range(60))
def test_every_scale_is_solved(seed):
    found = solve(odd_problem(seed))
    assert found.status is SolverStatus.CONVERGED
    assert found.certificate.holds(TOL)


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
    assert second == pytest.approx(first, rel=2 * TOL)


def test_a_status_follows_the_certificate_of_the_classifier_given_back():
    """A start better than what one iteration reaches is given back, and has converged."""
    problem = odd_problem(2)
    found = solve(problem)
    start = Start(found.coef, found.intercept, found.certificate.lam)
    worse = replace(
        found,
        certificate=found.certificate._replace(objective=found.certificate.objective + 1),
        status=SolverStatus.STALLED,
    )
    kept = _no_worse_than_known(problem, worse, start, TOL)
    assert kept.certificate.objective <= found.certificate.objective
    assert kept.status is SolverStatus.CONVERGED
