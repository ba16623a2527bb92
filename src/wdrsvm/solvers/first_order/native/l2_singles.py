r"""Products in single precision, which take half the time.

Those of a block of dense rows: see ``l2_sweeps``.  R and the masses stay in double
precision, and the copy of R follows R before each block, so that no rounding adds up.

Those of an epoch over places, and of the distances between classes: see ``l2_places``.
"""

from __future__ import annotations

import cython
import numpy as np
from cython.cimports.libc.math import fabs

from wdrsvm.solvers.first_order.settings import FIRST_ORDER

from ...runtime.blas import (
    half_single_gram,
    multiply,
    multiply_rows,
    single_gram,
)
from ...runtime.kernel_names import (
    Codes,
    Count,
    Flag,
    ReadCodes,
    ReadSingleTable,
    ReadTable,
    Real,
    Single,
    SingleTable,
    Table,
    Vector,
    inner,
    kernel,
)
from .l2_half_pairs import HalfPairs, adapt_half, narrow_line
from .records import Price

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
def _widen(singles: ReadSingleTable, size: Count, out: Table) -> None:
    i: Count
    d: Count
    for i in range(size):
        for d in range(out.shape[1]):
            out[i, d] = singles[i, d]


@kernel
def fill_single_products(
    single: SingleBlock, size: Count, residual: ReadTable, products: Table, mixed: Table
) -> None:
    """All products of the block, after the copy of R has followed R."""
    c: Count
    for c in range(residual.shape[0]):
        if single.changed[c]:
            narrow_line(residual, c, single.residual)
            single.changed[c] = 0
    multiply_rows(single.rows[:size], single.rows, single.products[:size])
    multiply_rows(single.rows[:size], single.residual, single.images[:size])
    multiply(single.images[:size], single.metric, single.mixed[:size])
    _widen(single.products, size, products)
    _widen(single.mixed, size, mixed)


@inner
def row_product(singles: ReadSingleTable, n: Count, table: SingleTable, j: Count) -> Real:
    """Row n times line j of the table.

    Four sums side by side: each addition would wait for the one before it.
    """
    d: Count
    n_columns: Count = table.shape[1]
    width: Count = n_columns // 4
    first: Single = 0.0
    second: Single = 0.0
    third: Single = 0.0
    fourth: Single = 0.0
    for d in range(width):
        first += singles[n, d] * table[j, d]
        second += singles[n, width + d] * table[j, width + d]
        third += singles[n, 2 * width + d] * table[j, 2 * width + d]
        fourth += singles[n, 3 * width + d] * table[j, 3 * width + d]
    for d in range(4 * width, n_columns):
        first += singles[n, d] * table[j, d]
    return (first + second) + (third + fourth)


@inner
def add_single_row(
    singles: ReadSingleTable, n: Count, factor: Single, table: SingleTable, j: Count
) -> None:
    """Line j of the table += factor times row n."""
    d: Count
    for d in range(table.shape[1]):
        table[j, d] += factor * singles[n, d]


@inner
def moved_mass(change: Vector, count: Count) -> Real:
    i: Count
    total: Real = 0.0
    for i in range(count):
        total += fabs(change[i])
    return total


@inner
def mark_changed(change: Vector, changed: Codes) -> None:
    c: Count
    for c in range(change.shape[0]):
        if change[c] != 0:
            changed[c] = 1


@cython.cclass
class PlaceWork(HalfPairs):
    """R' and A R' (C, T) in single precision, W = R' R and A W (C, C); scores and change of
    a row, by place.
    """

    residual: SingleTable
    mixed: SingleTable
    gram: SingleTable
    single_half: SingleTable
    scores: Vector
    change: Vector

    def __init__(self, n_classes, n_columns):
        HalfPairs.__init__(self, n_classes)
        tables = np.zeros((2, n_classes, n_columns), dtype=np.float32)
        self.residual, self.mixed = tables
        n_lines = 0 if _has_short_lines(self) else n_classes
        squares = np.zeros((2, n_lines, n_classes), dtype=np.float32)
        self.gram, self.single_half = squares
        self.scores, self.change = np.zeros((2, n_classes))


@inner
def _has_short_lines(work: PlaceWork) -> Flag:
    """Whether products of A R' with itself are less work than A W A."""
    return 3 * work.residual.shape[1] < 4 * work.residual.shape[0]


@kernel
def follow_residual(work: PlaceWork) -> None:
    """W from R, where distances between classes come from it."""
    if not _has_short_lines(work):
        single_gram(work.residual, work.gram)


@kernel
def adapt_singly(price: Price, least_weight: Real, work: PlaceWork) -> None:
    """Adapt the pairs to their distances at A and R.

    What is in A R' may change.
    """
    if _has_short_lines(work):
        multiply(work.single_metric, work.residual, work.mixed)
        half_single_gram(work.mixed, work.apart)
    else:
        multiply(work.single_metric, work.gram, work.single_half)
        multiply(work.single_half, work.single_metric, work.apart)
    adapt_half(price, least_weight, work)
