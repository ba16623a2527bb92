r"""The products of a block of dense rows in single precision: see ``l2_sweeps``.

They take half the time.  R and the masses stay in double precision, and the copy of R
follows R before each block, so that no rounding adds up.
"""

from __future__ import annotations

import cython
import numpy as np

from wdrsvm.solvers.first_order.settings import FIRST_ORDER

from ...runtime.blas import multiply_single_rows, multiply_singles
from ...runtime.kernel_names import (
    Codes,
    Count,
    ReadCodes,
    ReadSingleTable,
    ReadTable,
    SingleTable,
    Table,
    Vector,
    inner,
    kernel,
)

BLOCK_OF_SINGLES = cython.declare(Count, FIRST_ORDER.block_rows)


@cython.cclass
class SingleBlock:
    """Memory for a block's products in single precision.

    The rows (B, T), their products with each other (B, B), the images R' x and A R' x
    (B, C), copies of R' (C, T) and of A (C, C), and which classes of R have changed since.
    """

    rows: SingleTable
    products: SingleTable
    images: SingleTable
    mixed: SingleTable
    residual: SingleTable
    metric: SingleTable
    changed: Codes

    def __init__(self, n_columns, n_classes):
        self.rows = np.zeros((BLOCK_OF_SINGLES, n_columns), dtype=np.float32)
        self.products = np.zeros((BLOCK_OF_SINGLES, BLOCK_OF_SINGLES), dtype=np.float32)
        self.images = np.zeros((BLOCK_OF_SINGLES, n_classes), dtype=np.float32)
        self.mixed = np.zeros((BLOCK_OF_SINGLES, n_classes), dtype=np.float32)
        self.residual = np.zeros((n_classes, n_columns), dtype=np.float32)
        self.metric = np.zeros((n_classes, n_classes), dtype=np.float32)
        self.changed = np.ones(n_classes, dtype=np.intp)


@inner
def gather_singles(
    singles: ReadSingleTable, order: ReadCodes, begin: Count, size: Count, out: SingleTable
) -> None:
    i: Count
    d: Count
    n: Count
    for i in range(size):
        n = order[begin + i]
        for d in range(out.shape[1]):
            out[i, d] = singles[n, d]


@inner
def narrow(table: ReadTable, i: Count, out: SingleTable) -> None:
    """Line i of the table in single precision."""
    d: Count
    for d in range(table.shape[1]):
        out[i, d] = table[i, d]


@inner
def _widen(singles: ReadSingleTable, size: Count, out: Table) -> None:
    i: Count
    d: Count
    for i in range(size):
        for d in range(out.shape[1]):
            out[i, d] = singles[i, d]


@inner
def narrow_metric(metric: ReadTable, single: SingleBlock) -> None:
    i: Count
    for i in range(metric.shape[0]):
        narrow(metric, i, single.metric)


@kernel
def fill_single_products(
    single: SingleBlock, size: Count, residual: ReadTable, products: Table, mixed: Table
) -> None:
    """All products of the block, after the copy of R has followed R."""
    c: Count
    for c in range(residual.shape[0]):
        if single.changed[c]:
            narrow(residual, c, single.residual)
            single.changed[c] = 0
    multiply_single_rows(single.rows[:size], single.rows, single.products[:size])
    multiply_single_rows(single.rows[:size], single.residual, single.images[:size])
    multiply_singles(single.images[:size], single.metric, single.mixed[:size])
    _widen(single.products, size, products)
    _widen(single.mixed, size, mixed)


@inner
def mark_changed(change: Vector, changed: Codes) -> None:
    c: Count
    for c in range(change.shape[0]):
        if change[c] != 0:
            changed[c] = 1
