r"""Sweeps of the l2 norm over the rows: see ``first_order.norms.l2``.

Sparse rows are settled one by one.  Dense rows are settled in blocks: all products of a
block's rows with the table R come from one matrix product, which takes a fraction of the
time that rows need one by one.  The rows of a block are still settled in their order.  A
row that moves by v_m changes the image R' x_n of a later row by (x_n' x_m) v_m, and its
scores by -(x_n' x_m) A v_m; the products x_n' x_m are those of the block alone.

While rows are settled coarsely, the products of a block are taken in single precision
(``l2_singles``).
"""

from __future__ import annotations

import cython
import numpy as np

from wdrsvm.solvers.first_order.settings import FIRST_ORDER

from ...runtime.blas import multiply, multiply_rows
from ...runtime.kernel_names import (
    Codes,
    Count,
    Flag,
    ReadCodes,
    ReadSingleTable,
    ReadTable,
    Real,
    Table,
    Vector,
    inner,
    kernel,
)
from .hinge_ascent import clear
from .l2 import Classes, adapt_pairs, fill_metric
from .l2_half_pairs import narrow_all
from .l2_singles import (
    SingleBlock,
    fill_single_products,
    gather_singles,
    mark_changed,
)
from .products import add_outer, add_product, descend
from .records import Price, RowWork, Samples, StoredRows
from .smooth_loss_ascent import settle

BLOCK = cython.declare(Count, FIRST_ORDER.block_rows)


@cython.cclass
class RowBlock:
    """Memory for a block of rows.

    The rows (B, T), their products with each other (B, B), the images R' x and A R' x
    (B, C), and the effect A v (B, C) of each row's move on scores.
    """

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
    design: StoredRows, order: ReadCodes, begin: Count, size: Count, out: Table
) -> None:
    i: Count
    d: Count
    first: Count
    for i in range(size):
        first = design.indptr[order[begin + i]]
        for d in range(out.shape[1]):
            out[i, d] = design.data[first + d]


@kernel
def _fill_products(
    block: RowBlock, size: Count, residual: ReadTable, metric: ReadTable
) -> None:
    """All products of the block, with R and A as they are at its start."""
    multiply_rows(block.rows[:size], block.rows, block.products[:size])
    multiply_rows(block.rows[:size], residual, block.images[:size])
    multiply(block.images[:size], metric, block.mixed[:size])


@inner
def _subtract_images(block: RowBlock, i: Count, scores: Vector) -> None:
    """scores -= A R' x of row i, with the changes of R by the rows before it."""
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
    singles: ReadSingleTable,
    single: SingleBlock,
) -> None:
    i: Count
    n: Count
    coarse: Flag = singles.shape[0] > 0
    if coarse:
        gather_singles(singles, order, begin, size, single.rows)
        fill_single_products(single, size, residual, block.products, block.mixed)
    else:
        _gather(samples.touch, order, begin, size, block.rows)
        _fill_products(block, size, residual, metric)
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
            if coarse:
                mark_changed(work.change, single.changed)


@inner
def _subtract_product(metric: ReadTable, image: Vector, scores: Vector) -> None:
    """scores -= A image."""
    i: Count
    j: Count
    total: Real
    for i in range(scores.shape[0]):
        total = 0.0
        for j in range(scores.shape[0]):
            total += metric[i, j] * image[j]
        scores[i] -= total


@inner
def _update_gram(gram: Table, image: Vector, change: Vector, square: Real) -> None:
    """W after R <- R + x change', with image = R' x and square = x' x."""
    i: Count
    j: Count
    here: Real
    moved: Real
    for i in range(gram.shape[0]):
        here = image[i] + square * change[i]
        moved = change[i]
        for j in range(gram.shape[0]):
            gram[i, j] += here * change[j] + moved * image[j]


@kernel
def _settle_rows(
    order: ReadCodes,
    begin: Count,
    size: Count,
    samples: Samples,
    residual: Table,
    price: Price,
    metric: ReadTable,
    tol: Real,
    gram: Table,
    work: RowWork,
) -> None:
    """Settle sparse rows one by one; R' R follows each of them."""
    k: Count
    n: Count
    for k in range(begin, begin + size):
        n = order[k]
        clear(work.image)
        clear(work.scores)
        add_product(samples.touch, n, residual, work.image)
        add_product(samples.free, n, samples.coef, work.scores)
        _subtract_product(metric, work.image, work.scores)
        if settle(samples, n, price, metric, tol, work):
            add_outer(samples.touch, n, residual, work.change)
            descend(samples.free, n, samples.coef, samples.steps, work.change)
            _update_gram(gram, work.image, work.change, samples.touch_curvature[n])


def sweep_pairs(
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
    singles: ReadSingleTable,
    begun: Count = 0,
):
    """Dual coordinate ascent over the rows, in the given order.

    Each ``pace`` rows the pairs are adapted, of which the epoch has ``begun`` so many
    before; R' R is up to date then, and at the end.  R is
    (T, C) for sparse rows; for dense rows it is R', (C, T).  ``singles`` are dense rows in
    single precision, or none where double precision is needed.
    """
    k: Count = 0
    size: Count
    dense: Flag = samples.touch.dense
    work: RowWork = RowWork(pairs.shape[0])
    classes: Classes = Classes(pairs.shape[0])
    coarse: Flag = singles.shape[0] > 0
    block: RowBlock = RowBlock(residual.shape[1] if dense else 0, pairs.shape[0])
    single: SingleBlock = SingleBlock(
        residual.shape[1] if coarse else 0, pairs.shape[0] if coarse else 0
    )
    with cython.nogil:
        fill_metric(pairs, price, damping, classes.metric)
        if coarse:
            narrow_all(classes.metric, single.metric)
        while k < order.shape[0]:
            size = min(BLOCK, pace - (begun + k) % pace, order.shape[0] - k)
            if dense:
                _settle_block(
                    order, k, size, samples, residual,
                    price, classes.metric, tol, block, work, singles, single,
                )  # fmt: skip
            else:
                _settle_rows(
                    order, k, size, samples, residual,
                    price, classes.metric, tol, gram, work,
                )  # fmt: skip
            k += size
            if (begun + k) % pace == 0:
                if dense:
                    multiply_rows(residual, residual, gram)
                adapt_pairs(pairs, gram, price, least_weight, classes)
                fill_metric(pairs, price, damping, classes.metric)
                if coarse:
                    narrow_all(classes.metric, single.metric)
        if dense:
            multiply_rows(residual, residual, gram)
