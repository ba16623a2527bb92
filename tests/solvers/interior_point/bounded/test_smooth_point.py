"""Smooth losses in bounded balls by the interior point: few rows, kinks between labels."""

import numpy as np
import pytest

from wdrsvm.problem.bounded.certificate import bounded_dual_bound
from wdrsvm.solvers import SolverSettings, SolverStatus, solve
from wdrsvm.solvers.interior_point.bounded.evaluation import BoundedEvaluation
from wdrsvm.solvers.interior_point.bounded.smooth_point import SmoothBoundedPoint

from ...mixed_cases import few_rows_with_a_fixed_category, mixed_problem

# Newton's method left gaps of 2.5e-6 to 1 on these, each of 12 to 40 rows.
HARD_FOR_NEWTON = [9, 27, 33, 63, 105, 123]


def point_of(seed):
    evaluation = BoundedEvaluation.of(mixed_problem(seed).without_idle_rows())
    return evaluation, SmoothBoundedPoint(evaluation.layout(), evaluation.normalised)


@pytest.mark.parametrize("seed", HARD_FOR_NEWTON)
@pytest.mark.parametrize("tol", [1e-6, 1e-4])
def test_few_rows_are_solved(seed, tol):
    problem = mixed_problem(seed)
    found = solve(problem, settings=SolverSettings(tol=tol))
    assert found.status is SolverStatus.CONVERGED
    assert found.certificate.holds(tol)
    if problem.ball.norm == "l1":
        again = problem.risk(found.coef, found.intercept).value
        assert again == pytest.approx(found.certificate.objective, rel=1e-12)


# Tilts of masses alone left gaps of 8.7e-6 to 0.17 on these.
HARD_TO_BALANCE = [("l1", 15), ("l2", 1), ("l2", 4), ("l2", 9), ("linf", 1)]


@pytest.mark.parametrize(("norm", "seed"), HARD_TO_BALANCE)
def test_classes_that_lack_fixed_categories_are_certified(norm, seed):
    problem = few_rows_with_a_fixed_category(norm, seed)
    found = solve(problem, "interior-point")
    assert found.status is SolverStatus.CONVERGED
    assert found.certificate.holds(1e-6)
    assert found.n_iter < 60


@pytest.mark.parametrize(("norm", "seed"), [("l2", 5), ("linf", 7), ("linf", 9)])
def test_another_method_takes_over_where_the_last_digits_are_missed(norm, seed):
    """Coefficients without a limit: whether the bound is exact enough here depends on the
    rounding of the processor's matrix products."""
    problem = few_rows_with_a_fixed_category(norm, seed)
    found = solve(problem)
    assert found.status is SolverStatus.CONVERGED
    assert found.certificate.holds(1e-6)
    exact = solve(problem, "interior-point").certificate.objective
    assert found.certificate.objective == pytest.approx(exact, rel=2e-6)


@pytest.mark.parametrize("seed", [8, 21, 26, 39, 45, 57, 69])
def test_both_methods_agree(seed):
    problem = mixed_problem(seed)
    one, other = (solve(problem, name) for name in ("interior-point", "newton"))
    assert one.certificate.holds(1e-6)
    assert other.certificate.holds(1e-6)
    assert one.certificate.objective == pytest.approx(
        other.certificate.objective, rel=2e-6, abs=2e-8
    )
    for first, second in ((one, other), (other, one)):
        bound, objective = first.certificate.dual_bound, second.certificate.objective
        assert bound <= objective * (1 + 1e-9)


@pytest.mark.parametrize("seed", [9, 21, 32])
def test_the_linear_form_of_the_losses_is_their_derivative(seed):
    _, point = point_of(seed)
    rng = np.random.default_rng(seed)
    local = rng.normal(size=(point.layout.n_pairs, point.layout.lift.shape[1]))
    step, size = rng.normal(size=local.shape), 1e-6
    after, before = (
        point._net_losses(local + sign * size * step, 1.0 + sign * size) for sign in (1, -1)
    )
    point._net_losses(local, 1.0)
    expected = (after - before) / (2 * size)
    np.testing.assert_allclose(point._losses(step, 1.0), expected, atol=1e-6, rtol=1e-6)


@pytest.mark.parametrize("seed", [9, 27, 105])
def test_slacks_are_those_of_the_true_losses_after_every_step(seed):
    _, point = point_of(seed)
    for _ in range(8):
        point.predictor_corrector()
        local = point.layout.local(point.coef, point.lam, point.own)
        true = point.s - point._net_losses(local, point.lam)
        slack = point.slacks()[0]
        np.testing.assert_allclose(
            slack[point.possible], true[point.possible], atol=1e-9, rtol=1e-6
        )
        assert (slack > 0).all()


@pytest.mark.parametrize("seed", [9, 105])
def test_bounds_on_the_way_hold(seed):
    evaluation, point = point_of(seed)
    objective = solve(evaluation.problem).certificate.objective
    for _ in range(15):
        point.predictor_corrector()
        bound = bounded_dual_bound(evaluation.normalised, point.plan(evaluation))
        assert bound <= objective * (1 + 1e-9)
