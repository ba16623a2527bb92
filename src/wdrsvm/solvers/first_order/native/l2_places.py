r"""Sweeps of the l2 norm over a few places of each row: see ``first_order.places_of_rows``.

A row is settled among the classes of its list, which takes its products with as many lines
of A R', in place of all of them.  These lines follow each move of the row; the other lines
are computed anew when the pairs are adapted.

Products are taken in single precision.  R and the masses stay in double precision, so that
no rounding adds up.
"""

from __future__ import annotations

import cython
import numpy as np

from ...runtime.blas import multiply_rows, multiply_singles
from ...runtime.kernel_names import (
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
from .hinge_ascent import INFINITE, MAX_MOVES
from .l2 import Classes, adapt_pairs, fill_metric
from .l2_singles import narrow
from .records import Price, Samples


@cython.cclass
class PlaceWork:
    """A (C, C), R' and A R' (C, T) in single precision; scores and change of a row, by
    place."""

    metric: SingleTable
    residual: SingleTable
    mixed: SingleTable
    scores: Vector
    change: Vector

    def __init__(self, n_classes, n_columns):
        self.metric = np.zeros((n_classes, n_classes), dtype=np.float32)
        self.residual = np.zeros((n_classes, n_columns), dtype=np.float32)
        self.mixed = np.zeros((n_classes, n_columns), dtype=np.float32)
        self.scores, self.change = np.zeros((2, n_classes))


@kernel
def _refresh(residual: ReadTable, metric: ReadTable, work: PlaceWork) -> None:
    """All lines of A R'."""
    c: Count
    for c in range(residual.shape[0]):
        narrow(metric, c, work.metric)
        narrow(residual, c, work.residual)
    multiply_singles(work.metric, work.residual, work.mixed)


@inner
def _product(singles: ReadSingleTable, n: Count, table: SingleTable, j: Count) -> Real:
    """Row n times line j of the table."""
    d: Count
    total: Single = 0.0
    for d in range(table.shape[1]):
        total += singles[n, d] * table[j, d]
    return total


@inner
def _fill_scores(
    samples: Samples,
    singles: ReadSingleTable,
    n: Count,
    places: ReadCodes,
    first: Count,
    count: Count,
    work: PlaceWork,
) -> None:
    i: Count
    j: Count
    k: Count
    score: Real
    for i in range(count):
        j = places[first + i]
        score = -_product(singles, n, work.mixed, j)
        for k in range(samples.free.indptr[n], samples.free.indptr[n + 1]):
            score += samples.free.data[k] * samples.coef[samples.free.indices[k], j]
        work.scores[i] = score


@kernel
def _settle_places(
    samples: Samples,
    n: Count,
    metric: ReadTable,
    tol: Real,
    alpha: Table,
    places: ReadCodes,
    first: Count,
    count: Count,
    scores: Vector,
    change: Vector,
) -> Flag:
    """``settle_labels`` among these classes.  Scores and change are given by place."""
    move: Count
    i: Count
    j: Count
    best: Count
    worst: Count
    up: Count
    down: Count
    top: Real
    bottom: Real
    value: Real
    step: Real
    stiffness: Real
    q: Real = samples.touch_curvature[n]
    r: Real = samples.free_curvature[n]
    y: Count = samples.y[n]
    for i in range(count):
        change[i] = 0.0
    for move in range(MAX_MOVES):
        best = worst = 0
        top = -INFINITE
        bottom = INFINITE
        for i in range(count):
            j = places[first + i]
            value = scores[i] + (1.0 if j != y else 0.0)
            if value > top:
                top = value
                best = i
            if alpha[n, j] > 0 and value < bottom:
                bottom = value
                worst = i
        if not top - bottom > tol:
            return move > 0
        up = places[first + best]
        down = places[first + worst]
        stiffness = metric[up, up] - metric[up, down]
        stiffness += metric[down, down] - metric[down, up]
        stiffness = q * stiffness + 2 * r
        step = alpha[n, down]
        if stiffness * step > top - bottom:
            step = (top - bottom) / stiffness
        alpha[n, down] -= step
        alpha[n, up] += step
        change[worst] -= step
        change[best] += step
        for i in range(count):
            j = places[first + i]
            scores[i] -= q * step * (metric[up, j] - metric[down, j])
        scores[worst] += r * step
        scores[best] -= r * step
    return True


@inner
def _add_row(samples: Samples, n: Count, factor: Real, table: Table, j: Count) -> None:
    """Line j of the table += factor times row n."""
    d: Count
    first: Count = samples.touch.indptr[n]
    for d in range(table.shape[1]):
        table[j, d] += factor * samples.touch.data[first + d]


@inner
def _add_single_row(
    singles: ReadSingleTable, n: Count, factor: Single, table: SingleTable, j: Count
) -> None:
    d: Count
    for d in range(table.shape[1]):
        table[j, d] += factor * singles[n, d]


@kernel
def _follow(
    samples: Samples,
    singles: ReadSingleTable,
    n: Count,
    residual: Table,
    metric: ReadTable,
    places: ReadCodes,
    first: Count,
    count: Count,
    work: PlaceWork,
) -> None:
    """Let R, the row's lines of A R' and the free columns follow the change of a row."""
    i: Count
    j: Count
    k: Count
    column: Count
    fall: Real
    change: Vector = work.change
    for i in range(count):
        j = places[first + i]
        fall = 0.0
        for k in range(count):
            fall += metric[j, places[first + k]] * change[k]
        _add_single_row(singles, n, fall, work.mixed, j)
        if change[i] == 0:
            continue
        _add_row(samples, n, change[i], residual, j)
        for k in range(samples.free.indptr[n], samples.free.indptr[n + 1]):
            column = samples.free.indices[k]
            samples.coef[column, j] -= (
                samples.steps[column] * samples.free.data[k] * change[i]
            )


def sweep_places(
    order: ReadCodes,
    starts: ReadCodes,
    places: ReadCodes,
    samples: Samples,
    singles: ReadSingleTable,
    residual: Table,
    gram: Table,
    pairs: Table,
    price: Price,
    damping: Real,
    pace: Count,
    tol: Real,
    least_weight: Real,
    rounds: Count,
):
    """Dual coordinate ascent over dense rows in the given order, each among its places.

    Those of row n are ``places`` from ``starts[n]`` to ``starts[n + 1]``.  Each ``pace``
    rows the pairs are adapted, and ``rounds`` times at the end; R' R is up to date then.
    R' is (C, T).
    """
    _: Count
    k: Count
    n: Count
    first: Count
    count: Count
    work: PlaceWork = PlaceWork(residual.shape[0], residual.shape[1])
    classes: Classes = Classes(pairs.shape[0])
    with cython.nogil:
        fill_metric(pairs, price, damping, classes.metric)
        _refresh(residual, classes.metric, work)
        for k in range(order.shape[0]):
            n = order[k]
            first = starts[n]
            count = starts[n + 1] - first
            _fill_scores(samples, singles, n, places, first, count, work)
            if _settle_places(
                samples, n, classes.metric, tol, samples.alpha,
                places, first, count, work.scores, work.change,
            ):  # fmt: skip
                _follow(
                    samples, singles, n, residual, classes.metric,
                    places, first, count, work,
                )  # fmt: skip
            if (k + 1) % pace == 0:
                multiply_rows(residual, residual, gram)
                adapt_pairs(pairs, gram, price, least_weight, classes)
                fill_metric(pairs, price, damping, classes.metric)
                _refresh(residual, classes.metric, work)
        multiply_rows(residual, residual, gram)
        for _ in range(rounds):
            adapt_pairs(pairs, gram, price, least_weight, classes)
            fill_metric(pairs, price, damping, classes.metric)
