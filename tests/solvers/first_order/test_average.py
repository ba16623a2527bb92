"""The running mean of the first-order method's points, and what it is for."""

import numpy as np
import pytest

from wdrsvm import WassersteinBall
from wdrsvm.problem import RobustProblem
from wdrsvm.solvers.first_order.average import RunningMean
from wdrsvm.solvers.first_order.loop import first_order
from wdrsvm.solvers.first_order.settings import FIRST_ORDER
from wdrsvm.solvers.first_order.state import Ascent
from wdrsvm.solvers.result import Incumbent, SolverSettings


def running_mean(points):
    mean = RunningMean(np.zeros((2, 3)), np.zeros((1, 3)))
    for touch, free in points:
        mean.add(touch, free)
    return mean


@pytest.mark.tiny
def test_equal_points_are_their_mean():
    point = np.arange(6.0).reshape(2, 3), np.ones((1, 3))
    mean = running_mean([point] * 50)
    np.testing.assert_allclose(mean.touch, point[0], rtol=1e-13)
    np.testing.assert_allclose(mean.free, point[1], rtol=1e-13)


@pytest.mark.tiny
def test_first_points_are_forgotten_and_nothing_given_is_changed():
    first, last = np.full((2, 3), 1e6), np.ones((2, 3))
    free = np.ones((1, 3))
    mean = running_mean([(first, free)] * 3 + [(last, free)] * 600)
    np.testing.assert_allclose(mean.touch, last, rtol=1e-6)
    np.testing.assert_array_equal(first, 1e6)
    np.testing.assert_array_equal(last, 1.0)


@pytest.mark.tiny
def test_points_around_a_centre_have_a_mean_close_to_it():
    rng = np.random.default_rng(0)
    points = [(rng.standard_normal((2, 3)), np.zeros((1, 3))) for _ in range(400)]
    mean = running_mean(points)
    variance = FIRST_ORDER.least_share_of_mean / (2 - FIRST_ORDER.least_share_of_mean)
    assert np.abs(mean.touch).max() < 4 * np.sqrt(variance)


def many_classes(n_rows=600, n_features=60, n_classes=30):
    """Noisy directions of a sphere, as many embeddings are."""
    rng = np.random.default_rng(0)
    y = np.arange(n_rows) % n_classes
    X = rng.standard_normal((n_classes, n_features))[y]
    X += 1.5 * rng.standard_normal((n_rows, n_features))
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    ball = WassersteinBall(1e-2)
    return RobustProblem.of(X, y, np.full(n_rows, 1 / n_rows), ball, n_classes)


def test_the_mean_of_points_is_better_than_the_last_one():
    problem = many_classes()
    ascent = Ascent(problem, None, seed=0)
    for _ in range(60):
        ascent.sweep()
        ascent.recentre()
    zero = np.zeros((problem.n_classes, problem.n_features))
    best = Incumbent(zero, np.zeros(problem.n_classes), objective=1.0)
    ascent.certify(best)
    last = problem.risk(*ascent.layout.original(ascent.block.coef, ascent.free_centre))
    assert best.objective < last.value
    found = problem.risk(best.coef, best.intercept).value
    assert best.objective == pytest.approx(found, rel=1e-12)
    exact = first_order(problem, SolverSettings(tol=1e-5)).certificate
    assert exact.dual_bound <= best.objective
