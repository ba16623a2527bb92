"""Clipped differences of pairs of classes against the same in NumPy."""

import numpy as np
import pytest

from wdrsvm.problem.norms import class_pairs, divergence
from wdrsvm.solvers.newton import kernels

pytestmark = pytest.mark.tiny


def drawn(n_columns=7, n_classes=4):
    rng = np.random.default_rng(0)
    coef = rng.normal(size=(n_classes, n_columns))
    first, second = class_pairs(n_classes)
    before = 0.3 * rng.normal(size=(len(first), n_columns))
    return coef, before, coef[first] - coef[second] + before


@pytest.mark.parametrize("n_columns", [1, 4, 7])
@pytest.mark.parametrize("guess", [0.0, 0.5, 100.0])
@pytest.mark.parametrize("share", [0.2, 0.9])
def test_heights_leave_the_length(n_columns, guess, share):
    coef, before, moved = drawn(n_columns)
    lengths = np.abs(moved).sum(axis=1)
    length, heights = share * lengths.max(), np.full(len(moved), guess)
    total, slope = kernels.pair_heights(coef, before, length, heights)
    above = np.maximum(np.abs(moved) - heights[:, None], 0)
    is_long = lengths > length
    np.testing.assert_allclose(above.sum(axis=1)[is_long], length)
    np.testing.assert_array_equal(heights[~is_long], 0.0)
    assert total == pytest.approx(heights.sum())
    assert slope == pytest.approx((1 / (above > 0).sum(axis=1)[is_long]).sum())


def test_no_length_is_left_at_the_largest_size():
    coef, before, moved = drawn()
    heights = np.zeros(len(moved))
    total, slope = kernels.pair_heights(coef, before, 0.0, heights)
    np.testing.assert_allclose(heights, np.abs(moved).max(axis=1))
    assert total == pytest.approx(heights.sum())
    assert slope > 0


def test_clips_and_their_sums():
    coef, before, moved = drawn()
    heights = np.linspace(0.1, 1.0, len(moved))
    clipped = np.clip(moved, -heights[:, None], heights[:, None])
    found = np.ones_like(coef)
    squares, changes, largest = kernels.clip_pairs(coef, before, heights, found)
    np.testing.assert_allclose(found, 1 + divergence(clipped, len(coef)))
    assert squares == pytest.approx((clipped**2).sum())
    assert changes == pytest.approx(((clipped - before) ** 2).sum())
    assert largest == pytest.approx(np.abs(moved - before).sum(axis=1).max())
    counts = np.zeros_like(coef)
    kernels.count_unclipped(coef, before, heights, counts)
    free = (np.abs(moved) < heights[:, None]).astype(float)
    first, second = class_pairs(len(coef))
    expected = np.zeros_like(coef)
    np.add.at(expected, first, free)
    np.add.at(expected, second, free)
    np.testing.assert_array_equal(counts, expected)
    kernels.fill_clipped(coef, before, heights)
    np.testing.assert_allclose(before, clipped)
