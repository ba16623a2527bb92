r"""A softmax for each column of a table of scores, one class after the other.

The table has a row for each class and a column for each sample.  Every loop runs along a
row, so that the C compiler makes vectors of it: no sum goes across a vector.  For that the
exponential is written out:

    exp(x) = exp(x / 256)^256,

the inner one by its Taylor series, the power by squaring eight times.  That loses two
digits of sixteen, which steps do not miss; no certificate is made of them.
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
    Table,
    Vector,
    inner,
    kernel,
)

# Below, a power is nothing beside 1 in floating point.
LOWEST = cython.declare(Real, -60.0)


@inner
def falling_power(x: Real) -> Real:
    """exp(x) for x <= 0; below the lowest x it counts as exp(LOWEST)."""
    r: Real = (x if x > LOWEST else LOWEST) * (1.0 / 256.0)
    high: Real = 1.0 / 5040.0 + r * (1.0 / 40320.0 + r * (1.0 / 362880.0))
    high = 1.0 / 24.0 + r * (1.0 / 120.0 + r * (1.0 / 720.0 + r * high))
    high = 1.0 + r * (1.0 + r * (0.5 + r * (1.0 / 6.0 + r * high)))
    high *= high
    high *= high
    high *= high
    high *= high
    high *= high
    high *= high
    high *= high
    return high * high


@kernel
def find_tops(z: Table, top: Vector) -> None:
    j: Count
    n: Count
    for n in range(z.shape[1]):
        top[n] = z[0, n]
    for j in range(1, z.shape[0]):
        for n in range(z.shape[1]):
            top[n] = z[j, n] if z[j, n] > top[n] else top[n]


@kernel
def fill_shares(z: Table, top: Vector, total: Vector, sharp: Real) -> None:
    """Replace scores by powers exp((z - top) sharp), and sum them."""
    j: Count
    n: Count
    for n in range(z.shape[1]):
        total[n] = 0.0
    for j in range(z.shape[0]):
        for n in range(z.shape[1]):
            z[j, n] = falling_power((z[j, n] - top[n]) * sharp)
            total[n] += z[j, n]


@kernel
def _fill_shares_and_moments(
    z: Table, top: Vector, total: Vector, first: Vector, second: Vector, sharp: Real
) -> None:
    """The same, with sums of the powers times their exponents, and times the squares."""
    j: Count
    n: Count
    gap: Real
    for n in range(z.shape[1]):
        total[n], first[n], second[n] = 0.0, 0.0, 0.0
    for j in range(z.shape[0]):
        for n in range(z.shape[1]):
            gap = (z[j, n] - top[n]) * sharp
            z[j, n] = falling_power(gap)
            total[n] += z[j, n]
            first[n] += z[j, n] * gap
            second[n] += z[j, n] * gap * gap


@kernel
def scale_columns(z: Table, factor: Vector) -> None:
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
    temperature: Real,
    margin: Real,
    spread: Flag,
):
    """Replace the scores z (C, n) by the slopes w (p - e_y) of the loss.

    If ``spread``, by the curvature w p (1 - p) / temperature of each score alone.  Return
    the sum of the losses, and how they bend when all scores grow in proportion.
    """
    n: Count
    mean: Real
    loss: Real = 0.0
    bend: Real = 0.0
    top: Vector = np.empty(z.shape[1])
    total: Vector = np.empty(z.shape[1])
    first: Vector = np.empty(z.shape[1])
    second: Vector = np.empty(z.shape[1])
    own: Vector = np.empty(z.shape[1])
    with cython.nogil:
        for n in range(z.shape[1]):
            own[n] = z[y[n], n]
            z[y[n], n] -= margin
        find_tops(z, top)
        _fill_shares_and_moments(z, top, total, first, second, 1.0 / temperature)
        for n in range(z.shape[1]):
            mean = first[n] / total[n]
            bend += weight[n] * temperature * (second[n] / total[n] - mean * mean)
            loss += weight[n] * (temperature * log(total[n]) + margin + top[n] - own[n])
            total[n] = (1.0 if spread else weight[n]) / total[n]
        scale_columns(z, total)
        if spread:
            _spread_columns(z, weight, 1.0 / temperature)
        else:
            for n in range(z.shape[1]):
                z[y[n], n] -= weight[n]
    return loss, bend
