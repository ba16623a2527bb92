"""The smooth worst-case error: its gradient, its limit, its symmetries."""

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import check_grad, minimize
from scipy.special import logsumexp

from wdrsvm.problem import RobustProblem, WassersteinBall
from wdrsvm.problem.ramp import RampProblem
from wdrsvm.solvers.smooth_error.error import SmoothError

pytestmark = pytest.mark.tiny
rng = np.random.default_rng(0)
X, Y = rng.normal(size=(30, 4)), rng.integers(3, size=30)
WEIGHT = rng.dirichlet(np.ones(30))
COEF, INTERCEPT = np.eye(3, 4) + 0.3 * rng.normal(size=(3, 4)), rng.normal(size=3)
MOVABLE = np.array([True, True, True, False])


FLAT = np.concatenate([COEF.ravel(), INTERCEPT])
LAM = 2.0


def smooth_error(norm="l2", softness=0.3, flip_cost=np.inf, rows=X, fit_intercept=True):
    flips = np.full(30, flip_cost, dtype=float)
    return SmoothError(rows, Y, WEIGHT, flips, MOVABLE, norm, 3, softness, fit_intercept)


def formula(norm, flip_cost, softness):
    """S as its definition is written, row by row."""
    order = {"l1": np.inf, "l2": 2, "linf": 1}[norm]
    total = 0.0
    for x, y, weight in zip(X, Y, WEIGHT, strict=True):
        scores = COEF @ x + INTERCEPT
        gaps = [(scores[y] - scores[j], COEF[y] - COEF[j]) for j in range(3) if j != y]
        costs = [gap / np.linalg.norm(d[MOVABLE], order) for gap, d in gaps] + [flip_cost]
        low = logsumexp(-LAM * np.array(costs) / softness)
        rise = np.logaddexp(0, low + 1 / softness) - np.logaddexp(0, low)
        total += weight * softness * rise
    return total


@pytest.mark.parametrize("softness", [0.01, 0.3, 5.0])
@pytest.mark.parametrize("flip_cost", [np.inf, 0.3])
@pytest.mark.parametrize("norm", ["l1", "l2", "linf"])
def test_the_value_is_that_of_its_definition(norm, flip_cost, softness):
    value, _ = smooth_error(norm, softness, flip_cost)(FLAT, LAM)
    assert value == pytest.approx(formula(norm, flip_cost, softness), rel=1e-12)


@pytest.mark.parametrize("flip_cost", [np.inf, 0.3])
@pytest.mark.parametrize("norm", ["l1", "l2", "linf"])
def test_the_gradient_is_that_of_the_value(norm, flip_cost):
    smooth = smooth_error(norm, flip_cost=flip_cost)
    off = check_grad(
        lambda flat: smooth(flat, LAM)[0], lambda flat: smooth(flat, LAM)[1], FLAT
    )
    assert off < 1e-6


def test_without_an_intercept_it_has_no_slope():
    slopes = [smooth_error(fit_intercept=given)(FLAT, LAM)[1] for given in (True, False)]
    np.testing.assert_array_equal(slopes[0][:12], slopes[1][:12])
    assert slopes[0][12:].all()
    assert not slopes[1][12:].any()


@pytest.mark.parametrize("flip_cost", [np.inf, 0.2])
@pytest.mark.parametrize("norm", ["l1", "l2", "linf"])
def test_without_softness_it_is_the_dual_of_the_worst_case_error(norm, flip_cost):
    cost = np.where(MOVABLE, 1.0, np.inf)
    ball = WassersteinBall(0.02, flip_cost, norm, cost)
    ramp = RampProblem(RobustProblem.of(X, Y, WEIGHT, ball, 3))
    lam = ramp.multiplier(COEF, INTERCEPT, 0.0)
    value = smooth_error(norm, 1e-6, flip_cost)(FLAT, lam)[0] + 0.02 * lam
    assert value == pytest.approx(ramp.errors(COEF, INTERCEPT).worst, abs=1e-5)


def test_neither_scale_nor_storage_matters():
    known = smooth_error()(FLAT, LAM)
    assert smooth_error()(9 * FLAT, LAM)[0] == pytest.approx(known[0])
    stored = smooth_error(rows=sparse.csr_array(X))(FLAT, LAM)
    for one, other in zip(stored, known, strict=True):
        np.testing.assert_allclose(one, other, atol=1e-12)


def test_rows_of_zeros_may_be_stored_without_entries():
    rows = X.copy()
    rows[::3], rows[:, 1] = 0.0, 0.0
    stored = smooth_error(rows=sparse.csr_array(rows))(FLAT, LAM)
    for one, other in zip(stored, smooth_error(rows=rows)(FLAT, LAM), strict=True):
        np.testing.assert_allclose(one, other, atol=1e-12)


def test_equal_classes_do_no_harm():
    value, slopes = smooth_error()(np.r_[np.zeros(12), INTERCEPT], LAM)
    assert np.isfinite(value)
    assert np.isfinite(slopes).all()


def test_the_arrays_may_be_read_only_and_stay_as_they_are():
    rows, flat = X.copy(), FLAT.copy()
    rows.flags.writeable = False
    smooth = smooth_error(rows=rows)
    smooth.descended(flat, LAM, 5)
    np.testing.assert_array_equal(flat, FLAT)


class TestDescent:
    """Against SciPy's L-BFGS, and by what a descent promises."""

    @pytest.mark.parametrize("flip_cost", [np.inf, 0.3])
    @pytest.mark.parametrize("softness", [1.0, 3.0])
    def test_long_descents_end_as_low_as_those_of_scipy(self, softness, flip_cost):
        # With an intercept there are several minima.
        smooth = smooth_error("l2", softness, flip_cost, fit_intercept=False)
        start = np.r_[FLAT[:12], np.zeros(3)]
        end = smooth.descended(start, LAM, 300)
        known = minimize(smooth, start, (LAM,), "L-BFGS-B", jac=True)
        assert smooth(end, LAM)[0] == pytest.approx(known.fun, abs=1e-6)

    @pytest.mark.parametrize("softness", [0.3, 1.0, 3.0])
    @pytest.mark.parametrize("flip_cost", [np.inf, 0.3])
    def test_long_descents_end_where_the_gradient_vanishes(self, softness, flip_cost):
        smooth = smooth_error("l2", softness, flip_cost)
        assert np.abs(smooth(smooth.descended(FLAT, LAM, 300), LAM)[1]).max() < 1e-3

    @pytest.mark.parametrize("norm", ["l1", "l2", "linf"])
    def test_the_value_falls_with_every_step(self, norm):
        smooth = smooth_error(norm)
        ends = [smooth.descended(FLAT, LAM, k) for k in range(12)]
        values = [smooth(end, LAM)[0] for end in ends]
        np.testing.assert_array_equal(ends[0], FLAT)
        assert (np.diff(values) <= 0).all()
        assert values[-1] < values[0] - 0.01

    def test_the_first_step_goes_down_the_gradient(self):
        smooth = smooth_error()
        step = smooth.descended(FLAT, LAM, 1) - FLAT
        slope = smooth(FLAT, LAM)[1]
        cosine = step @ slope / np.linalg.norm(step) / np.linalg.norm(slope)
        assert cosine == pytest.approx(-1)

    def test_a_second_descent_is_as_the_first(self):
        smooth = smooth_error("linf")
        ends = [smooth.descended(FLAT, LAM, 20) for _ in range(2)]
        np.testing.assert_array_equal(ends[0], ends[1])

    def test_a_flat_place_is_not_left(self):
        still = np.r_[np.zeros(12), 9.0, 0.0, 0.0]
        np.testing.assert_array_equal(smooth_error().descended(still, 1e-9, 20), still)
