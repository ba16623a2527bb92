"""A softmax for each column of a table of scores: see ``column_powers``."""

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
    kernel,
)
from .column_powers import fill_powers_and_moments, find_tops, scale_columns


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
    own: Vector = np.empty(z.shape[1])
    moments: Table = np.zeros((2, z.shape[1]))
    with cython.nogil:
        for n in range(z.shape[1]):
            own[n] = z[y[n], n]
            z[y[n], n] -= margin
        find_tops(z, top)
        fill_powers_and_moments(z, top, total, moments, 1.0 / temperature)
        for n in range(z.shape[1]):
            mean = moments[0, n] / total[n]
            bend += weight[n] * temperature * (moments[1, n] / total[n] - mean * mean)
            loss += weight[n] * (temperature * log(total[n]) + margin + top[n] - own[n])
            total[n] = (1.0 if spread else weight[n]) / total[n]
        scale_columns(z, total)
        if spread:
            _spread_columns(z, weight, 1.0 / temperature)
        else:
            for n in range(z.shape[1]):
                z[y[n], n] -= weight[n]
    return loss, bend
