"""Rows in memory: their bytes, and blocks of them joined again."""

import numpy as np
import pytest
from scipy import sparse

from wdrsvm.rows.blocks import row_blocks
from wdrsvm.rows.memory_rows import MemoryRows, n_bytes, stacked
from wdrsvm.rows.reduce import added
from wdrsvm.rows.threads import MIN_ROWS


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


class Summed:
    """Weights of rows, to be added up block by block."""

    def __init__(self, rows):
        self.weight, self.X = rows.weight, rows.X

    def blocks(self):
        return row_blocks(self.X, 1)


@pytest.mark.parametrize("n_rows", [MIN_ROWS - 1, MIN_ROWS])
def test_few_and_many_rows_are_added_up(n_rows):
    rows = MemoryRows(np.zeros((n_rows, 80)), np.zeros(n_rows), np.arange(n_rows))
    with rows.reduction(Summed) as reduction:
        total = reduction.fold(lambda subject, part: subject.weight[part].sum(), added)
    assert total == n_rows * (n_rows - 1) / 2
    assert len([*Summed(rows).blocks()]) > 1
