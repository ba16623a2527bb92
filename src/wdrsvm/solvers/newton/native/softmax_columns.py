r"""A softmax for each column of a table of scores, one class after the other.

The table has a row for each class and a column for each sample.  Every loop runs along a
row, so that the C compiler makes vectors of it: no sum goes across a vector.  For that the
exponential is written out: with k = round(-x / log 2),

    exp(x) = exp(x + k log 2) / 2^k,

the first factor by its Taylor series, the second from a table.
"""

from __future__ import annotations

import cython
import numpy as np
from cython.cimports.libc.math import log

from ...runtime.kernel_names import (
    Count,
    Flag,
    ReadCodes,
    ReadVector,
    Real,
    Small,
    Table,
    Vector,
    inner,
    kernel,
)

LOWEST = cython.declare(Real, -700.0)
INVERSE_LOG2 = cython.declare(Real, 1.4426950408889634)
# log 2 in two parts, whose products with small integers are exact.
LOG2_HIGH = cython.declare(Real, 0.693147180369123816490)
LOG2_LOW = cython.declare(Real, 1.90821492927058770002e-10)
HALVES = 0.5 ** np.arange(1012)


@inner
def _series(r: Real) -> Real:
    """exp(r) for |r| <= log(2) / 2, up to rounding."""
    high: Real = 1.0 / 39916800.0 + r / 479001600.0
    high = 1.0 / 362880.0 + r * (1.0 / 3628800.0 + r * high)
    high = 1.0 / 5040.0 + r * (1.0 / 40320.0 + r * high)
    high = 1.0 / 120.0 + r * (1.0 / 720.0 + r * high)
    high = 1.0 / 6.0 + r * (1.0 / 24.0 + r * high)
    return 1.0 + r * (1.0 + r * (0.5 + r * high))


@inner
def _falling_power(x: Real, halves: ReadVector) -> Real:
    """exp(x) for x <= 0; below the lowest x it counts as exp(LOWEST)."""
    k: Small
    x = x if x > LOWEST else LOWEST
    k = cython.cast(cython.int, 0.5 - x * INVERSE_LOG2)
    return _series((x + k * LOG2_HIGH) + k * LOG2_LOW) * halves[k]


@kernel
def _find_tops(z: Table, top: Vector) -> None:
    j: Count
    n: Count
    for n in range(z.shape[1]):
        top[n] = z[0, n]
    for j in range(1, z.shape[0]):
        for n in range(z.shape[1]):
            top[n] = z[j, n] if z[j, n] > top[n] else top[n]


@kernel
def _fill_shares(z: Table, top: Vector, total: Vector, sharp: Real, halves: ReadVector) -> None:
    """Replace scores by powers exp((z - top) sharp), and sum them."""
    j: Count
    n: Count
    for n in range(z.shape[1]):
        total[n] = 0.0
    for j in range(z.shape[0]):
        for n in range(z.shape[1]):
            z[j, n] = _falling_power((z[j, n] - top[n]) * sharp, halves)
            total[n] += z[j, n]


@kernel
def _scale_columns(z: Table, factor: Vector) -> None:
    j: Count
    n: Count
    for j in range(z.shape[0]):
        for n in range(z.shape[1]):
            z[j, n] *= factor[n]


@kernel
def _spread_columns(z: Table, weight: ReadVector, sharp: Real) -> None:
    """Replace shares p by w p (1 - p) sharp, the curvature of each score alone."""
    j: Count
    n: Count
    for j in range(z.shape[0]):
        for n in range(z.shape[1]):
            z[j, n] *= (1.0 - z[j, n]) * weight[n] * sharp


def soften_columns(
    z: Table,
    y: ReadCodes,
    weight: ReadVector,
    halves: ReadVector,
    temperature: Real,
    margin: Real,
    spread: Flag,
):
    """Replace the scores z (C, n) by the slopes w (p - e_y) of the loss; return its sum.

    If ``spread``, by the curvature w p (1 - p) / temperature of each score alone.
    """
    n: Count
    loss: Real = 0.0
    top: Vector = np.empty(z.shape[1])
    total: Vector = np.empty(z.shape[1])
    own: Vector = np.empty(z.shape[1])
    with cython.nogil:
        for n in range(z.shape[1]):
            own[n] = z[y[n], n]
            z[y[n], n] -= margin
        _find_tops(z, top)
        _fill_shares(z, top, total, 1.0 / temperature, halves)
        for n in range(z.shape[1]):
            loss += weight[n] * (temperature * log(total[n]) + margin + top[n] - own[n])
            total[n] = (1.0 if spread else weight[n]) / total[n]
        _scale_columns(z, total)
        if spread:
            _spread_columns(z, weight, 1.0 / temperature)
        else:
            for n in range(z.shape[1]):
                z[y[n], n] -= weight[n]
    return loss
