"""The smooth worst-case error: its gradient, its limit, its symmetries."""

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import check_grad

from wdrsvm.problem import RobustProblem, WassersteinBall
from wdrsvm.problem.ramp import RampProblem
from wdrsvm.solvers.smooth_error.error import SmoothError

pytestmark = pytest.mark.tiny
rng = np.random.default_rng(0)
X, Y = rng.normal(size=(30, 4)), rng.integers(3, size=30)
WEIGHT = rng.dirichlet(np.ones(30))
COEF, INTERCEPT = np.eye(3, 4) + 0.3 * rng.normal(size=(3, 4)), rng.normal(size=3)
MOVABLE = np.array([True, True, True, False])


def smooth_error(norm="l2", lam=2.0, softness=0.3, flip_cost=np.inf, rows=X):
    flips = np.full(30, flip_cost, dtype=float)
    return SmoothError(rows, Y, WEIGHT, flips, MOVABLE, norm, lam, softness)


@pytest.mark.parametrize("flip_cost", [np.inf, 0.3])
@pytest.mark.parametrize("norm", ["l1", "l2", "linf"])
def test_the_gradient_is_that_of_the_value(norm, flip_cost):
    smooth = smooth_error(norm, flip_cost=flip_cost)

    def value(flat):
        return smooth(flat[:12].reshape(3, 4), flat[12:])[0]

    def gradient(flat):
        _, by_coef, by_intercept = smooth(flat[:12].reshape(3, 4), flat[12:])
        return np.concatenate([by_coef.ravel(), by_intercept])

    assert check_grad(value, gradient, np.concatenate([COEF.ravel(), INTERCEPT])) < 1e-6


@pytest.mark.parametrize("flip_cost", [np.inf, 0.2])
@pytest.mark.parametrize("norm", ["l1", "l2", "linf"])
def test_without_softness_it_is_the_dual_of_the_worst_case_error(norm, flip_cost):
    cost = np.where(MOVABLE, 1.0, np.inf)
    ball = WassersteinBall(0.02, flip_cost, norm, cost)
    ramp = RampProblem(RobustProblem.of(X, Y, WEIGHT, ball, 3))
    lam = ramp.multiplier(COEF, INTERCEPT, 0.0)
    smooth = smooth_error(norm, lam, 1e-6, flip_cost)
    value = smooth(COEF, INTERCEPT)[0] + 0.02 * lam
    assert value == pytest.approx(ramp.errors(COEF, INTERCEPT).worst, abs=1e-5)


def test_neither_scale_nor_storage_matters():
    known = smooth_error()(COEF, INTERCEPT)[0]
    assert smooth_error()(9 * COEF, 9 * INTERCEPT)[0] == pytest.approx(known)
    stored = smooth_error(rows=sparse.csr_array(X))(COEF, INTERCEPT)
    for one, other in zip(stored, smooth_error()(COEF, INTERCEPT), strict=True):
        np.testing.assert_allclose(one, other, atol=1e-12)


def test_equal_classes_do_no_harm():
    value, by_coef, _ = smooth_error()(np.zeros((3, 4)), INTERCEPT)
    assert np.isfinite(value)
    assert np.isfinite(by_coef).all()
