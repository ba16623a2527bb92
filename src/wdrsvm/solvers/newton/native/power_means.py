r"""Power means of lengths, and the shares of the lengths in them.

For lengths d_k and shares whose sum is 1, the mean is

    (sum_k share_k d_k^power)^(1 / power).

Ratios to the largest length take the place of the lengths, so that no power overflows.
"""

from __future__ import annotations

import cython
from cython.cimports.libc.math import exp, log, pow, sqrt

from ...runtime.kernel_names import (
    Count,
    ReadTable,
    ReadVector,
    Real,
    Table,
    Vector,
    inner,
    kernel,
)

# Shorter lengths count as this share of the longest one.
LEAST_RATIO = cython.declare(Real, 1e-30)


@inner
def _ratio_power(ratio: Real, power: Real) -> Real:
    """ratio^power for ratios up to 1: faster than ``pow``.  No number stays no number."""
    return exp(power * log(LEAST_RATIO if ratio < LEAST_RATIO else ratio))


@kernel
def _longest(lengths: ReadVector) -> Real:
    k: Count
    top: Real = 0.0
    for k in range(lengths.shape[0]):
        top = lengths[k] if lengths[k] > top else top
    return top


@kernel
def _mean(lengths: ReadVector, shares: ReadVector, power: Real) -> Real:
    k: Count
    total: Real = 0.0
    top: Real = _longest(lengths)
    if top == 0.0:
        return 0.0
    for k in range(lengths.shape[0]):
        if shares[k] > 0.0:
            total += shares[k] * _ratio_power(lengths[k] / top, power)
    return top * pow(total, 1.0 / power)


def power_mean(lengths: ReadVector, shares: ReadVector, power: Real):
    """The mean of these lengths."""
    mean: Real
    with cython.nogil:
        mean = _mean(lengths, shares, power)
    return mean


@kernel
def _scale(values: Vector, factor: Real) -> None:
    k: Count
    for k in range(values.shape[0]):
        values[k] *= factor


@kernel
def _fill_mean_slopes(
    lengths: ReadVector, shares: ReadVector, power: Real, slopes: Vector
) -> Real:
    k: Count
    ratio: Real
    value: Real
    total: Real = 0.0
    longest: Real = _longest(lengths)
    top: Real = longest if longest > 0.0 else 1.0
    for k in range(lengths.shape[0]):
        ratio = lengths[k] / top
        slopes[k] = 0.0
        if shares[k] > 0.0:
            slopes[k] = shares[k] * _ratio_power(ratio, power - 2.0)
            total += slopes[k] * ratio * ratio
    if total == 0.0:
        _scale(slopes, 0.0)
        return 0.0
    value = top * pow(total, 1.0 / power)
    # As (top / value)^power total = 1; powers of this ratio would overflow.
    _scale(slopes, value / top / top / total)
    return value


def fill_mean_slopes(lengths: ReadVector, shares: ReadVector, power: Real, slopes: Vector):
    """Fill in the slope of the mean in each squared length / 2; return the mean."""
    value: Real
    with cython.nogil:
        value = _fill_mean_slopes(lengths, shares, power, slopes)
    return value


@kernel
def _fill_learnt(
    lengths: ReadVector, shares: ReadVector, power: Real, learnt: Vector
) -> Real:
    """Fill in  share length^power  in units of the largest length; return the sum."""
    k: Count
    total: Real = 0.0
    top: Real = _longest(lengths)
    if top == 0.0:
        return 0.0
    for k in range(lengths.shape[0]):
        learnt[k] = 0.0
        if shares[k] > 0.0:
            learnt[k] = shares[k] * _ratio_power(lengths[k] / top, power)
            total += learnt[k]
    return total


@kernel
def _raise_long_ones(
    lengths: ReadVector, longer: Real, least: Real, shares: Vector
) -> Real:
    """Give longer lengths at least this share; return the sum of the shares."""
    k: Count
    total: Real = 0.0
    for k in range(lengths.shape[0]):
        if lengths[k] > longer and shares[k] < least:
            shares[k] = least
        total += shares[k]
    return total


def learn_shares(
    lengths: ReadVector,
    shares: ReadVector,
    power: Real,
    next_power: Real,
    longer: Real,
    least: Real,
    learnt: Vector,
):
    """Fill in the shares learnt from these lengths; False if there is nothing to learn.

    ``next_power`` is that of the next mean.  Lengths that are ``longer`` than it by this
    factor have at least the share ``least`` / their number.
    """
    total: Real
    with cython.nogil:
        total = _fill_learnt(lengths, shares, power, learnt)
        if total > 0.0:
            _scale(learnt, 1.0 / total)
            longer *= _mean(lengths, learnt, next_power)
            least /= lengths.shape[0]
            _scale(learnt, 1.0 / _raise_long_ones(lengths, longer, least, learnt))
    return total > 0.0


def fill_distances(gram: ReadTable, distances: Table):
    """Fill in the distances of points from each other, from their Gram matrix."""
    i: Count
    j: Count
    square: Real
    with cython.nogil:
        for i in range(gram.shape[0]):
            distances[i, i] = 0.0
            for j in range(i):
                square = gram[i, i] + gram[j, j] - 2.0 * gram[i, j]
                distances[i, j] = sqrt(0.0 if square < 0.0 else square)
                distances[j, i] = distances[i, j]
