r"""Smoothed l1 lengths of the differences of all pairs of classes, and their slopes.

The pairs i < j stand in the order of ``problem.norms.class_pairs``.  Each pair p and column
d has a multiplier t between -1 and 1.  With  u = (M_id - M_jd) / width + t  the absolute
value of the difference is replaced by

    width (h(u) - t^2 / 2),    h(u) = u^2 / 2 if |u| <= 1, else |u| - 1/2.

This is at most the absolute value, and its slope is u clipped to [-1, 1]: the new
multiplier s.  Both meet where the new multiplier is the old one:  |u| - 1/2 = s u - s^2 / 2
outside of [-1, 1], so that everywhere the length is

    s (M_id - M_jd) - width (s - t)^2 / 2.

Coefficients may have either precision, in which differences and their sums are taken.
"""

from __future__ import annotations

import cython
import numpy as np
from cython.cimports.libc.math import fabs

from ...runtime.kernel_names import (
    Count,
    Either,
    EitherTable,
    ReadEitherTable,
    ReadSingleTable,
    ReadTable,
    ReadVector,
    Real,
    SingleTable,
    Table,
    Vector,
    inner,
    kernel,
)

MAX_HEIGHT_STEPS = cython.declare(Count, 100)
# Columns that are summed in the precision of the coefficients.
MAX_SUMMED = cython.declare(Count, 512)
# The bound of a slope.  A variable: of a number the C compiler would make branches.
STEEPEST = cython.declare(Real, 1.0)
HEIGHT_TOL = cython.declare(Real, 1e-13)


@inner
def _clipped(value: Either, bound: Either) -> Either:
    value = value if value < bound else bound
    return value if value > -bound else -bound


@inner
def _size(value: Either) -> Either:
    return value if value > 0 else -value


@kernel
def _fill_length(
    coef: ReadEitherTable,
    multipliers: ReadSingleTable,
    i: Count,
    j: Count,
    p: Count,
    rate: Either,
    found: Vector,
) -> None:
    """The slopes times the differences, the plain length, and the squared change of the
    multipliers."""
    part: Count
    found[0], found[1], found[2] = 0.0, 0.0, 0.0
    for part in range(coef.shape[1] // MAX_SUMMED + 1):
        _add_columns(coef, multipliers, i, j, p, rate, part * MAX_SUMMED, found)


@kernel
def _add_columns(
    coef: ReadEitherTable,
    multipliers: ReadSingleTable,
    i: Count,
    j: Count,
    p: Count,
    rate: Either,
    first: Count,
    found: Vector,
) -> None:
    """Add what some columns have: sums of a few numbers are precise in single precision."""
    d: Count
    last: Count = min(first + MAX_SUMMED, coef.shape[1])
    bound: Either = STEEPEST
    before: Either
    slope: Either
    difference: Either
    steep: Either = 0
    plain: Either = 0
    changes: Either = 0
    for d in range(first, last):
        difference = coef[i, d] - coef[j, d]
        before = multipliers[p, d]
        slope = _clipped(difference * rate + before, bound)
        steep += slope * difference
        plain += _size(difference)
        changes += (slope - before) * (slope - before)
    found[0] += steep
    found[1] += plain
    found[2] += changes


def pair_lengths(
    coef: ReadEitherTable,
    multipliers: ReadSingleTable,
    width: Real,
    lengths: Vector,
    plain: Vector,
    lags: Vector,
) -> None:
    """Fill in the smoothed and the plain lengths of all pairs, and the lags: new
    multipliers add at least the lag to a smoothed length."""
    i: Count
    j: Count
    p: Count = 0
    found: Vector = np.empty(3)
    with cython.nogil:
        for i in range(coef.shape[0]):
            for j in range(i + 1, coef.shape[0]):
                _fill_length(coef, multipliers, i, j, p, 1.0 / width, found)
                plain[p] = found[1]
                lags[p] = 0.5 * width * found[2]
                lengths[p] = found[0] - lags[p]
                p += 1


@kernel
def _add_flow(
    coef: ReadEitherTable,
    multipliers: ReadSingleTable,
    i: Count,
    j: Count,
    p: Count,
    rate: Either,
    weight: Either,
    divergence: EitherTable,
) -> None:
    d: Count
    flow: Either
    bound: Either = STEEPEST
    for d in range(coef.shape[1]):
        flow = (coef[i, d] - coef[j, d]) * rate + multipliers[p, d]
        flow = weight * _clipped(flow, bound)
        divergence[i, d] += flow
        divergence[j, d] -= flow


def add_pair_flows(
    coef: ReadEitherTable,
    multipliers: ReadSingleTable,
    width: Real,
    weights: ReadVector,
    divergence: EitherTable,
) -> None:
    """Add the slopes of each pair, times its weight, to one class and subtract them from
    the other."""
    i: Count
    j: Count
    p: Count = 0
    with cython.nogil:
        for i in range(coef.shape[0]):
            for j in range(i + 1, coef.shape[0]):
                if weights[p] != 0.0:
                    _add_flow(
                        coef, multipliers, i, j, p, 1.0 / width, weights[p], divergence
                    )
                p += 1


@kernel
def _add_tied(
    coef: ReadEitherTable,
    multipliers: ReadSingleTable,
    i: Count,
    j: Count,
    p: Count,
    rate: Either,
    weight: Either,
    totals: EitherTable,
) -> None:
    d: Count
    zero: Either = 0
    held: Either
    for d in range(coef.shape[1]):
        held = _size((coef[i, d] - coef[j, d]) * rate + multipliers[p, d])
        held = weight if held < 1 else zero
        totals[i, d] += held
        totals[j, d] += held


def add_tied_weights(
    coef: ReadEitherTable,
    multipliers: ReadSingleTable,
    width: Real,
    weights: ReadVector,
    totals: EitherTable,
) -> None:
    """Add the weight of each pair to both of its classes, in the columns in which the slope
    of the difference is not at its bound."""
    i: Count
    j: Count
    p: Count = 0
    with cython.nogil:
        for i in range(coef.shape[0]):
            for j in range(i + 1, coef.shape[0]):
                if weights[p] != 0.0:
                    _add_tied(coef, multipliers, i, j, p, 1.0 / width, weights[p], totals)
                p += 1


@kernel
def _adapt(
    coef: ReadEitherTable,
    multipliers: SingleTable,
    i: Count,
    j: Count,
    p: Count,
    rate: Either,
) -> None:
    d: Count
    slope: Either
    bound: Either = STEEPEST
    for d in range(coef.shape[1]):
        slope = (coef[i, d] - coef[j, d]) * rate + multipliers[p, d]
        multipliers[p, d] = _clipped(slope, bound)


def adapt_multipliers(coef: ReadEitherTable, multipliers: SingleTable, width: Real) -> None:
    """Put the slopes into the place of the multipliers."""
    i: Count
    j: Count
    p: Count = 0
    with cython.nogil:
        for i in range(coef.shape[0]):
            for j in range(i + 1, coef.shape[0]):
                _adapt(coef, multipliers, i, j, p, 1.0 / width)
                p += 1


@kernel
def _height(sizes: Vector, length: Real) -> Real:
    """The height above which the sizes have this sum, which is less than their total.

    Newton's method from below: the sum is convex in the height, so that no step goes too
    far.
    """
    d: Count
    _step: Count
    above: Real
    count: Real
    higher: Real
    height: Real = 0.0
    for _step in range(MAX_HEIGHT_STEPS):
        above = 0.0
        count = 0.0
        for d in range(sizes.shape[0]):
            above += sizes[d] - height if sizes[d] > height else 0.0
            count += 1.0 if sizes[d] > height else 0.0
        if count == 0.0:
            return height
        higher = height + (above - length) / count
        if higher - height <= HEIGHT_TOL * higher:
            return height
        height = higher
    return height


@kernel
def _fill_sizes(coef: ReadTable, i: Count, j: Count, sizes: Vector) -> Real:
    """The sizes of the differences of a pair; returns their sum."""
    d: Count
    total: Real = 0.0
    for d in range(coef.shape[1]):
        sizes[d] = fabs(coef[i, d] - coef[j, d])
        total += sizes[d]
    return total


@kernel
def _add_pull(coef: ReadTable, i: Count, j: Count, height: Real, pull: Table) -> None:
    d: Count
    difference: Real
    for d in range(coef.shape[1]):
        difference = coef[i, d] - coef[j, d]
        difference = difference if difference < height else height
        difference = difference if difference > -height else -height
        pull[i, d] += difference
        pull[j, d] -= difference


def pull_long_pairs(coef: ReadTable, length: Real, pull: Table, counts: Vector):
    """Add to the pull of each class what its differences have beyond the nearest ones of
    at most this length, and to its count the pairs that are longer; return the largest
    length."""
    i: Count
    j: Count
    total: Real
    largest: Real = 0.0
    sizes: Vector = np.empty(coef.shape[1])
    with cython.nogil:
        for i in range(coef.shape[0]):
            for j in range(i + 1, coef.shape[0]):
                total = _fill_sizes(coef, i, j, sizes)
                largest = total if total > largest else largest
                if total > length:
                    _add_pull(coef, i, j, _height(sizes, length), pull)
                    counts[i] += 1.0
                    counts[j] += 1.0
    return largest
