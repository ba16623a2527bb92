"""Means and standard deviations of columns against NumPy's and scikit-learn's."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.preprocessing import StandardScaler

from wdrsvm.rows import blocks
from wdrsvm.rows.moments import (
    ColumnMoments,
    column_deviations,
    column_moments,
    joined_moments,
)


def table(n_rows=90, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 5)) * [1e-3, 1.0, 1e4, 1.0, 0.0] + [0, 1e6, 3, 0, 7.3]
    X[rng.random(n_rows) < 0.7, 3] = 0.0
    return X, rng.exponential(size=n_rows) * (rng.random(n_rows) < 0.8)


def scaler(X, weight=None):
    return StandardScaler(with_mean=False).fit(X, sample_weight=weight)


@pytest.mark.parametrize("form", [np.asarray, np.asfortranarray, sparse.csr_array])
@pytest.mark.parametrize("weighted", [False, True])
def test_deviations_are_those_of_standard_scaler(form, weighted):
    X, weight = table()
    given = form(X)
    found = column_deviations(given, weight if weighted else np.ones(len(X)))
    expected = scaler(given, weight if weighted else None).scale_
    np.testing.assert_allclose(found, expected, rtol=1e-9)
    assert found[4] == 1


def test_blocks_and_threads_change_nothing(monkeypatch):
    X, weight = table(9000)
    whole = column_moments(X, weight)
    monkeypatch.setattr(blocks, "BLOCK_ENTRIES", 1000)
    many = column_moments(X, weight)
    assert many.n_rows == whole.n_rows == np.count_nonzero(weight)
    assert many.mass == pytest.approx(weight.sum())
    np.testing.assert_allclose(many.mean, np.average(X, axis=0, weights=weight), rtol=1e-12)
    np.testing.assert_allclose(many.variance, whole.variance, rtol=1e-11)
    np.testing.assert_array_equal(column_moments(X, weight).variance, many.variance)


def test_far_columns_lose_no_digits():
    rng = np.random.default_rng(1)
    near = rng.integers(0, 8, size=(200, 1)).astype(float)
    expected = near.std()
    assert column_deviations(near + 2.0**40, np.ones(200))[0] == pytest.approx(expected)
    parts = [
        ColumnMoments.of(near[rows] + 2.0**40, np.ones(100))
        for rows in (slice(100), slice(100, 200))
    ]
    assert joined_moments(*parts).deviations()[0] == pytest.approx(expected)


def test_narrow_numbers_are_read_as_floats():
    X = np.array([[-128, 0], [127, 0]], dtype=np.int8)
    assert column_deviations(X, np.ones(2)).tolist() == [127.5, 1.0]
    assert X.dtype == np.int8


def test_stored_zeros_and_repeated_entries_of_sparse_rows():
    data, column, start = [1.0, 2.0, 0.0, 4.0], [0, 0, 1, 1], [0, 3, 4]
    rows = sparse.csr_array((data, column, start), shape=(2, 2))
    np.testing.assert_allclose(column_deviations(rows, np.ones(2)), [1.5, 2.0])
    assert rows.nnz == 4


def test_a_last_column_without_entries_is_constant():
    rows = sparse.csr_array(np.array([[1.0, 0.0], [3.0, 0.0]]))
    assert column_deviations(rows, np.ones(2)).tolist() == [1.0, 1.0]


def test_rows_without_weight_do_not_count():
    X = np.array([[0.0], [2.0], [1e9]])
    assert column_deviations(X, np.array([1.0, 1.0, 0.0])).tolist() == [1.0]
    assert column_moments(X, np.zeros(3)) is None
    assert column_deviations(X, np.zeros(3)).tolist() == [1.0]
    some = ColumnMoments.of(X, np.array([1.0, 1.0, 0.0]))
    assert joined_moments(None, some) is some
    assert joined_moments(some, None) is some
