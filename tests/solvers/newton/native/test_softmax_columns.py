"""The softmax of columns against its definition."""

import numpy as np
import pytest

from wdrsvm.solvers.newton.kernels import soften_columns

pytestmark = pytest.mark.tiny
rng = np.random.default_rng(0)


@pytest.mark.parametrize(("temperature", "margin"), [(1.0, 0.0), (0.1, 1.0)])
def test_loss_slopes_and_spreads(temperature, margin):
    scores, y = 3 * rng.normal(size=(5, 40)), rng.integers(0, 5, 40)
    weight, own = rng.uniform(size=40), (y, np.arange(40))
    raised = scores + margin
    raised[own] -= margin
    powers = np.exp(raised / temperature)
    share = powers / powers.sum(axis=0)
    losses = temperature * np.log(powers.sum(axis=0)) - scores[own]
    slopes = weight * share
    slopes[own] -= weight
    found = scores.copy()
    loss, _ = soften_columns(found, y, weight, temperature, margin, False)
    assert loss == pytest.approx(weight @ losses, rel=1e-12)
    np.testing.assert_allclose(found, slopes, atol=1e-12)
    found = scores.copy()
    soften_columns(found, y, weight, temperature, margin, True)
    np.testing.assert_allclose(
        found, weight * share * (1 - share) / temperature, atol=1e-11
    )


def test_scores_far_apart_neither_overflow_nor_vanish():
    scores = np.array([[1e6, -1e6], [-1e6, 0.0], [0.0, 1e6]])
    loss, _ = soften_columns(scores, np.array([0, 0]), np.ones(2), 1.0, 0.0, False)
    assert loss == pytest.approx(2e6)
    np.testing.assert_allclose(scores, [[0, -1], [0, 0], [0, 1]], atol=1e-20)


def test_small_shares_are_as_exact_as_large_ones():
    """Of two classes, down to shares of 1e-25; beyond, a share is nothing beside 1."""
    below = np.linspace(0.0, 58.0, 30)
    scores = np.stack([np.zeros(30), -below])
    soften_columns(scores, np.zeros(30, dtype=np.intp), np.ones(30), 1.0, 0.0, False)
    np.testing.assert_allclose(scores[1], 1 / (1 + np.exp(below)), rtol=1e-10)


@pytest.mark.parametrize("temperature", [1.0, 0.3])
def test_the_bend_is_the_curvature_in_the_scale_of_the_scores(temperature):
    scores, y = 2 * rng.normal(size=(4, 30)), rng.integers(0, 4, 30)
    weight, step = rng.uniform(size=30), 1e-3

    def loss_and_bend(scale):
        return soften_columns(scale * scores, y, weight, temperature, 0.0, False)

    behind, here, ahead = (loss_and_bend(1 + t)[0] for t in (-step, 0.0, step))
    curved = (ahead - 2 * here + behind) / step**2
    assert loss_and_bend(1.0)[1] == pytest.approx(curved, rel=1e-5)
    spread = soften_columns(scores.copy(), y, weight, temperature, 0.0, True)
    assert spread == loss_and_bend(1.0)
