"""Twenty and fifty classes on few rows against Clarabel: all norms, trusted and not."""

import numpy as np
import pytest

from wdrsvm.problem import LOSSES, RobustProblem, WassersteinBall
from wdrsvm.solvers import SolverSettings, SolverStatus, solve
from wdrsvm.solvers.newton.products.lengths.rounds import length_newton

from .loss_program import optimum, optimum_without_margin

NORMS = ("l1", "l2", "linf")
TOL = 1e-5


def few_rows(
    loss, norm, n_classes, n_rows, label_cost=np.inf, n_features=3, cost=None, **options
):
    rng = np.random.default_rng(n_classes)
    y = np.arange(n_rows) % n_classes
    centres = 2 * rng.normal(size=(n_classes, n_features))
    X = centres[y] + rng.normal(size=(n_rows, n_features))
    weight = rng.uniform(0.5, 1.5, n_rows)
    ball = WassersteinBall(0.05, label_cost, norm, feature_cost=cost)
    weight /= weight.sum()
    return RobustProblem.of(X, y, weight, ball, n_classes, loss=LOSSES[loss], **options)


def agrees(problem, value, names=("auto",)):
    for name in names:
        result = solve(problem, name, SolverSettings(tol=TOL))
        found = result.certificate
        assert result.status is SolverStatus.CONVERGED
        assert found.objective == problem.risk(result.coef, result.intercept).value
        assert found.dual_bound - 1e-7 <= value <= found.objective + 1e-7
    return True


@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize(("n_classes", "n_rows"), [(20, 40), (50, 55)])
def test_the_logistic_loss_with_trusted_labels(norm, n_classes, n_rows):
    problem = few_rows("logistic", norm, n_classes, n_rows)
    value, status = optimum(problem)
    assert status == "Solved"
    assert agrees(problem, value)


@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize(("n_classes", "n_rows"), [(20, 40), (50, 55)])
@pytest.mark.parametrize("label_cost", [1.0, 3.0])
def test_the_logistic_loss_with_flips(norm, n_classes, n_rows, label_cost):
    problem = few_rows("logistic", norm, n_classes, n_rows, label_cost)
    value, status = optimum_without_margin(problem)
    assert status == "Solved"
    assert agrees(problem, value)


@pytest.mark.parametrize("label_cost", [np.inf, 1.0])
@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("cost", [None, np.array([0.5, 1.0, 3.0])])
@pytest.mark.parametrize(("n_classes", "n_rows"), [(3, 30), (20, 40)])
def test_smoothed_lengths(n_classes, n_rows, cost, fit_intercept, label_cost):
    """The method that ``"auto"`` takes for the linf norm with more unknowns."""
    problem = few_rows(
        *("logistic", "linf", n_classes, n_rows, label_cost),
        cost=cost,
        fit_intercept=fit_intercept,
    )
    judge = optimum if label_cost == np.inf else optimum_without_margin
    value, status = judge(problem)
    assert status == "Solved"
    result = length_newton(problem, SolverSettings(tol=1e-3))
    assert result.status is SolverStatus.CONVERGED
    found = result.certificate
    assert found.objective == problem.risk(result.coef, result.intercept).value
    assert found.dual_bound - 1e-7 <= value <= found.objective + 1e-7


@pytest.mark.parametrize("norm", NORMS)
def test_both_programs_with_flips_have_the_same_optimum(norm):
    problem = few_rows("logistic", norm, 12, 14, label_cost=1.0)
    value, status = optimum(problem)
    assert status == "Solved"
    assert optimum_without_margin(problem)[0] == pytest.approx(value, rel=1e-7)


# With flips the judge's program grows with the square of the classes: fewer rows.
@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize(
    ("n_classes", "n_rows", "label_cost"),
    [(20, 40, np.inf), (50, 60, np.inf), (20, 20, 1.0), (50, 12, 1.0)],
)
def test_the_crammer_singer_loss(norm, n_classes, n_rows, label_cost):
    problem = few_rows("crammer-singer", norm, n_classes, n_rows, label_cost)
    judge = solve(problem, "clarabel", SolverSettings(tol=1e-8))
    assert agrees(problem, judge.certificate.objective)
