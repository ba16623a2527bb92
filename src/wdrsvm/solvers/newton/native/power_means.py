r"""Power means of lengths, and the shares of the lengths in them.

For lengths d_k and shares whose sum is 1, the mean is

    (sum_k share_k d_k^power)^(1 / power).

Ratios to the largest length take the place of the lengths, so that no power overflows.
"""

from __future__ import annotations

import cython
from cython.cimports.libc.math import pow, sqrt

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
from ...runtime.powers import log2_of, power_of_two

# Shorter lengths count as this share of the longest one.  Variables, as the next one: of
# numbers the C compiler would make branches, and no vectors.
LEAST_RATIO = cython.declare(Real, 1e-30)
# 2 to this power, or a smaller one, is 0.
LEAST_EXPONENT = cython.declare(Real, -1023.0)


@inner
def _ratio_power(ratio: Real, power: Real, least: Real, lowest: Real) -> Real:
    """ratio^power for ratios from ``least`` to 1."""
    ratio = least if ratio < least else ratio
    exponent: Real = power * log2_of(ratio)
    return power_of_two(lowest if exponent < lowest else exponent)


@kernel
def _longest(lengths: ReadVector) -> Real:
    """The largest length; no number if one of them is none.

    Loops that are vectors take smaller and larger numbers, and lose what is none.
    """
    k: Count
    top: Real = 0.0
    total: Real = 0.0
    for k in range(lengths.shape[0]):
        top = lengths[k] if lengths[k] > top else top
    for k in range(lengths.shape[0]):
        total += lengths[k]
    return top if total == total else total


@kernel
def _mean(lengths: ReadVector, shares: ReadVector, power: Real) -> Real:
    k: Count
    total: Real = 0.0
    top: Real = _longest(lengths)
    least: Real = LEAST_RATIO
    lowest: Real = LEAST_EXPONENT
    if not top > 0.0:
        return top
    for k in range(lengths.shape[0]):
        total += shares[k] * _ratio_power(lengths[k] / top, power, least, lowest)
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
    top: Real = 1.0 if longest == 0.0 else longest
    least: Real = LEAST_RATIO
    lowest: Real = LEAST_EXPONENT
    for k in range(lengths.shape[0]):
        ratio = lengths[k] / top
        slopes[k] = shares[k] * _ratio_power(ratio, power - 2.0, least, lowest)
        total += slopes[k] * ratio * ratio
    if not (longest > 0.0 and total > 0.0):
        _scale(slopes, 0.0 * longest)
        return 0.0 * longest
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
    least: Real = LEAST_RATIO
    lowest: Real = LEAST_EXPONENT
    if not top > 0.0:
        return top
    for k in range(lengths.shape[0]):
        learnt[k] = shares[k] * _ratio_power(lengths[k] / top, power, least, lowest)
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
