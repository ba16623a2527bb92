r"""The smoothed largest loss of each sample over its labels, in single precision.

Formulas and names are those of ``columns``.  As in ``softmax_singles`` the row of a
sample's own label is left out of the sums.  The spans, and what follows from them for each
sample, stay in double precision.
"""

from __future__ import annotations

import cython
import numpy as np
from cython.cimports.libc.math import log

from ....runtime.kernel_names import (
    Count,
    Flag,
    ReadCodes,
    ReadSingleTable,
    ReadVector,
    Real,
    Single,
    SingleTable,
    SingleVector,
    Vector,
    kernel,
)
from ....runtime.powers import single_power
from ..softmax_singles import DEEPEST, NOTHING, find_single_tops
from .columns import rows_of_flips


@kernel
def _fill_single_exponents(
    z: SingleTable,
    prior: ReadSingleTable,
    y: ReadCodes,
    sharp: Single,
    exponents: SingleTable,
    top: SingleVector,
) -> None:
    """Fill in  prior - z sharp,  nothing for the own labels, and the largest ones."""
    j: Count
    n: Count
    for n in range(z.shape[1]):
        top[n] = NOTHING
    for j in range(z.shape[0]):
        for n in range(z.shape[1]):
            exponents[j, n] = prior[j, n] - z[j, n] * sharp
    for n in range(z.shape[1]):
        exponents[y[n], n] = NOTHING
    for j in range(z.shape[0]):
        for n in range(z.shape[1]):
            top[n] = exponents[j, n] if exponents[j, n] > top[n] else top[n]


@kernel
def _sum_low_powers(
    z: SingleTable,
    shares: SingleTable,
    top: SingleVector,
    total: SingleVector,
    mean: SingleVector,
) -> None:
    """Replace exponents by powers; sum these, and these times the scores."""
    j: Count
    n: Count
    gap: Single
    for n in range(z.shape[1]):
        total[n] = 0.0
        mean[n] = 0.0
    for j in range(z.shape[0]):
        for n in range(z.shape[1]):
            gap = shares[j, n] - top[n]
            gap = gap if gap > DEEPEST else DEEPEST
            gap = single_power(gap)
            shares[j, n] = gap
            total[n] += gap
            mean[n] += gap * z[j, n]


def find_single_spans(
    z: SingleTable,
    prior: ReadSingleTable,
    y: ReadCodes,
    mu: Real,
    shares: SingleTable,
    spans: Vector,
    means: Vector,
    scales: Vector,
):
    """``columns.find_spans`` in single precision."""
    n: Count
    sharp: Single = 1.0 / mu
    top: SingleVector = np.empty(z.shape[1], np.float32)
    total: SingleVector = np.empty(z.shape[1], np.float32)
    mean: SingleVector = np.empty(z.shape[1], np.float32)
    with cython.nogil:
        _fill_single_exponents(z, prior, y, sharp, shares, top)
        _sum_low_powers(z, shares, top, total, mean)
        for n in range(z.shape[1]):
            shares[y[n], n] = 0.0
            scales[n] = 1.0 / total[n]
            means[n] = mean[n] * scales[n]
            spans[n] = z[y[n], n] + mu * (log(total[n]) + top[n] - prior[y[n], n])


@kernel
def _sum_high_powers(
    z: SingleTable, top: SingleVector, others: SingleVector, sharp: Single
) -> None:
    """Replace scores by powers exp((z - top) sharp), and sum them."""
    j: Count
    n: Count
    gap: Single
    for n in range(z.shape[1]):
        others[n] = 0.0
    for j in range(z.shape[0]):
        for n in range(z.shape[1]):
            gap = (z[j, n] - top[n]) * sharp
            gap = gap if gap > DEEPEST else DEEPEST
            gap = single_power(gap)
            z[j, n] = gap
            others[n] += gap


@kernel
def _fill_flip_slopes(
    z: SingleTable,
    shares: SingleTable,
    factor: SingleVector,
    scale: SingleVector,
    weight: SingleVector,
) -> None:
    """Replace powers by the slopes w (p - Q), and the shares by Q."""
    j: Count
    n: Count
    for j in range(z.shape[0]):
        for n in range(z.shape[1]):
            shares[j, n] *= scale[n]
            z[j, n] = z[j, n] * factor[n] - weight[n] * shares[j, n]


@kernel
def _fill_flip_spreads(
    z: SingleTable,
    shares: SingleTable,
    total: SingleVector,
    scale: SingleVector,
    high: SingleVector,
    low: SingleVector,
) -> None:
    """Replace powers by the curvatures  p (1 - p) high + Q (1 - Q) low."""
    j: Count
    n: Count
    share: Single
    for j in range(z.shape[0]):
        for n in range(z.shape[1]):
            shares[j, n] *= scale[n]
            share = z[j, n] / total[n]
            z[j, n] = share * (1 - share) * high[n]
            z[j, n] += shares[j, n] * (1 - shares[j, n]) * low[n]


def soften_single_flips(
    z: SingleTable,
    shares: SingleTable,
    prior: ReadSingleTable,
    y: ReadCodes,
    weight: ReadVector,
    trust: ReadVector,
    temperature: Real,
    price: Real,
    mu: Real,
    spans: ReadVector,
    means: ReadVector,
    scales: ReadVector,
    spread: Flag,
):
    """``columns.soften_flips`` in single precision."""
    n: Count
    own: Real
    sharp: Single = 1.0 / temperature
    sums: Vector = np.zeros(4)
    flipped: Vector = np.empty(z.shape[1])
    rises: Vector = np.empty(z.shape[1])
    top: SingleVector = np.empty(z.shape[1], np.float32)
    others: SingleVector = np.empty(z.shape[1], np.float32)
    scale: SingleVector = np.empty(z.shape[1], np.float32)
    high: SingleVector = np.empty(z.shape[1], np.float32)
    low: SingleVector = np.empty(z.shape[1], np.float32)
    end: Vector = np.empty(z.shape[1])
    with cython.nogil:
        for n in range(z.shape[1]):
            end[n] = z[y[n], n]
            rises[n] = mu * prior[y[n], n]
        rows_of_flips(end, rises, weight, trust, price, mu, spans, means, flipped, sums)
        find_single_tops(z, top)
        for n in range(z.shape[1]):
            z[y[n], n] = NOTHING
        _sum_high_powers(z, top, others, sharp)
        for n in range(z.shape[1]):
            own = (end[n] - top[n]) / temperature
            end[n] = single_power(own if own > DEEPEST else DEEPEST)
            own = end[n] / (end[n] + others[n])
            sums[0] += weight[n] * (temperature * log(end[n] + others[n]) + top[n])
            scale[n] = flipped[n] * scales[n]
            high[n] = (
                weight[n] / temperature if spread else weight[n] / (end[n] + others[n])
            )
            low[n] = weight[n] / mu if spread else weight[n]
            # The own label's part, without the difference of two numbers close to 1.
            rises[n] = flipped[n] - others[n] / (end[n] + others[n])
            if spread:
                rises[n] = own * others[n] / (end[n] + others[n]) / temperature
                rises[n] += flipped[n] * (1.0 - flipped[n]) / mu
            others[n] += end[n]
        if spread:
            _fill_flip_spreads(z, shares, others, scale, high, low)
        else:
            _fill_flip_slopes(z, shares, high, scale, low)
        for n in range(z.shape[1]):
            z[y[n], n] = weight[n] * rises[n]
            shares[y[n], n] = 1.0 - flipped[n]
    return sums[0], sums[1], sums[2], sums[3]
