"""Columns that are shifted and scaled where they are read."""

import numpy as np
import pytest
from scipy import sparse

from wdrsvm.rows.affine_columns import AffineColumns


@pytest.mark.parametrize("kind", [np.asarray, np.float32, sparse.csr_array])
def test_rows_are_those_of_the_whole_matrix(kind):
    X = np.random.default_rng(0).normal(size=(7, 3)).astype(np.float32)
    centre, width = np.array([1.0, 0.0, -2.0]), np.array([2.0, 1.0, 0.5])
    columns = AffineColumns(kind(X), centre, width)
    expected = (X - centre) / width
    assert columns.shape == (7, 3)
    assert columns.nbytes > 0
    for rows in (slice(2, 5), np.array([6, 0]), slice(None)):
        found = columns[rows]
        assert found.dtype == np.float64
        np.testing.assert_allclose(found, expected[rows])
