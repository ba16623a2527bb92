r"""Sweeps of the l2 norm over a few places of each row: see ``first_order.places_of_rows``.

A row is settled among the classes of its list, which takes its products with as many lines
of A R', in place of all of them.  These lines follow each move of the row; the other lines
are computed anew when the pairs are adapted.

Products are taken in single precision, also those that tell the distances between classes.
Masses stay in double precision.  So does R, which at the end follows what the masses have
changed by: no rounding adds up, and each row in double precision is read once, however
often the row is visited.
"""

from __future__ import annotations

import cython
import numpy as np

from ...runtime.blas import multiply
from ...runtime.kernel_names import (
    Codes,
    Count,
    Flag,
    ReadCodes,
    ReadSingleTable,
    ReadTable,
    ReadVector,
    Real,
    Single,
    Table,
    Vector,
    inner,
    kernel,
)
from .hinge_ascent import INFINITE, MAX_MOVES, moving_mass
from .l2_half_pairs import (
    fill_both_metrics,
    fill_single_metric,
    narrow_all,
    narrow_half,
    widen_half,
)
from .l2_singles import (
    PlaceWork,
    adapt_singly,
    add_single_row,
    follow_residual,
    moved_mass,
    row_product,
)
from .records import Price, Samples


def contested_classes(
    scores: ReadSingleTable,
    y: ReadCodes,
    alpha: ReadTable,
    slack: Real,
    width: Real,
    counts: Codes,
    classes: Codes,
    masses: Vector,
    loss: Vector,
):
    """The label of each row, and its classes with mass or a loss above ``-slack`` that
    lacks less than ``width`` to the row's largest loss.

    ``counts`` (n,) receives their numbers, ``classes`` and ``masses`` the classes one row
    after the other and their masses, and ``loss`` (n,) the largest losses.  Returns how
    many classes there are in all.
    """
    i: Count
    j: Count
    found: Count = 0
    before: Count
    lead: Single
    least: Single
    largest: Single
    with cython.nogil:
        for i in range(scores.shape[0]):
            before = found
            # The loss of class j is its score minus this lead.
            lead = scores[i, y[i]] - 1
            least = lead - slack
            largest = lead
            if width < INFINITE:
                for j in range(scores.shape[1]):
                    if j != y[i] and scores[i, j] > largest:
                        largest = scores[i, j]
                if largest - width > least:
                    least = largest - width
            for j in range(scores.shape[1]):
                if j == y[i] or scores[i, j] > least or alpha[i, j] > 0:
                    classes[found] = j
                    masses[found] = alpha[i, j]
                    found += 1
                    if j != y[i] and scores[i, j] > largest:
                        largest = scores[i, j]
            counts[i] = found - before
            loss[i] = largest - lead
    return found


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
        score = -row_product(singles, n, work.mixed, j)
        for k in range(samples.free.indptr[n], samples.free.indptr[n + 1]):
            score += samples.free.data[k] * samples.coef[samples.free.indices[k], j]
        work.scores[i] = score


@kernel
def _settle_places(
    samples: Samples,
    n: Count,
    metric: ReadSingleTable,
    tol: Real,
    masses: Vector,
    places: ReadCodes,
    first: Count,
    count: Count,
    scores: Vector,
    change: Vector,
) -> Flag:
    """``settle_labels`` among these classes.  ``scores`` are those of its places."""
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
            if masses[first + i] > 0 and value < bottom:
                bottom = value
                worst = i
        if not top - bottom > tol:
            return move > 0
        up = places[first + best]
        down = places[first + worst]
        step = moving_mass(metric, up, down, q, r, masses[first + worst], top - bottom)
        masses[first + worst] -= step
        masses[first + best] += step
        change[worst] -= step
        change[best] += step
        for i in range(count):
            j = places[first + i]
            scores[i] -= q * step * (metric[up, j] - metric[down, j])
        scores[worst] += r * step
        scores[best] -= r * step
    return True


@kernel
def _follow(
    samples: Samples,
    singles: ReadSingleTable,
    n: Count,
    metric: ReadSingleTable,
    places: ReadCodes,
    first: Count,
    count: Count,
    is_last: Flag,
    work: PlaceWork,
) -> None:
    """Let the copy of R, the row's lines of A R' and the free columns follow a row.

    After the last adaptation (``is_last``) nothing reads the copy of R.
    """
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
            if change[k] != 0:
                fall += metric[places[first + k], j] * change[k]
        add_single_row(singles, n, fall, work.mixed, j)
        if change[i] == 0:
            continue
        if not is_last:
            add_single_row(singles, n, change[i], work.residual, j)
        for k in range(samples.free.indptr[n], samples.free.indptr[n + 1]):
            column = samples.free.indices[k]
            samples.coef[column, j] -= (
                samples.steps[column] * samples.free.data[k] * change[i]
            )


def begin_places(
    residual: ReadTable,
    pairs: Table,
    price: Price,
    damping: Real,
    is_known: Flag,
    work: PlaceWork,
):
    """Before an epoch: copies of A, R' and A R'.

    ``is_known`` tells that the last epoch has left A as it is.
    """
    with cython.nogil:
        narrow_half(pairs, work.weights)
        if not is_known:
            fill_single_metric(pairs, price, damping, work)
        narrow_all(residual, work.residual)
        multiply(work.single_metric, work.residual, work.mixed)


def sweep_places(
    order: ReadCodes,
    starts: ReadCodes,
    places: ReadCodes,
    masses: Vector,
    samples: Samples,
    singles: ReadSingleTable,
    pairs: Table,
    price: Price,
    damping: Real,
    pace: Count,
    tol: Real,
    least_weight: Real,
    moves: Vector,
    work: PlaceWork,
):
    """Dual coordinate ascent over dense rows in the given order, each among its places.

    Row n has ``places[starts[n] : starts[n + 1]]``, with ``masses``.  Each ``pace`` rows
    the pairs are adapted.  The moved mass is added to ``moves`` (N,).
    """
    k: Count
    n: Count
    first: Count
    count: Count
    last: Count = order.shape[0] - order.shape[0] % pace
    with cython.nogil:
        for k in range(order.shape[0]):
            n = order[k]
            first = starts[n]
            count = starts[n + 1] - first
            _fill_scores(samples, singles, n, places, first, count, work)
            if _settle_places(
                samples, n, work.single_metric, tol, masses,
                places, first, count, work.scores, work.change,
            ):  # fmt: skip
                _follow(
                    samples, singles, n, work.single_metric,
                    places, first, count, k >= last, work,
                )  # fmt: skip
                moves[n] += moved_mass(work.change, count)
            if (k + 1) % pace == 0:
                follow_residual(work)
                adapt_singly(price, least_weight, work)
                fill_single_metric(pairs, price, damping, work)
                multiply(work.single_metric, work.residual, work.mixed)


@kernel
def _follow_masses(
    n: Count,
    starts: ReadCodes,
    places: ReadCodes,
    masses: ReadVector,
    held: ReadVector,
    samples: Samples,
    residual: Table,
) -> None:
    """Let R follow a row whose masses are no longer those that were held before."""
    i: Count
    j: Count
    d: Count
    change: Real
    first: Count = samples.touch.indptr[n]
    for i in range(starts[n], starts[n + 1]):
        j = places[i]
        change = masses[i] - held[i]
        if change != 0:
            for d in range(residual.shape[1]):
                residual[j, d] += change * samples.touch.data[first + d]


def end_places(
    starts: ReadCodes,
    places: ReadCodes,
    rows: ReadCodes,
    masses: ReadVector,
    held: ReadVector,
    samples: Samples,
    residual: Table,
    pairs: Table,
    price: Price,
    damping: Real,
    least_weight: Real,
    rounds: Count,
    work: PlaceWork,
):
    """After the epoch: R follows the masses, the pairs are adapted so often; returns A."""
    i: Count
    k: Count
    with cython.nogil:
        for k in range(rows.shape[0]):
            _follow_masses(rows[k], starts, places, masses, held, samples, residual)
        narrow_all(residual, work.residual)
        follow_residual(work)
        for i in range(rounds):
            adapt_singly(price, least_weight, work)
            if i + 1 < rounds:
                fill_single_metric(pairs, price, damping, work)
        widen_half(work.weights, pairs)
        fill_both_metrics(pairs, price, damping, work)
    return np.asarray(work.metric)
