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
from ..column_powers import NOTHING, falling_power, fill_powers, find_tops
from .columns import rows_of_flips


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
    gap: Single
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
        find_tops(z, top)
        for n in range(z.shape[1]):
            z[y[n], n] = NOTHING
        fill_powers(z, top, others, sharp)
        for n in range(z.shape[1]):
            gap = (end[n] - top[n]) / temperature
            end[n] = falling_power(gap)
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
