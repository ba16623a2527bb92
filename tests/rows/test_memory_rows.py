"""Rows in memory: their bytes, and blocks of them joined again."""

import numpy as np
from scipy import sparse

from wdrsvm.rows.memory_rows import MemoryRows, n_bytes, stacked


def test_bytes_are_those_of_the_arrays():
    X = np.zeros((10, 3), dtype=np.float32)
    thin = sparse.csr_array(np.eye(10, 3))
    parts = thin.data.nbytes + thin.indices.nbytes + thin.indptr.nbytes
    y, weight = np.zeros(10, dtype=np.intp), np.zeros(10)
    assert (n_bytes(X), n_bytes(thin)) == (120, parts)
    assert MemoryRows(X, y, weight, None).__sizeof__() == 120 + 80 + 80
    assert MemoryRows(thin, y, weight, weight).__sizeof__() == parts + 240


def test_blocks_are_stacked_in_their_order():
    for n_blocks in (1, 3):
        rng = np.random.default_rng(0)
        blocks = [rng.normal(size=(2, 3)) for _ in range(n_blocks)]
        np.testing.assert_array_equal(stacked(blocks), np.vstack(blocks))
        for kind in (sparse.csr_array, sparse.coo_array):
            found = stacked([kind(block) for block in blocks])
            assert found.format == "csr"
            np.testing.assert_array_equal(found.toarray(), np.vstack(blocks))
