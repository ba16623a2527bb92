"""Smoothed lengths of pairs of classes against the same in NumPy."""

import numpy as np
import pytest

from wdrsvm.problem.norms import class_pairs, divergence
from wdrsvm.solvers.newton import kernels

pytestmark = pytest.mark.tiny

WIDTH = 0.4


@pytest.fixture(params=[np.float64, np.float32])
def kind(request):
    """The precision of the coefficients."""
    return request.param


def closeness(kind):
    return {"rtol": 1e-4, "atol": 1e-5} if kind == np.float32 else {"atol": 1e-6}


def drawn(n_columns=7, n_classes=4):
    """Coefficients, multipliers, and the plain differences of all pairs."""
    rng = np.random.default_rng(0)
    coef = rng.normal(size=(n_classes, n_columns))
    coef[1, 0] = coef[0, 0]
    first, second = class_pairs(n_classes)
    shape = len(first), n_columns
    multipliers = rng.uniform(-1, 1, shape).astype(np.float32)
    return coef, multipliers, coef[first] - coef[second]


def slopes_of(differences, multipliers):
    return np.clip(differences / WIDTH + multipliers.astype(float), -1, 1)


def at_both(coef, free):
    first, second = class_pairs(len(coef))
    totals = np.zeros_like(coef)
    np.add.at(totals, first, free)
    np.add.at(totals, second, free)
    return totals


@pytest.mark.parametrize("n_columns", [0, 1, 4, 7, 1030])
def test_lengths_are_least_sums_of_a_length_and_a_squared_distance(n_columns, kind):
    coef, multipliers, differences = (
        drawn(n_columns) if n_columns else (np.zeros((4, 0)), np.zeros((6, 0), "f"), 0)
    )
    coef = coef.astype(kind)
    coef.flags.writeable = False
    lengths, plain, lags = np.empty((3, 6))
    kernels.pair_lengths(coef, multipliers, WIDTH, lengths, plain, lags)
    if not n_columns:
        np.testing.assert_array_equal([lengths, plain, lags], 0.0)
        return
    close = closeness(kind)
    moved = differences + WIDTH * multipliers.astype(float)
    least = np.sign(moved) * np.maximum(np.abs(moved) - WIDTH, 0)
    terms = np.abs(least) + (moved - least) ** 2 / (2 * WIDTH)
    terms -= WIDTH / 2 * multipliers.astype(float) ** 2
    np.testing.assert_allclose(lengths, terms.sum(axis=1), **close)
    np.testing.assert_allclose(plain, np.abs(differences).sum(axis=1), **close)
    assert (lengths <= plain * (1 + 1e-6) + 1e-6).all()
    changes = slopes_of(differences, multipliers) - multipliers
    np.testing.assert_allclose(lags, WIDTH / 2 * (changes**2).sum(axis=1), **close)


def test_weights_hold_a_class_where_its_pairs_are_tied(kind):
    coef, multipliers, differences = drawn()
    weights = np.array([0.3, 0.0, 1.0, 0.2, 0.1, 0.7])
    tied = np.abs(differences / WIDTH + multipliers.astype(float)) < 1
    assert tied.any()
    assert not tied.all()
    found = np.ones_like(coef, kind)
    kernels.add_tied_weights(coef.astype(kind), multipliers, WIDTH, weights, found)
    wanted = 1 + at_both(coef, weights[:, None] * tied)
    np.testing.assert_allclose(found, wanted, **closeness(kind))


def test_flows_are_slopes_times_weights(kind):
    coef, multipliers, differences = drawn()
    weights = np.array([0.3, 0.0, 1.0, 0.2, 0.1, 0.7])
    slopes = slopes_of(differences, multipliers)
    found = np.ones_like(coef, kind)
    kernels.add_pair_flows(coef.astype(kind), multipliers, WIDTH, weights, found)
    wanted = 1 + divergence(weights[:, None] * slopes, len(coef))
    np.testing.assert_allclose(found, wanted, **closeness(kind))


def test_slopes_become_the_multipliers(kind):
    coef, multipliers, differences = drawn()
    slopes = slopes_of(differences, multipliers)
    kernels.adapt_multipliers(coef.astype(kind), multipliers, WIDTH)
    np.testing.assert_allclose(multipliers, slopes, **closeness(kind))
    assert np.abs(multipliers).max() == 1


def nearest(difference, length):
    """The nearest vector with at most this l1 length, by bisection."""
    low, high = 0.0, np.abs(difference).max()
    for _ in range(100):
        middle = (low + high) / 2
        is_long = np.maximum(np.abs(difference) - middle, 0).sum() > length
        low, high = (middle, high) if is_long else (low, middle)
    return np.sign(difference) * np.maximum(np.abs(difference) - high, 0)


@pytest.mark.parametrize("share", [0.0, 0.3, 0.9, 1.0])
@pytest.mark.parametrize("n_columns", [1, 7])
def test_long_pairs_are_pulled_to_the_nearest_ones(n_columns, share):
    coef, _, differences = drawn(n_columns)
    lengths = np.abs(differences).sum(axis=1)
    length = share * lengths.max()
    pull, counts = np.zeros_like(coef), np.zeros(len(coef))
    largest = kernels.pull_long_pairs(coef, length, pull, counts)
    assert largest == pytest.approx(lengths.max())
    excess = differences - np.array([nearest(row, length) for row in differences])
    np.testing.assert_allclose(pull, divergence(excess, len(coef)), atol=1e-12)
    is_long = (lengths > length).astype(float)
    np.testing.assert_array_equal(counts, at_both(coef[:, :1], is_long[:, None])[:, 0])
