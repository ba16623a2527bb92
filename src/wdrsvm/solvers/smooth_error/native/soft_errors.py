r"""The smooth errors of rows at their scores; ``smooth_error.error`` has the formula."""

from __future__ import annotations

import cython
import numpy as np
from cython.cimports.libc.math import exp, fabs, log, log1p, tanh

from ...runtime.kernel_names import (
    Count,
    ReadCodes,
    ReadTable,
    ReadVector,
    Real,
    Table,
    Vector,
    inner,
    kernel,
)


@inner
def _softplus(x: Real) -> Real:
    return (x if x > 0 else 0.0) + log1p(exp(-fabs(x)))


@kernel
def _fill_shares(
    scores: Table,
    n: Count,
    label: Count,
    rates: ReadTable,
    flip: Real,
    sharp: Real,
    distance: Vector,
    share: Vector,
) -> Real:
    """Distances to all rivals, their shares of the soft minimum, and minus this minimum.

    The entry of the label is the price ``flip`` of another label.
    """
    j: Count
    total: Real = 0.0
    top: Real = -flip * sharp
    for j in range(scores.shape[1]):
        distance[j] = (scores[n, label] - scores[n, j]) / rates[label, j]
        share[j] = -(flip if j == label else distance[j]) * sharp
        top = share[j] if share[j] > top else top
    for j in range(scores.shape[1]):
        share[j] = exp(share[j] - top)
        total += share[j]
    for j in range(scores.shape[1]):
        share[j] /= total
    return top + log(total)


@kernel
def _fill_slopes(
    scores: Table,
    n: Count,
    label: Count,
    rates: ReadTable,
    force: Real,
    distance: Vector,
    share: Vector,
    by_rate: Table,
) -> None:
    """Replace the scores of row n by the slopes of its error, and add those by rates."""
    j: Count
    pull: Real
    own: Real = 0.0
    for j in range(scores.shape[1]):
        # Another label costs the same wherever the row is.
        pull = 0.0 if j == label else force * share[j] / rates[label, j]
        own += pull
        scores[n, j] = -pull
        by_rate[label, j] -= pull * distance[j]
    scores[n, label] = own


def soft_errors(
    scores: Table,
    y: ReadCodes,
    weight: ReadVector,
    flip_cost: ReadVector,
    rates: ReadTable,
    lam: Real,
    softness: Real,
    by_rate: Table,
):
    """The sum of the smooth errors.

    The scores (N, C) are replaced by its slopes, and its slopes by rates are added to
    ``by_rate`` (C, C).
    """
    n: Count
    low: Real
    high: Real
    force: Real
    value: Real = 0.0
    distance: Vector = np.empty(scores.shape[1])
    share: Vector = np.empty(scores.shape[1])
    with cython.nogil:
        for n in range(scores.shape[0]):
            low = _fill_shares(
                scores, n, y[n], rates, flip_cost[n], lam / softness, distance, share
            )
            high = low + 1.0 / softness
            value += weight[n] * softness * (_softplus(high) - _softplus(low))
            force = weight[n] * lam * 0.5 * (tanh(low / 2) - tanh(high / 2))
            _fill_slopes(scores, n, y[n], rates, force, distance, share, by_rate)
    return value
