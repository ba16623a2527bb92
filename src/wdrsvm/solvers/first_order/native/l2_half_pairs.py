r"""Adaptations of the pairs of classes in single precision, for epochs among places.

The steps are those of ``l2``.  Tables of pairs are symmetric: of the weights and of the
distances only the lower half is kept, and gone over line by line.  Such loops become
vectors, and read each number once.
"""

from __future__ import annotations

import cython
import numpy as np
from cython.cimports.libc.math import sqrt

from ...runtime.blas import invert_definite, mirror
from ...runtime.kernel_names import (
    Count,
    Flag,
    ReadSingleTable,
    ReadTable,
    Real,
    Single,
    SingleTable,
    SingleVector,
    Table,
    inner,
    kernel,
)
from .l2 import (
    CLASS_ROUNDS,
    MAX_CHANGE,
    MAX_EXPONENT,
    MAX_PAIR_POWER,
    PAIR_POWER,
    PAIR_STEP,
    fill_metric,
    follow_length,
)
from .records import Price


@cython.cclass
class HalfPairs:
    """The weights of the pairs and their products, then their distances (C, C), as lower
    halves; A in both precisions; of each class the ``height`` on a diagonal, the ``own``
    part in the excess of its pairs, what it lacks, and the weight of its pairs.

    ``earlier`` are the weights after an earlier epoch, or zeros.
    """

    weights: SingleTable
    earlier: SingleTable
    apart: SingleTable
    single_metric: SingleTable
    metric: Table
    height: SingleVector
    own: SingleVector
    lack: SingleVector
    degree: SingleVector

    def __init__(self, n_classes):
        tables = np.zeros((4, n_classes, n_classes), dtype=np.float32)
        self.weights, self.earlier, self.apart, self.single_metric = tables
        self.metric = np.zeros((n_classes, n_classes))
        numbers = np.zeros((4, n_classes), dtype=np.float32)
        self.height, self.own, self.lack, self.degree = numbers


@inner
def narrow_half(table: ReadTable, out: SingleTable) -> None:
    i: Count
    j: Count
    for i in range(table.shape[0]):
        for j in range(i):
            out[i, j] = table[i, j]


@kernel
def widen_half(weights: ReadSingleTable, pairs: Table) -> None:
    """Pairs of this weight, and in sum 1; symmetric to the last bit."""
    i: Count
    j: Count
    total: Real = 0.0
    for i in range(pairs.shape[0]):
        for j in range(i):
            pairs[i, j] = weights[i, j]
            total += pairs[i, j]
    for i in range(pairs.shape[0]):
        for j in range(i):
            pairs[i, j] /= total
    mirror(pairs)


def push_pairs(pairs: Table, work: HalfPairs):
    """Weights move on by the root of what the last epoch has changed them by.

    No weight moves farther than in one adaptation.
    """
    i: Count
    j: Count
    now: Single
    before: Single
    ratio: Single
    most: Single = MAX_CHANGE
    least: Single = 1 / MAX_CHANGE
    with cython.nogil:
        for i in range(pairs.shape[0]):
            for j in range(i):
                now = pairs[i, j]
                before = work.earlier[i, j]
                work.earlier[i, j] = now
                # Rounding apart, an unknown earlier weight leaves the present one.
                ratio = now / before if before > 0 else 1
                ratio = ratio if ratio > least else least
                ratio = ratio if ratio < most else most
                work.weights[i, j] = now * sqrt(ratio)
        widen_half(work.weights, pairs)


@inner
def _fill_diagonal(table: ReadSingleTable, height: SingleVector) -> None:
    i: Count
    for i in range(table.shape[0]):
        height[i] = table[i, i]


@inner
def _fill_line_of_distances(
    weights: ReadSingleTable, apart: SingleTable, height: SingleVector, i: Count
) -> Single:
    """From products to distances; returns the weighted sum of their squares."""
    j: Count
    square: Single
    none: Single = 0
    here: Single = height[i]
    total: Single = 0
    for j in range(i):
        square = here + height[j] - 2 * apart[i, j]
        square = square if square > none else none
        total += weights[i, j] * square
        apart[i, j] = sqrt(square)
    return total


@inner
def _fill_line_of_excess(
    weights: ReadSingleTable,
    apart: SingleTable,
    rate: Single,
    degree: SingleVector,
    i: Count,
) -> Single:
    """d_ij / d - 1; adds to the weight of the pairs of each class, and returns one's."""
    j: Count
    total: Single = 0
    for j in range(i):
        apart[i, j] = apart[i, j] * rate - 1
        total += weights[i, j]
        degree[j] += weights[i, j]
    return total


@inner
def _add_line_of_lacks(
    weights: ReadSingleTable,
    apart: ReadSingleTable,
    own: SingleVector,
    lack: SingleVector,
    i: Count,
) -> Single:
    j: Count
    rest: Single
    here: Single = own[i]
    total: Single = 0
    for j in range(i):
        rest = weights[i, j] * (apart[i, j] - here - own[j])
        total += rest
        lack[j] += rest
    return total


@kernel
def _fill_own_parts(work: HalfPairs) -> None:
    """``own``: a few damped rounds of Jacobi's method on the weighted least squares."""
    i: Count
    _: Count
    for _ in range(CLASS_ROUNDS):
        for i in range(work.own.shape[0]):
            work.lack[i] = 0
        for i in range(work.own.shape[0]):
            work.lack[i] += _add_line_of_lacks(
                work.weights, work.apart, work.own, work.lack, i
            )
        for i in range(work.own.shape[0]):
            if work.degree[i] > 0:
                work.own[i] += work.lack[i] / (2 * work.degree[i])


@inner
def _reweigh_line(
    weights: SingleTable,
    apart: ReadSingleTable,
    metric: ReadSingleTable,
    own: SingleVector,
    height: SingleVector,
    stiffness: Single,
    floor: Single,
    i: Count,
) -> Single:
    """The new weights of the pairs of a class and those before it; returns their sum."""
    j: Count
    shared: Single
    response: Single
    power: Single
    x: Single
    weight: Single
    total: Single = 0
    step: Single = PAIR_STEP
    least: Single = PAIR_POWER
    # A response below this one has the largest power.
    weak: Single = PAIR_STEP / MAX_PAIR_POWER
    steepest: Single = MAX_EXPONENT
    half: Single = 0.5
    here: Single = own[i]
    stiff: Single = height[i]
    for j in range(i):
        shared = here + own[j]
        weight = weights[i, j]
        response = stiffness * weight * (stiff + height[j] - 2 * metric[i, j])
        response = response if response > weak else weak
        power = step / response
        power = power if power > least else least
        x = least * shared + power * (apart[i, j] - shared)
        x = x if x > -steepest else -steepest
        x = x if x < steepest else steepest
        weight = weight * (1 + x + half * x * x)
        weight = weight if weight > floor else floor
        weights[i, j] = weight
        total += weight
    return total


@kernel
def _reweigh_half(price: Price, least_weight: Real, work: HalfPairs) -> Real:
    """Move weight to the distant pairs; returns the mean distance d before."""
    i: Count
    j: Count
    rate: Single
    total: Real = 0.0
    n_classes: Count = work.own.shape[0]
    _fill_diagonal(work.apart, work.height)
    for i in range(n_classes):
        total += _fill_line_of_distances(work.weights, work.apart, work.height, i)
    length: Real = sqrt(total)
    if not length > 0:
        return length
    rate = 1.0 / length
    for i in range(n_classes):
        work.own[i] = work.degree[i] = 0
    for i in range(n_classes):
        work.degree[i] += _fill_line_of_excess(
            work.weights, work.apart, rate, work.degree, i
        )
    _fill_own_parts(work)
    _fill_diagonal(work.single_metric, work.height)
    total = 0.0
    for i in range(n_classes):
        total += _reweigh_line(
            work.weights, work.apart, work.single_metric, work.own, work.height,
            price.pressure / price.lam, 2 * least_weight / (n_classes * (n_classes - 1)), i,
        )  # fmt: skip
    rate = 1.0 / total
    for i in range(n_classes):
        for j in range(i):
            work.weights[i, j] *= rate
    return length


@inner
def _fill_line_of_laplacian(
    weights: ReadSingleTable,
    stiffness: Single,
    out: SingleTable,
    degree: SingleVector,
    i: Count,
) -> Single:
    j: Count
    weight: Single
    total: Single = 0
    for j in range(i):
        weight = stiffness * weights[i, j]
        out[i, j] = -weight
        total += weight
        degree[j] += weight
    return total


@kernel
def _invert_singly(price: Price, damping: Real, work: HalfPairs) -> Flag:
    """A = (T L_p + delta I)^{-1} in single precision; returns whether it is one."""
    i: Count
    for i in range(work.degree.shape[0]):
        work.degree[i] = damping
    for i in range(work.degree.shape[0]):
        work.degree[i] += _fill_line_of_laplacian(
            work.weights, price.pressure / price.lam, work.single_metric, work.degree, i
        )
    for i in range(work.degree.shape[0]):
        work.single_metric[i, i] = work.degree[i]
    return invert_definite(work.single_metric) == 0


@inner
def narrow_line(table: ReadTable, i: Count, out: SingleTable) -> None:
    """Line i of the table in single precision."""
    j: Count
    for j in range(table.shape[1]):
        out[i, j] = table[i, j]


@inner
def narrow_all(table: ReadTable, out: SingleTable) -> None:
    i: Count
    for i in range(table.shape[0]):
        narrow_line(table, i, out)


@kernel
def fill_both_metrics(
    pairs: ReadTable, price: Price, damping: Real, work: HalfPairs
) -> None:
    """A in double precision, and its copy."""
    fill_metric(pairs, price, damping, work.metric)
    narrow_all(work.metric, work.single_metric)


@kernel
def adapt_half(price: Price, least_weight: Real, work: HalfPairs) -> None:
    """Adapt the pairs to the products of M's rows, which are in ``apart``."""
    follow_length(price, _reweigh_half(price, least_weight, work))


@kernel
def fill_single_metric(pairs: Table, price: Price, damping: Real, work: HalfPairs) -> None:
    """A to the weights; in double precision where that is needed to invert."""
    if not _invert_singly(price, damping, work):
        widen_half(work.weights, pairs)
        fill_both_metrics(pairs, price, damping, work)
