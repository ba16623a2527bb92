"""Bounds in boxes hold for any plan, however wrong, and tighten along the way."""

import numpy as np
import pytest

from wdrsvm import WassersteinBall
from wdrsvm.problem import RobustProblem
from wdrsvm.problem.bounded.certificate import bounded_dual_bound
from wdrsvm.problem.bounded.plan_sums import PairPlan
from wdrsvm.solvers import SolverSettings, SolverStatus, Start, solve
from wdrsvm.solvers.interior_point.bounded.evaluation import BoundedEvaluation
from wdrsvm.solvers.interior_point.bounded.layout import BoundedLayout
from wdrsvm.solvers.interior_point.bounded.loop import Patience, bounded_interior_point
from wdrsvm.solvers.interior_point.bounded.point import BoundedPoint
from wdrsvm.solvers.interior_point.bounded.units import BoundedUnits

NORMS = ["l1", "l2", "linf"]


def small_problem(norm, seed=0, radius=0.05):
    """Two features in a unit box, one without an upper end, and a category."""
    rng = np.random.default_rng(seed)
    y = np.arange(24) % 3
    numeric = np.clip(np.eye(3)[y] + 0.2 * rng.normal(size=(24, 3)), 0.0, 1.0)
    X = np.hstack([numeric, np.eye(2)[rng.integers(0, 2, 24)]])
    high = np.array([1.0, 1.0, np.inf, 1.0, 1.0])
    ball = WassersteinBall(
        radius, 2.0, norm, support=(0.0, high), categorical=[([3, 4], 0.5)]
    )
    return RobustProblem.of(X, y, np.full(24, 1 / 24), ball, 3)


def points(problem, n_iter):
    layout = BoundedLayout.of(problem, problem.X.mean(axis=0))
    point = BoundedPoint(layout, problem)
    for _ in range(n_iter):
        point.predictor_corrector()
        yield point


def optimum_of(problem):
    return solve(problem, settings=SolverSettings(tol=1e-9)).certificate.objective


@pytest.mark.parametrize("norm", NORMS)
def test_bounds_hold_on_the_way_and_with_spoilt_plans(norm):
    problem = small_problem(norm)
    evaluation = BoundedEvaluation(problem, BoundedUnits.of(problem), problem)
    optimum = optimum_of(problem)
    bounds = []
    for point in points(problem, 18):
        plan = point.plan(evaluation)
        bounds.append(bounded_dual_bound(problem, plan))
        spoilt = [
            plan._replace(moved=3 * plan.moved),
            plan._replace(moved=-plan.moved),
            plan._replace(mass=2 * plan.mass),
            plan._replace(switched=[5 * mass for mass in plan.switched]),
        ]
        for other in spoilt:
            assert bounded_dual_bound(problem, other) <= optimum * (1 + 1e-9)
    assert max(bounds) <= optimum * (1 + 1e-9)
    assert max(bounds) == pytest.approx(optimum, rel=1e-4)


@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("seed", range(3))
def test_bounds_hold_for_random_plans(norm, seed):
    problem = small_problem(norm, seed)
    rng = np.random.default_rng(seed)
    winner, label = problem.moves.pairs
    optimum = optimum_of(problem)
    for size in (1e-3, 1.0):
        plan = PairPlan(
            winner,
            label,
            rng.exponential(size=(len(winner), problem.n_rows)) * size / problem.n_rows,
            rng.normal(size=(len(winner), problem.n_features)) * size,
            [rng.exponential(size=(len(winner), 2, 2)) * size],
        )
        assert 0 <= bounded_dual_bound(problem, plan) <= optimum * (1 + 1e-9)


@pytest.mark.tiny
@pytest.mark.parametrize("norm", NORMS)
def test_points_stay_feasible_and_their_value_is_an_upper_bound(norm):
    problem = small_problem(norm)
    optimum = optimum_of(problem)
    for point in points(problem, 8):
        assert all((slack[..., :1] > 0).all() for slack in point.slacks())
        assert point.objective >= optimum * (1 - 1e-9)


def test_the_optimum_grows_with_the_radius_and_is_concave():
    problem = small_problem("l1")
    values = [optimum_of(problem.with_radius(r)) for r in (0.02, 0.04, 0.06, 0.08)]
    steps = np.diff(values)
    assert (steps > 0).all()
    assert (np.diff(steps) <= 1e-8).all()


def shared_problem():
    """Four rows in a box whose shared risk is more than the worst-case risk."""
    y = np.arange(4) % 2
    X = np.array([[0.5, 0.5, 1.0], [1.0, 0.0, 0.9], [1.0, 0.1, 0.1], [0.9, 0.9, 0.0]])
    ball = WassersteinBall(0.05, 0.3, "l2", support=(0.0, 1.0))
    return RobustProblem.of(X, y, np.full(4, 0.25), ball, 2)


@pytest.mark.parametrize("max_iter", [1, 5, 8, 10, 12])
def test_a_start_that_outdoes_a_run_cut_short_is_judged_as_the_run_is(max_iter):
    problem = shared_problem()
    best = solve(problem, settings=SolverSettings(tol=1e-9))
    start = Start(best.coef, best.intercept, best.certificate.lam)
    assert problem.risk(best.coef, best.intercept).value < 0.96 * best.certificate.objective
    settings = SolverSettings(tol=1e-14, max_iter=max_iter)
    for given in (None, start):
        found = solve(problem, settings=settings, start=given).certificate
        assert found.gap >= 0
        assert found.objective >= best.certificate.objective * (1 - 1e-8)
        assert found.objective <= 1.0


def test_more_accuracy_than_rounding_allows_ends_at_the_last_good_point():
    problem = small_problem("linf", radius=0.2)
    found = solve(problem, settings=SolverSettings(tol=1e-15)).certificate
    assert 0 <= found.gap <= 1e-5 * found.objective


def widely_scaled_problem(seed):
    """Six features of scale 1 to 1000, a category, cheap flips, no intercept."""
    rng = np.random.default_rng(seed)
    y = np.arange(70) % 4
    numeric = (rng.normal(size=(70, 6)) + rng.normal(size=(4, 6))[y] / 2) * 10.0 ** (
        rng.uniform(0, 3, 6)
    )
    X = np.hstack([np.eye(3)[rng.integers(0, 3, 70)], numeric])
    ball = WassersteinBall(0.002, 0.5, "l2", categorical=[([0, 1, 2], 6.0)])
    return RobustProblem.of(X, y, np.full(70, 1 / 70), ball, 4, False)


@pytest.mark.parametrize("seed", [25, 37, 47, 56, 57, 70])
def test_features_of_all_scales_beside_a_category_are_solved(seed):
    """Without a corrector towards the centre and without farther starts, these stall."""
    found = bounded_interior_point(widely_scaled_problem(seed), SolverSettings())
    assert found.status is SolverStatus.CONVERGED


def test_certificates_that_gain_nothing_are_ever_further_apart():
    patience, asked = Patience(), []
    for step in range(40):
        if patience.is_due():
            asked.append(step)
            patience.note(gap=1.0)
    # The first one gains, ten more in turn do not; then after 2, 4, 8 and 16 steps.
    assert asked == [*range(12), 13, 17, 25]
    patience.note(gap=0.5)
    assert patience.is_due()
