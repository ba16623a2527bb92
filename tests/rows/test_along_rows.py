"""Sums and maxima along rows are NumPy's."""

import numpy as np
import pytest

from wdrsvm.rows.along_rows import _ones, row_maxima, row_sums


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("shape", [(7, 3), (7, 1), (1, 4), (0, 3)])
def test_rows_are_reduced_as_numpy_does(shape, order):
    table = np.asarray(np.random.default_rng(0).normal(size=shape) - 3.0, order=order)
    np.testing.assert_allclose(row_sums(table), table.sum(axis=1), rtol=1e-14)
    np.testing.assert_array_equal(row_maxima(table), table.max(axis=1))


def test_rows_without_entries_have_no_sum_and_no_maximum():
    assert row_sums(np.empty((3, 0))).tolist() == [0.0] * 3
    assert row_maxima(np.empty((3, 0))).tolist() == [-np.inf] * 3


def test_ones_that_are_shared_cannot_be_changed():
    shared = _ones(12_345)
    assert _ones(12_345) is shared
    with pytest.raises(ValueError, match="read-only"):
        shared[0] = 2.0
