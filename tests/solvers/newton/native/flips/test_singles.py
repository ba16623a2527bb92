"""Flips in single precision against those in double precision."""

import numpy as np
import pytest

from wdrsvm.solvers.newton.kernels import (
    find_spans,
    soften_flips,
    soften_single_flips,
)

pytestmark = pytest.mark.tiny
rng = np.random.default_rng(0)
SOFTEN = {np.float32: soften_single_flips, np.float64: soften_flips}


def softened(scores, prior, y, weight, trust, *, price, mu, is_spread, kind):
    """Sums, slopes or spreads, masses, and the numbers of rows."""
    scores, prior = scores.astype(kind), prior.astype(kind)
    shares, numbers = np.empty_like(scores), np.empty((3, len(y)))
    find_spans(scores, prior, y, mu, shares, *numbers)
    told = y, weight, trust, 0.7, price, mu
    sums = SOFTEN[kind](scores, shares, prior, *told, *numbers, is_spread)
    return sums, scores, shares, numbers


@pytest.mark.parametrize("mu", [0.05, 1.0])
@pytest.mark.parametrize("is_spread", [False, True])
def test_they_agree(is_spread, mu):
    prior = np.log(rng.dirichlet(np.ones(6), 40).T.copy())
    trust = np.append(np.full(5, np.inf), rng.uniform(0.5, 2.0, size=35))
    y, weight = rng.integers(0, 6, 40), rng.uniform(size=40)
    told = 2 * rng.normal(size=(6, 40)), prior, y, weight, trust
    one, other = (
        softened(*told, price=1.5, mu=mu, is_spread=is_spread, kind=kind)
        for kind in (np.float64, np.float32)
    )
    np.testing.assert_allclose(other[0], one[0], rtol=2e-5, atol=1e-5)
    for expected, found in zip(one[1:3], other[1:3], strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-3, atol=2e-5)
    np.testing.assert_allclose(other[3][0], one[3][0], rtol=1e-5, atol=1e-5)


def test_slopes_of_a_row_have_the_sum_zero_even_if_they_are_small():
    """The own slope is not the difference of two numbers close to 1."""
    below = np.linspace(2.0, 30.0, 30)
    scores = np.stack([np.zeros(30), -below, -below - 1])
    y, ones = np.zeros(30, dtype=np.intp), np.ones(30)
    told = {"price": 60.0, "mu": 0.5, "is_spread": False, "kind": np.float32}
    slopes = softened(scores, np.zeros((3, 30)), y, ones, ones, **told)[1]
    np.testing.assert_allclose(slopes[0], -slopes[1:].sum(axis=0), rtol=1e-5)


def test_scores_far_apart_neither_overflow_nor_vanish():
    scores = np.array([[1e6, -1e6], [-1e6, 0.0], [0.0, 1e6]])
    y, ones = np.array([0, 0]), np.ones(2)
    told = {"price": 10.0, "mu": 0.5, "is_spread": False, "kind": np.float32}
    sums, slopes, _, numbers = softened(scores, np.zeros((3, 2)), y, ones, ones, **told)
    np.testing.assert_allclose(numbers[0], [2e6, -1e6])
    assert sums[0] == pytest.approx(2e6 - 10.0 + 2e6)
    assert sums[1] == pytest.approx(1.0)
    assert np.isfinite(slopes).all()
