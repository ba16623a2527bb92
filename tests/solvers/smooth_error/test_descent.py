"""Descents on the smooth error: downwards, in any units."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_iris
from sklearn.preprocessing import scale

from wdrsvm.problem import RobustProblem, WassersteinBall
from wdrsvm.problem.ramp import RampProblem
from wdrsvm.solvers import solve
from wdrsvm.solvers.descent_settings import DESCENT
from wdrsvm.solvers.smooth_error.descent import Classifier, softened

X, Y = load_iris(return_X_y=True)
X = scale(X)
WEIGHT = np.full(len(Y), 1 / len(Y))


def ramp_of(rows, feature_cost=None, fit_intercept=True):
    ball = WassersteinBall(0.1, feature_cost=feature_cost)
    return RampProblem(RobustProblem.of(rows, Y, WEIGHT, ball, 3, fit_intercept))


def start_of(ramp):
    found = solve(ramp.problem)
    return Classifier(found.coef, found.intercept)


def test_the_error_falls(monkeypatch):
    """That of the rows themselves, which a sharp smooth error follows closely."""
    sharp = replace(DESCENT, softness=0.25)
    monkeypatch.setattr("wdrsvm.solvers.smooth_error.descent.DESCENT", sharp)
    ramp = ramp_of(X)
    start = start_of(ramp)
    assert ramp.errors(*softened(ramp, start)).worst < ramp.errors(*start).worst - 0.01


def test_units_and_the_place_of_zero_do_not_matter():
    ramp, units = ramp_of(X), np.array([1.0, 10.0, 0.1, 3.0])
    other = ramp_of(X * units + 5, 1 / units)
    start = start_of(ramp)
    coef = start.coef / units
    moved = Classifier(coef, start.intercept - 5 * coef.sum(axis=1))
    one, two = softened(ramp, start), softened(other, moved)
    assert other.errors(*two).worst == pytest.approx(ramp.errors(*one).worst, abs=1e-3)


def test_sparse_rows_and_features_that_stay():
    cost = [1.0, np.inf, 2.0, 1.0]
    dense, stored = (
        ramp_of(rows, cost, fit_intercept=False) for rows in (X, sparse.csr_array(X))
    )
    start = start_of(dense)
    one, two = softened(dense, start), softened(stored, start)
    np.testing.assert_allclose(one.coef, two.coef, rtol=1e-6, atol=1e-9)
    assert not one.intercept.any()
    assert dense.errors(*one).worst <= dense.errors(*start).worst


def test_a_constant_classifier_stays():
    ramp = ramp_of(X)
    constant = Classifier(np.zeros((3, 4)), np.array([1.0, 0.0, 0.0]))
    assert softened(ramp, constant) is constant
