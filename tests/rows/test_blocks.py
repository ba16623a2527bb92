"""Rows are cut into blocks that memory holds."""

import numpy as np
import pytest
from scipy import sparse

from wdrsvm.rows import blocks


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_blocks_are_even_and_as_large_as_allowed(kind, monkeypatch):
    monkeypatch.setattr(blocks, "BLOCK_ENTRIES", 20)
    found = [*blocks.row_blocks(kind(np.ones((23, 5))), 3)]
    most = 20 // 5 if kind is np.asarray else 20 // 3
    sizes = [rows.stop - rows.start for rows in found]
    assert sum(sizes) == 23
    assert max(sizes) <= most
    assert max(sizes) - min(sizes) <= len(sizes)
    assert len(sizes) == -(-23 // most)
    assert [rows.start for rows in found[1:]] == [rows.stop for rows in found[:-1]]


def test_a_block_has_one_row_at_least(monkeypatch):
    monkeypatch.setattr(blocks, "BLOCK_ENTRIES", 2)
    found = [*blocks.row_blocks(np.ones((3, 9)), 3)]
    assert found == [slice(0, 1), slice(1, 2), slice(2, 3)]
    assert [*blocks.row_blocks(np.ones((0, 9)), 3)] == []
    monkeypatch.setattr(blocks, "BLOCK_ENTRIES", 30)
    assert [*blocks.row_blocks(np.ones((6, 0)), 10)] == [slice(0, 3), slice(3, 6)]


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_dense_rows_are_floats(kind):
    X = np.array([[1, 0], [0, 2]], dtype=np.int8)
    found = blocks.dense_rows(kind(X))
    assert type(found) is np.ndarray
    assert found.dtype == np.float64
    np.testing.assert_array_equal(found, X)
