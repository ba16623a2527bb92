r"""The smooth errors of rows at their scores; ``smooth_error.error`` has the formula."""

from __future__ import annotations

import cython
from cython.cimports.libc.math import exp, fabs, log

from ...runtime.kernel_names import Count, Real, Table, Vector, inner, kernel
from .error_rows import ErrorRows

NO_LIMIT = cython.declare(Real, float("inf"))


@kernel
def _fill_shares(
    scores: Table,
    n: Count,
    label: Count,
    rates: Table,
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
    top: Real = -NO_LIMIT
    for j in range(scores.shape[1]):
        distance[j] = (scores[n, label] - scores[n, j]) / rates[label, j]
        share[j] = -(flip if j == label else distance[j]) * sharp
        top = share[j] if share[j] > top else top
    for j in range(scores.shape[1]):
        share[j] = 1.0 if share[j] == top else exp(share[j] - top)
        total += share[j]
    for j in range(scores.shape[1]):
        share[j] /= total
    return top if total == 1.0 else top + log(total)


@kernel
def _fill_slopes(
    scores: Table,
    n: Count,
    label: Count,
    rates: Table,
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


@inner
def _sigmoid(x: Real, decay: Real) -> Real:
    """1 / (1 + exp(-x)); ``decay`` is exp(-|x|)."""
    return (1.0 if x > 0 else decay) / (1.0 + decay)


@kernel
def fill_soft_errors(
    rows: ErrorRows,
    scores: Table,
    rates: Table,
    lam: Real,
    softness: Real,
    by_rate: Table,
    distance: Vector,
    share: Vector,
) -> Real:
    """The sum of the smooth errors.

    The scores (N, C) are replaced by its slopes, and its slopes by rates are added to
    ``by_rate`` (C, C).  ``distance`` and ``share`` (C,) are working memory.
    """
    n: Count
    low: Real
    high: Real
    low_decay: Real
    high_decay: Real
    rise: Real
    force: Real
    value: Real = 0.0
    for n in range(scores.shape[0]):
        low = _fill_shares(
            scores, n, rows.y[n], rates, rows.flip_cost[n], lam / softness, distance, share
        )
        high = low + 1.0 / softness
        low_decay = exp(-fabs(low))
        high_decay = exp(-fabs(high))
        # softplus(high) - softplus(low) with one logarithm.
        rise = (high if high > 0 else 0.0) - (low if low > 0 else 0.0)
        rise += log((1.0 + high_decay) / (1.0 + low_decay))
        value += rows.weight[n] * softness * rise
        force = _sigmoid(low, low_decay) - _sigmoid(high, high_decay)
        force *= rows.weight[n] * lam
        _fill_slopes(scores, n, rows.y[n], rates, force, distance, share, by_rate)
    return value
