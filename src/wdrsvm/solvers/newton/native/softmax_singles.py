r"""A softmax for each column of a table of scores in single precision.

The row of a sample's own label is left out of the sums: beside a share close to 1 the
others would lose digits, and the slope of the own score is minus the sum of the others.
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
    Single,
    SingleTable,
    SingleVector,
    kernel,
)
from ...runtime.powers import single_power
from .column_powers import (
    NOTHING,
    fill_powers_and_moments,
    find_tops,
    not_too_low,
    scale_columns,
)


@kernel
def _take_own(
    z: SingleTable,
    y: ReadCodes,
    top: SingleVector,
    own: SingleVector,
    moments: SingleTable,
    sharp: Single,
) -> None:
    """Take the own scores out of the table, and begin the moments with them."""
    n: Count
    gap: Single
    for n in range(z.shape[1]):
        gap = not_too_low((z[y[n], n] - top[n]) * sharp)
        own[n] = single_power(gap)
        moments[0, n], moments[1, n] = own[n] * gap, own[n] * gap * gap
        z[y[n], n] = NOTHING


@kernel
def _fill_single_spreads(z: SingleTable, total: SingleVector, scale: SingleVector) -> None:
    """Replace powers by shares p of their total, and these by p (1 - p) scale."""
    j: Count
    n: Count
    share: Single
    for j in range(z.shape[0]):
        for n in range(z.shape[1]):
            share = z[j, n] / total[n]
            z[j, n] = share * (1 - share) * scale[n]


def soften_singles(
    z: SingleTable,
    y: ReadCodes,
    weight: ReadVector,
    temperature: Real,
    margin: Real,
    spread: Flag,
):
    """``softmax_columns.soften_columns`` in single precision."""
    n: Count
    mean: Real
    total: Real
    loss: Real = 0.0
    bend: Real = 0.0
    sharp: Single = 1.0 / temperature
    top: SingleVector = np.empty(z.shape[1], np.float32)
    own: SingleVector = np.empty(z.shape[1], np.float32)
    others: SingleVector = np.empty(z.shape[1], np.float32)
    factor: SingleVector = np.empty(z.shape[1], np.float32)
    moments: SingleTable = np.empty((2, z.shape[1]), np.float32)
    with cython.nogil:
        for n in range(z.shape[1]):
            z[y[n], n] -= margin
            loss -= weight[n] * z[y[n], n]
        find_tops(z, top)
        _take_own(z, y, top, own, moments, sharp)
        fill_powers_and_moments(z, top, others, moments, sharp)
        for n in range(z.shape[1]):
            total = own[n] + others[n]
            mean = moments[0, n] / total
            bend += weight[n] * temperature * (moments[1, n] / total - mean * mean)
            loss += weight[n] * (temperature * log(total) + top[n])
            factor[n] = weight[n] * sharp if spread else weight[n] / total
            own[n] = own[n] / total * sharp if spread else -1.0
            own[n] *= weight[n] * others[n] / total
            others[n] = total
        if spread:
            _fill_single_spreads(z, others, factor)
        else:
            scale_columns(z, factor)
        for n in range(z.shape[1]):
            z[y[n], n] = own[n]
    return loss, bend
