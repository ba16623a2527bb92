"""The softmax of columns in single precision against the one in double precision."""

import numpy as np
import pytest

from wdrsvm.solvers.newton.kernels import soften_columns, soften_singles

pytestmark = pytest.mark.tiny
rng = np.random.default_rng(0)


@pytest.mark.parametrize("is_spread", [False, True])
@pytest.mark.parametrize(("temperature", "margin"), [(1.0, 0.0), (0.3, 1.0)])
def test_loss_slopes_spreads_and_bend(temperature, margin, is_spread):
    narrow = (3 * rng.normal(size=(5, 40))).astype(np.float32)
    wide, y, weight = narrow.astype(float), rng.integers(0, 5, 40), rng.uniform(size=40)
    told = y, weight, temperature, margin, is_spread
    expected, found = soften_columns(wide, *told), soften_singles(narrow, *told)
    np.testing.assert_allclose(found, expected, rtol=1e-5)
    np.testing.assert_allclose(narrow, wide, rtol=1e-4, atol=1e-6)


def test_slopes_of_a_row_have_the_sum_zero_even_if_they_are_small():
    """The own slope is not the difference of two numbers close to 1."""
    below = np.linspace(2.0, 60.0, 30)
    scores = np.stack([np.zeros(30), -below, -below - 1]).astype(np.float32)
    soften_singles(scores, np.zeros(30, dtype=np.intp), np.ones(30), 1.0, 0.0, False)
    np.testing.assert_allclose(scores[0], -scores[1:].sum(axis=0), rtol=1e-6)
    share = np.exp(-below) / (1 + np.exp(-below) * (1 + np.exp(-1.0)))
    np.testing.assert_allclose(scores[1], share, rtol=2e-5)


@pytest.mark.parametrize("size", [1e6, 1e10])
def test_scores_far_apart_neither_overflow_nor_vanish(size):
    scores = np.array([[1, -1], [-1, 0], [0, 1]], dtype=np.float32) * np.float32(size)
    y, told = np.array([0, 0]), (np.ones(2), 1.0, 0.0, False)
    loss, bend = soften_singles(scores, y, *told)
    assert loss == pytest.approx(2 * size)
    assert np.isfinite(bend)
    np.testing.assert_allclose(scores, [[0, -1], [0, 0], [0, 1]], atol=1e-20)
