"""Designs of the first-order method."""

import numpy as np
import pytest
from scipy import sparse

from wdrsvm.solvers.first_order.samples import MAX_COLUMNS, StoredMatrix


def one_entry(column, n_columns):
    place = np.array([column], dtype=np.int64)
    return sparse.csr_array((np.ones(1), place, np.array([0, 1])), shape=(1, n_columns))


@pytest.mark.tiny
def test_columns_that_kernels_cannot_count_are_refused():
    with pytest.raises(ValueError, match=r"^X must have at most 2147483647 columns .* got"):
        StoredMatrix.of_sparse(one_entry(MAX_COLUMNS, MAX_COLUMNS + 1))


@pytest.mark.tiny
def test_the_last_column_that_can_be_counted_stays_where_it_is():
    design = StoredMatrix.of_sparse(one_entry(MAX_COLUMNS - 1, MAX_COLUMNS))
    np.testing.assert_array_equal(design.indices, [MAX_COLUMNS - 1])


@pytest.mark.tiny
def test_a_sparse_design_without_entries_is_not_dense():
    """Kernels read all columns of a dense row, which are not there."""
    assert not StoredMatrix.of_sparse(sparse.csr_array((3, 5))).is_dense
    assert StoredMatrix.of_dense(np.zeros((3, 5))).is_dense
