"""Power means of lengths and their shares against the same in NumPy."""

import numpy as np
import pytest

from wdrsvm.problem.pair_weights import pair_distances
from wdrsvm.solvers.newton import kernels

pytestmark = pytest.mark.tiny

POWER = 7.5


def drawn(seed=0, count=9):
    """Lengths, one of them zero, and shares, one of them zero."""
    rng = np.random.default_rng(seed)
    lengths, shares = rng.uniform(1.0, 3.0, (2, count))
    lengths[2], shares[4] = 0.0, 0.0
    return lengths, shares / shares.sum()


def mean_of(lengths, shares, power=POWER):
    return float((shares @ lengths**power) ** (1 / power))


def test_the_mean_and_its_slopes():
    lengths, shares = drawn()
    value, slopes = mean_of(lengths, shares), np.empty_like(lengths)
    assert kernels.power_mean(lengths, shares, POWER) == pytest.approx(value)
    assert kernels.fill_mean_slopes(lengths, shares, POWER, slopes) == pytest.approx(value)
    expected = value ** (1 - POWER) * shares * lengths ** (POWER - 2)
    np.testing.assert_allclose(slopes, expected, rtol=1e-12, atol=1e-150)


@pytest.mark.parametrize("scale", [0.0, 1e-200, 1e200])
def test_no_power_overflows(scale):
    lengths, shares = drawn()
    slopes = np.empty_like(lengths)
    value = kernels.fill_mean_slopes(scale * lengths, shares, 40.0, slopes)
    assert value == pytest.approx(scale * mean_of(lengths, shares, 40.0))
    assert np.isfinite(slopes).all()
    assert kernels.power_mean(scale * lengths, shares, 40.0) == value


def test_learnt_shares_follow_the_lengths():
    lengths, shares = drawn()
    learnt = np.empty_like(shares)
    assert kernels.learn_shares(lengths, shares, POWER, 9.0, np.inf, 0.1, learnt)
    expected = shares * lengths**POWER
    np.testing.assert_allclose(learnt, expected / expected.sum(), 1e-12, 1e-150)


def test_lengths_beyond_the_next_mean_get_a_share():
    lengths, shares = drawn()
    shares[5] = 0.0
    plain = shares * lengths**POWER
    plain /= plain.sum()
    means = [mean_of(lengths, plain, power) for power in (1.0, POWER)]
    lengths[4], lengths[5] = 6.0, 1.1 * sum(means) / 2  # Between both means, times 1.1.
    for next_power, mean in zip((1.0, POWER), means, strict=True):
        learnt = np.empty_like(shares)
        told = lengths, shares, POWER, next_power
        assert kernels.learn_shares(*told, 1.1, 0.3, learnt)
        floor = np.where(lengths > 1.1 * mean, 0.3 / 9, 0.0)
        expected = np.maximum(plain, floor)
        np.testing.assert_allclose(learnt, expected / expected.sum(), 1e-12, 1e-150)
        assert (learnt[5] > 0) == (next_power == 1.0)


def test_nothing_is_learnt_where_no_length_with_a_share_is_left():
    lengths, shares = np.zeros(3), np.ones(3) / 3
    assert not kernels.learn_shares(lengths, shares, POWER, POWER, 1.1, 0.3, shares.copy())
    lengths = np.array([1e-60, 1.0])
    none_left = np.array([1e-300, 0.0])
    learnt = np.empty(2)
    assert not kernels.learn_shares(lengths, none_left, 40.0, 40.0, 1.1, 0.3, learnt)


def test_distances():
    points = np.random.default_rng(0).normal(size=(5, 3))
    points[1] = points[0]
    distances = np.empty((5, 5))
    kernels.fill_distances(points @ points.T, distances)
    np.testing.assert_allclose(distances, pair_distances(points), atol=1e-7)
    assert not distances.diagonal().any()
    assert distances[0, 1] == pytest.approx(0.0, abs=1e-7)


def test_powers_of_many_ratios_are_those_of_numpy():
    """So many that loops become vectors, and some are left over."""
    rng = np.random.default_rng(1)
    lengths = np.concatenate([10.0 ** rng.uniform(-20, 0, 500), rng.uniform(0, 1, 501)])
    lengths[:3] = 0.0, 1e-40, 1.0
    shares = rng.uniform(size=len(lengths))
    slopes = np.empty_like(lengths)
    for power in (3.0, 8.0, 40.0):
        value = kernels.fill_mean_slopes(lengths, shares, power, slopes)
        assert value == pytest.approx(mean_of(lengths, shares, power), rel=1e-12)
        floored = np.maximum(lengths, 1e-30)
        expected = value ** (1 - power) * shares * floored ** (power - 2)
        np.testing.assert_allclose(slopes, expected, rtol=1e-11, atol=1e-290)
    assert (slopes[lengths < 1e-25] == 0).all()


@pytest.mark.parametrize("place", [0, 7, 39])
def test_no_number_stays_no_number(place):
    lengths, shares = drawn(count=40)
    lengths[place] = np.nan
    slopes, learnt = np.empty((2, 40))
    assert np.isnan(kernels.power_mean(lengths, shares, POWER))
    assert np.isnan(kernels.fill_mean_slopes(lengths, shares, POWER, slopes))
    assert np.isnan(slopes).all()
    assert not kernels.learn_shares(lengths, shares, POWER, POWER, 1.1, 0.3, learnt)
