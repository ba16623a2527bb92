r"""Smoothed samples: compiled per-sample algebra of the smoothing Newton method.

The maximum over a sample's pieces becomes mu logsumexp(. / mu).  The flips factorise,

    sum over (j, c) of exp((1 + z_j - z_c - lam k_c) / mu)
        = (sum_j exp(z_j / mu)) (sum_c exp((1 - z_c - lam k_c) / mu)),

so a sample costs O(C).  Its softmax weights times w_n are dual multipliers alpha, phi,
beta; divided by mu they are springs, and the curvature has the form of ``sample_rows``
with the series stiffness A F / (A + F).
"""

from __future__ import annotations

import numpy as np

from ..cones.sample_rows import compiled, fill_curvature, inlined

# exp below this is nothing beside 1.
NEGLIGIBLE = -40.0


@inlined
def _power(exponent):  # type: ignore[no-untyped-def]
    """exp of a number <= 0; most are 0 or far below."""
    if exponent == 0:
        return 1.0
    return np.exp(exponent) if exponent > NEGLIGIBLE else 0.0


@inlined
def _largest_score(z):  # type: ignore[no-untyped-def]
    top = z[0]
    for j in range(1, len(z)):
        top = max(top, z[j])
    return top


@inlined
def _largest_piece(z, label, cost, lam, top):  # type: ignore[no-untyped-def]
    peak = 0.0
    for j in range(len(z)):
        if j != label:
            peak = max(peak, 1.0 + z[j] - z[label])
            # An impossible flip costs inf, and its piece is -inf.
            peak = max(peak, 1.0 + top - z[j] - lam * cost[j])
    return peak


@inlined
def _powers_of_row(z, label, cost, lam, mu, alpha, phi, beta):  # type: ignore[no-untyped-def]
    """Fill alpha, phi, beta (C,) of one sample, relative to the largest piece.

    Returns that piece and the three sums; beta is filled where there are flips.
    """
    top = _largest_score(z)
    peak = _largest_piece(z, label, cost, lam, top)
    sharpness = 1.0 / mu
    on_label, on_flips, winners = 0.0, 0.0, 0.0
    for j in range(len(z)):
        alpha[j] = _power(((j != label) + z[j] - z[label] - peak) * sharpness)
        on_label += alpha[j]
        phi[j] = 0.0
        if j != label:
            phi[j] = _power((1.0 + top - z[j] - lam * cost[j] - peak) * sharpness)
            on_flips += phi[j]
    if on_flips > 0:
        for j in range(len(z)):
            beta[j] = _power((z[j] - top) * sharpness)
            winners += beta[j]
    return peak, on_label, on_flips, winners


@compiled
def _softmax_of_row(z, label, cost, weight, lam, mu, alpha, phi, beta):  # type: ignore[no-untyped-def]
    """Fill the multipliers alpha, phi, beta (C,) of one sample."""
    beta[:] = 0.0
    _, on_label, on_flips, winners = _powers_of_row(
        z, label, cost, lam, mu, alpha, phi, beta
    )  # fmt: skip
    share = weight / (on_label + on_flips * winners)
    for j in range(len(z)):
        alpha[j] *= share
        beta[j] *= share * on_flips
        phi[j] *= share * winners


@compiled
def soften(scores, y, cost, cost_row, weight, lam, mu):  # type: ignore[no-untyped-def]
    """Loss, dual value, flip cost, slopes g (n, C) and softness (n,) of some rows.

    Softness, 1 - (largest multiplier share), tells which rows have curvature.  Few rows
    have flips, so that the others skip what belongs to them.
    """
    n_rows, n_classes = scores.shape
    slopes = np.empty((n_rows, n_classes))
    softness = np.empty(n_rows)
    alpha, phi, beta = np.empty(n_classes), np.empty(n_classes), np.empty(n_classes)
    loss, dual, spent = 0.0, 0.0, 0.0
    for n in range(n_rows):
        label, k = y[n], cost[cost_row[n]]
        peak, on_label, on_flips, winners = _powers_of_row(
            scores[n], label, k, lam, mu, alpha, phi, beta
        )  # fmt: skip
        total = on_label + on_flips * winners
        share, hardest = weight[n] / total, 0.0
        loss += weight[n] * (peak + mu * np.log(total))
        dual += weight[n] - share * alpha[label]
        for j in range(n_classes):
            slopes[n, j] = share * alpha[j]
            hardest = max(hardest, alpha[j], phi[j])
        slopes[n, label] -= share * on_label
        if on_flips > 0:
            for j in range(n_classes):
                slopes[n, j] += share * (on_flips * beta[j] - winners * phi[j])
                if phi[j] > 0:
                    spent += share * winners * phi[j] * k[j]
        softness[n] = 1.0 - hardest / total
    return loss, dual, spent, slopes, softness


@compiled
def piece_margins(scores, y, cost, cost_row, weight, lam):  # type: ignore[no-untyped-def]
    """By how much each sample's largest piece exceeds its second largest, shape (n,)."""
    n_rows, n_classes = scores.shape
    margins = np.empty(n_rows)
    for n in range(n_rows):
        z, label, k = scores[n], y[n], cost[cost_row[n]]
        top = z.max()
        winner = z.argmax()
        runner_up = -np.inf
        for j in range(n_classes):
            if j != winner:
                runner_up = max(runner_up, z[j])
        first, second = 0.0, -np.inf
        for j in range(n_classes):
            if j != label:
                first, second = _ranked(first, second, 1.0 + z[j] - z[label])
                flip = 1.0 + top - z[j] - lam * k[j] if k[j] < np.inf else -np.inf
                first, second = _ranked(first, second, flip)
                first, second = _ranked(first, second, flip + runner_up - top)
        margins[n] = first - second
    return margins


@compiled
def _ranked(first, second, value):  # type: ignore[no-untyped-def]
    """The two largest of three values, the first two being in order."""
    if value > first:
        return value, first
    return first, max(second, value)


@compiled
def soft_curvature(scores, y, cost, cost_row, weight, lam, mu):  # type: ignore[no-untyped-def]
    """Curvature (n, C+1, C+1) of the smoothed losses in (z, lam)."""
    n_rows, n_classes = scores.shape
    curvature = np.empty((n_rows, n_classes + 1, n_classes + 1))
    spring = np.empty((3, n_classes))
    sums = np.empty(3)
    scratch = np.empty((2, max(n_classes + 1, 3)))
    for n in range(n_rows):
        k = cost[cost_row[n]]
        _softmax_of_row(
            scores[n], y[n], k, weight[n], lam, mu, spring[0], spring[2], spring[1]
        )  # fmt: skip
        spring /= mu
        for i in range(3):
            sums[i] = spring[i].sum()
        series = sums[0] * sums[2] / (sums[0] + sums[2]) if sums[2] > 0 else 0.0
        fill_curvature(curvature[n], spring, sums, k, y[n], series, scratch)
    return curvature


@compiled
def soft_multipliers(scores, y, cost, cost_row, weight, lam, mu):  # type: ignore[no-untyped-def]
    """alpha, phi, beta (n, C) of some rows."""
    alpha, phi, beta = (
        np.empty_like(scores),
        np.empty_like(scores),
        np.empty_like(scores),
    )
    for n in range(len(scores)):
        _softmax_of_row(
            scores[n], y[n], cost[cost_row[n]], weight[n], lam, mu,
            alpha[n], phi[n], beta[n],
        )  # fmt: skip
    return alpha, phi, beta
