"""The first point of the method in products."""

from dataclasses import replace

import numpy as np
import pytest

from wdrsvm import WassersteinBall
from wdrsvm.problem import LOSSES, RobustProblem
from wdrsvm.solvers import SolverSettings
from wdrsvm.solvers.newton.products import start
from wdrsvm.solvers.newton.products.loop import product_newton
from wdrsvm.solvers.newton.products.start import _first, _slope, _some_rows

from .test_loop import blobs


@pytest.mark.parametrize("place", range(25))
def test_the_first_number_is_found_without_looking_at_all(place):
    looked = []

    def holds(k):
        looked.append(k)
        return k >= place

    assert _first(holds, 25) == place
    assert len(looked) <= 5


def test_the_last_number_where_none_holds():
    assert _first(lambda k: False, 7) == 6


def test_the_slope_along_scores_by_differences():
    part = blobs(n_rows=40)
    scores = np.random.default_rng(0).normal(size=(part.n_classes, part.n_rows))

    def loss(length):
        losses = part.loss.of_own_labels(length * scores.T, part.y)
        return part.weight @ losses / part.weight.sum()

    expected = (loss(1.2 + 1e-5) - loss(1.2 - 1e-5)) / 2e-5
    assert _slope(part, scores, 1.2) == pytest.approx(expected, rel=1e-6)


def test_of_many_rows_some_tell_the_length(monkeypatch):
    problem = blobs(n_rows=40)
    every, part = _some_rows(problem)
    assert np.arange(40)[every].size == 40
    assert part is problem
    monkeypatch.setattr(start, "PRODUCTS", replace(start.PRODUCTS, start_rows=7))
    some, part = _some_rows(problem)
    assert some.tolist() == [0, 6, 13, 19, 26, 32, 39]
    np.testing.assert_array_equal(part.X, problem.X[some])
    np.testing.assert_array_equal(part.y, problem.y[some])


@pytest.mark.parametrize("norm", ["l1", "l2"])
def test_without_features_and_intercept_all_scores_are_zero(norm):
    told = (
        np.empty((6, 0)),
        np.arange(6) % 3,
        np.full(6, 1 / 6),
        WassersteinBall(0.1, norm=norm),
    )
    problem = RobustProblem.of(*told, 3, fit_intercept=False, loss=LOSSES["logistic"])
    found = product_newton(problem, SolverSettings(tol=1e-3))
    assert found.coef.shape == (3, 0)
    assert found.certificate.objective == pytest.approx(np.log(3))
    assert found.certificate.holds(1e-3)
