"""Constant classifiers: the closed form is what a solver finds."""

from dataclasses import replace

import numpy as np
import pytest

from wdrsvm.problem import LOSSES, Loss, RobustProblem, WassersteinBall
from wdrsvm.robustness.paths.constant_points import (
    CONSTANT_SHARE,
    best_intercept,
    is_as_good_as_constant,
)
from wdrsvm.solvers import SolverSettings, solve


def trusted(weight, n_classes=3, **options):
    y = np.arange(len(weight)) % n_classes
    X = np.random.default_rng(0).normal(size=(len(y), 2))
    # At this radius a constant classifier is optimal.
    ball = WassersteinBall(50.0, np.inf)
    return RobustProblem.of(X, y, weight / weight.sum(), ball, n_classes, **options)


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize(
    "loss", [*LOSSES.values(), Loss(0.3, 0.0), Loss(0.5, 1.0)], ids=str
)
def test_no_constant_classifier_is_better(loss, fit_intercept):
    weight = np.random.default_rng(1).uniform(0.2, 3.0, 24)
    problem = trusted(weight, fit_intercept=fit_intercept, loss=loss)
    bound = solve(problem, settings=SolverSettings(tol=1e-8)).certificate.dual_bound
    risk = problem.risk(np.zeros((3, 2)), best_intercept(problem)).value
    assert risk == pytest.approx(bound, rel=1e-4)


def test_a_class_without_weight_never_wins():
    problem = replace(trusted(np.tile([1.0, 2.0, 0.0], 8)), loss=LOSSES["logistic"])
    intercept = best_intercept(problem)
    assert np.isfinite(intercept).all()
    assert intercept.argmin() == 2
    mass = np.array([1, 2]) / 3
    risk = problem.risk(np.zeros((3, 2)), intercept).value
    assert risk == pytest.approx(-(mass @ np.log(mass)))


def test_risks_are_compared_with_a_share_of_the_constant_risk():
    constant = np.array([0.2, 0.5, 2.0])
    assert is_as_good_as_constant(constant, constant).all()
    assert is_as_good_as_constant((1 - CONSTANT_SHARE) * constant, constant).all()
    assert not is_as_good_as_constant(0.9 * (1 - CONSTANT_SHARE) * constant, constant).any()


def test_a_last_class_without_rows_never_wins():
    problem = replace(trusted(np.ones(6)), n_classes=4, loss=LOSSES["logistic"])
    intercept = best_intercept(problem)
    assert len(intercept) == 4
    assert intercept.argmin() == 3
