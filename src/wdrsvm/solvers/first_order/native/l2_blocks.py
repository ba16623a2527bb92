r"""Sweeps of the l2 norm over dense rows, in blocks: see ``first_order.norms.l2``.

All products of a block's rows with the table R come from one matrix product, which takes a
fraction of the time that rows need one by one.  The rows are settled in their order all the
same.  A row that moves by v_m changes the image R' x_n of a later one by (x_n' x_m) v_m,
and its scores by -(x_n' x_m) A v_m; the products x_n' x_m are those of the block alone.
"""

from __future__ import annotations

import cython
import numpy as np

from ...runtime.blas import multiply, multiply_rows
from ...runtime.kernel_names import (
    Codes,
    Count,
    ReadCodes,
    ReadTable,
    Real,
    Table,
    Vector,
    inner,
    kernel,
)
from .hinge_rows import clear
from .l2 import Classes, fill_metric, press
from .products import add_outer, add_product, descend
from .records import Design, Price, RowWork, Samples
from .smooth_loss_rows import settle

BLOCK = cython.declare(Count, 32)


@cython.cclass
class RowBlock:
    """Room for a block of rows: the rows (B, T), their products with each other (B, B),
    images R' x and A R' x (B, C), and what each move takes from a score, A v (B, C)."""

    rows: Table
    products: Table
    images: Table
    mixed: Table
    falls: Table
    moved: Codes

    def __init__(self, n_columns, n_classes):
        self.rows = np.zeros((BLOCK, n_columns))
        self.products = np.zeros((BLOCK, BLOCK))
        self.images, self.mixed, self.falls = np.zeros((3, BLOCK, n_classes))
        self.moved = np.zeros(BLOCK, dtype=np.intp)


@inner
def _gather(
    design: Design, order: ReadCodes, begin: Count, size: Count, out: Table
) -> None:
    i: Count
    d: Count
    first: Count
    for i in range(size):
        first = design.indptr[order[begin + i]]
        for d in range(out.shape[1]):
            out[i, d] = design.data[first + d]


@kernel
def _look_at(block: RowBlock, size: Count, residual: ReadTable, metric: ReadTable) -> None:
    """All products of the block, at the R and the A that it begins with."""
    multiply_rows(block.rows[:size], block.rows, block.products[:size])
    multiply_rows(block.rows[:size], residual, block.images[:size])
    multiply(block.images[:size], metric, block.mixed[:size])


@inner
def _subtract_images(block: RowBlock, i: Count, scores: Vector) -> None:
    """scores -= A R' x of row i, after what rows before it have done to R."""
    j: Count
    m: Count
    product: Real
    for j in range(scores.shape[0]):
        scores[j] -= block.mixed[i, j]
    for m in range(i):
        if block.moved[m]:
            product = block.products[i, m]
            for j in range(scores.shape[0]):
                scores[j] -= product * block.falls[m, j]


@inner
def _fill_fall(metric: ReadTable, change: Vector, block: RowBlock, i: Count) -> None:
    """A v of the move of row i; most entries of v are 0."""
    c: Count
    j: Count
    moved: Real
    for j in range(change.shape[0]):
        block.falls[i, j] = 0.0
    for c in range(change.shape[0]):
        moved = change[c]
        if moved != 0:
            for j in range(change.shape[0]):
                block.falls[i, j] += moved * metric[c, j]


@kernel
def _settle_block(
    order: ReadCodes,
    begin: Count,
    size: Count,
    samples: Samples,
    residual: Table,
    price: Price,
    metric: ReadTable,
    tol: Real,
    block: RowBlock,
    work: RowWork,
) -> None:
    i: Count
    n: Count
    _gather(samples.touch, order, begin, size, block.rows)
    _look_at(block, size, residual, metric)
    for i in range(size):
        n = order[begin + i]
        clear(work.scores)
        add_product(samples.free, n, samples.coef, work.scores)
        _subtract_images(block, i, work.scores)
        block.moved[i] = settle(samples, n, price, metric, tol, work)
        if block.moved[i]:
            add_outer(samples.touch, n, residual, work.change)
            descend(samples.free, n, samples.coef, samples.steps, work.change)
            _fill_fall(metric, work.change, block, i)


def sweep_blocks(
    order: ReadCodes,
    samples: Samples,
    residual: Table,
    gram: Table,
    pairs: Table,
    price: Price,
    damping: Real,
    pace: Count,
    tol: Real,
    least_weight: Real,
):
    """Dual coordinate ascent over dense rows, in the given order; R' is (C, T).

    Each ``pace`` rows the pairs are adapted; R' R is up to date then, and at the end.
    """
    k: Count = 0
    size: Count
    work: RowWork = RowWork(pairs.shape[0])
    classes: Classes = Classes(pairs.shape[0])
    block: RowBlock = RowBlock(residual.shape[1], pairs.shape[0])
    with cython.nogil:
        fill_metric(pairs, price, damping, classes.metric)
        while k < order.shape[0]:
            size = min(BLOCK, pace - k % pace, order.shape[0] - k)
            _settle_block(
                order,
                k,
                size,
                samples,
                residual,
                price,
                classes.metric,
                tol,
                block,
                work,
            )
            k += size
            if k % pace == 0:
                multiply_rows(residual, residual, gram)
                press(pairs, gram, price, least_weight, classes)
                fill_metric(pairs, price, damping, classes.metric)
        multiply_rows(residual, residual, gram)
