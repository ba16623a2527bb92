"""The classifier that looks at no feature, and its proof."""

import numpy as np
import pytest

from wdrsvm.problem import RobustProblem, WassersteinBall
from wdrsvm.solvers import SolverSettings, solve
from wdrsvm.solvers.interior_point.constant import best_constant


def rare_class(n_classes=2, n_rows=4000, norm="l2", label_cost=2.0, seed=0, **known):
    """Rows whose features say too little of a rare class to pay for their use."""
    rng = np.random.default_rng(seed)
    shares = np.r_[0.8, np.full(n_classes - 1, 0.2 / (n_classes - 1))]
    y = rng.choice(n_classes, n_rows, p=shares)
    X = rng.normal(size=(n_rows, 5)) + 0.2 * (y == 1)[:, None]
    ball = WassersteinBall(0.05, label_cost, norm)
    return RobustProblem.of(X, y, np.full(n_rows, 1 / n_rows), ball, n_classes, **known)


def constant_of(problem):
    with problem.reduction() as reduction:
        return best_constant(problem, reduction)


@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("label_cost", [0.5, 2.0, np.inf])
def test_no_intercept_is_better(n_classes, label_cost):
    problem = rare_class(n_classes, 300, label_cost=label_cost)
    nothing = np.zeros((n_classes, 5))
    best = problem.risk(nothing, constant_of(problem)).value
    rng = np.random.default_rng(1)
    for scale in (1e-3, 0.1, 1.0):
        other = constant_of(problem) + scale * rng.normal(size=n_classes)
        assert problem.risk(nothing, other).value >= best - 1e-9


def test_without_an_intercept_all_scores_are_zero():
    assert not constant_of(rare_class(fit_intercept=False)).any()


@pytest.mark.parametrize("norm", ["l1", "l2", "linf"])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_newton_proves_a_constant_optimum(norm, n_classes):
    problem = rare_class(n_classes, norm=norm)
    found = solve(problem, "newton", SolverSettings())
    assert not found.coef.any()
    assert found.certificate.holds(1e-6)
    other = solve(problem, "interior-point", SolverSettings())
    value = problem.risk(found.coef, found.intercept).value
    assert value <= problem.risk(other.coef, other.intercept).value + 1e-6
    # Smoothing alone would cut mu until rounding stops it.
    assert found.n_iter < 40


def test_an_optimum_that_is_not_constant_is_found_all_the_same():
    problem = rare_class()
    problem.X[:, 0] += 2.0 * (problem.y == 1)
    found = solve(problem, "newton", SolverSettings())
    assert found.coef.any()
    assert found.certificate.holds(1e-6)
    nothing = np.zeros_like(found.coef)
    assert found.certificate.objective < problem.risk(nothing, constant_of(problem)).value
