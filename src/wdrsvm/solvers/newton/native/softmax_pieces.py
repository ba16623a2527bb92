r"""The smoothed maximum over pieces, for one sample of a hinge loss.

The maximum over a sample's pieces becomes mu logsumexp(. / mu).  The flips factorise,

    sum over (j, c) of exp((1 + z_j - z_c - lam k_c) / mu)
        = (sum_j exp(z_j / mu)) (sum_c exp((1 - z_c - lam k_c) / mu)),

so that a sample costs O(C).  The softmax weights times w_n are dual multipliers alpha, phi
and beta.  Divided by mu they are springs, and the curvature has the form of ``springs``
with the series stiffness A F / (A + F).
"""

from __future__ import annotations

import cython
import numpy as np
from cython.cimports.libc.math import exp, log

from ...runtime.kernel_names import (
    Count,
    Cube,
    ReadCodes,
    ReadTable,
    Real,
    Table,
    Vector,
    inner,
    kernel,
)
from .scored_rows import ScoredRows
from .springs import fill_curvature

# exp of a smaller number does not change 1 in floating point.
NEGLIGIBLE = cython.declare(Real, -40.0)


@cython.cclass
class RowPowers:
    """The largest piece of a sample, and sums of powers relative to it."""

    peak: Real
    on_label: Real
    on_flips: Real
    winners: Real


@inner
def _power(exponent: Real) -> Real:
    """exp of a number <= 0; most are 0 or far below."""
    if exponent == 0:
        return 1.0
    return exp(exponent) if exponent > NEGLIGIBLE else 0.0


@inner
def _largest_score(scores: ReadTable, n: Count) -> Real:
    j: Count
    top: Real = scores[n, 0]
    for j in range(1, scores.shape[1]):
        if scores[n, j] > top:
            top = scores[n, j]
    return top


@inner
def _largest_piece(
    scores: ReadTable,
    n: Count,
    label: Count,
    cost: ReadTable,
    row: Count,
    lam: Real,
    top: Real,
) -> Real:
    j: Count
    peak: Real = 0.0
    piece: Real
    own: Real = scores[n, label]
    for j in range(scores.shape[1]):
        if j != label:
            piece = 1.0 + scores[n, j] - own
            if piece > peak:
                peak = piece
            # An impossible flip costs inf, and its piece is -inf.
            piece = 1.0 + top - scores[n, j] - lam * cost[row, j]
            if piece > peak:
                peak = piece
    return peak


@inner
def _powers_of_row(
    scores: ReadTable,
    n: Count,
    label: Count,
    cost: ReadTable,
    row: Count,
    lam: Real,
    mu: Real,
    powers: Table,
    of_row: RowPowers,
) -> None:
    """Fill alpha, phi, beta (3, C) of one sample, relative to the largest piece.

    beta is filled where there are flips.  Arrays are arguments of their own, because the
    compiler would read their addresses from a record again after each call of exp.
    """
    j: Count
    top: Real = _largest_score(scores, n)
    peak: Real = _largest_piece(scores, n, label, cost, row, lam, top)
    sharpness: Real = 1.0 / mu
    own: Real = scores[n, label]
    on_label: Real = 0.0
    on_flips: Real = 0.0
    winners: Real = 0.0
    for j in range(scores.shape[1]):
        powers[0, j] = _power(
            ((1.0 if j != label else 0.0) + scores[n, j] - own - peak) * sharpness
        )
        on_label += powers[0, j]
        powers[1, j] = 0.0
        if j != label:
            powers[1, j] = _power(
                (1.0 + top - scores[n, j] - lam * cost[row, j] - peak) * sharpness
            )
            on_flips += powers[1, j]
    if on_flips > 0:
        for j in range(scores.shape[1]):
            powers[2, j] = _power((scores[n, j] - top) * sharpness)
            winners += powers[2, j]
    of_row.peak = peak
    of_row.on_label = on_label
    of_row.on_flips = on_flips
    of_row.winners = winners


@inner
def _softmax_of_row(
    rows: ScoredRows, n: Count, mu: Real, shares: Table, of_row: RowPowers
) -> None:
    """Fill the multipliers alpha, phi, beta (3, C) of one sample."""
    j: Count
    share: Real
    for j in range(shares.shape[1]):
        shares[2, j] = 0.0
    _powers_of_row(
        rows.scores, n, rows.y[n], rows.cost, rows.cost_row[n],
        rows.lam, mu, shares, of_row,
    )  # fmt: skip
    share = rows.weight[n] / (of_row.on_label + of_row.on_flips * of_row.winners)
    for j in range(shares.shape[1]):
        shares[0, j] *= share
        shares[1, j] *= share * of_row.winners
        shares[2, j] *= share * of_row.on_flips


@kernel
def _soften_row(
    rows: ScoredRows,
    n: Count,
    mu: Real,
    of_row: RowPowers,
    powers: Table,
    slopes: Table,
    softness: Vector,
    sums: Vector,
) -> None:
    """Add loss, dual value and flip cost of one sample; fill its slopes and softness."""
    j: Count
    label: Count = rows.y[n]
    weight: Real = rows.weight[n]
    total: Real = of_row.on_label + of_row.on_flips * of_row.winners
    share: Real = weight / total
    hardest: Real = 0.0
    flipped: Real
    sums[0] += weight * (of_row.peak + mu * log(total))
    sums[1] += weight - share * powers[0, label]
    for j in range(slopes.shape[1]):
        slopes[n, j] = share * powers[0, j]
        if powers[0, j] > hardest:
            hardest = powers[0, j]
        if powers[1, j] > hardest:
            hardest = powers[1, j]
    slopes[n, label] -= share * of_row.on_label
    if of_row.on_flips > 0:
        for j in range(slopes.shape[1]):
            flipped = of_row.winners * powers[1, j]
            slopes[n, j] += share * (of_row.on_flips * powers[2, j] - flipped)
            if powers[1, j] > 0:
                sums[2] += share * flipped * rows.cost[rows.cost_row[n], j]
    softness[n] = 1.0 - hardest / total


def soften(rows: ScoredRows, mu: Real):
    """Loss, dual value, flip cost, slopes g (n, C) and softness (n,) of some rows.

    The softness is 1 - (largest multiplier share); rows of softness 0 have no curvature.
    Most rows have no flips, and skip the work for them.
    """
    n: Count
    # As local names, so that the compiler keeps their addresses in registers.
    scores: ReadTable = rows.scores
    y: ReadCodes = rows.y
    cost: ReadTable = rows.cost
    cost_row: ReadCodes = rows.cost_row
    lam: Real = rows.lam
    slopes: Table = np.empty((scores.shape[0], scores.shape[1]))
    softness: Vector = np.empty(scores.shape[0])
    sums: Vector = np.zeros(3)
    powers: Table = np.empty((3, scores.shape[1]))
    of_row: RowPowers = RowPowers()
    with cython.nogil:
        for n in range(scores.shape[0]):
            _powers_of_row(scores, n, y[n], cost, cost_row[n], lam, mu, powers, of_row)
            _soften_row(rows, n, mu, of_row, powers, slopes, softness, sums)
    return sums[0], sums[1], sums[2], np.asarray(slopes), np.asarray(softness)


@kernel
def _springs_of_row(mu: Real, shares: Table, spring: Table, sums: Vector) -> Real:
    """Springs (a, b, f) and their sums from multipliers; returns the series stiffness."""
    i: Count
    j: Count
    for i in range(3):
        sums[i] = 0.0
    for j in range(shares.shape[1]):
        spring[0, j] = shares[0, j] / mu
        spring[1, j] = shares[2, j] / mu
        spring[2, j] = shares[1, j] / mu
        for i in range(3):
            sums[i] += spring[i, j]
    return sums[0] * sums[2] / (sums[0] + sums[2]) if sums[2] > 0 else 0.0


def soft_curvature(rows: ScoredRows, mu: Real):
    """Curvature (n, C+1, C+1) of the smoothed losses in (z, lam)."""
    n: Count
    series: Real
    size: Count = rows.scores.shape[1] + 1
    curvature: Cube = np.empty((rows.scores.shape[0], size, size))
    shares: Table = np.empty((3, size - 1))
    spring: Table = np.empty((3, size - 1))
    sums: Vector = np.empty(3)
    scratch: Table = np.empty((2, max(size, 3)))
    of_row: RowPowers = RowPowers()
    with cython.nogil:
        for n in range(rows.scores.shape[0]):
            _softmax_of_row(rows, n, mu, shares, of_row)
            series = _springs_of_row(mu, shares, spring, sums)
            fill_curvature(
                curvature, n, spring, sums,
                rows.cost, rows.cost_row[n], rows.y[n], series, scratch,
            )  # fmt: skip
    return np.asarray(curvature)


def soft_multipliers(rows: ScoredRows, mu: Real):
    """alpha, phi, beta (n, C) of some rows."""
    n: Count
    i: Count
    j: Count
    multipliers: Cube = np.empty((3, rows.scores.shape[0], rows.scores.shape[1]))
    shares: Table = np.empty((3, rows.scores.shape[1]))
    of_row: RowPowers = RowPowers()
    with cython.nogil:
        for n in range(rows.scores.shape[0]):
            _softmax_of_row(rows, n, mu, shares, of_row)
            for i in range(3):
                for j in range(shares.shape[1]):
                    multipliers[i, n, j] = shares[i, j]
    alpha, phi, beta = np.asarray(multipliers)
    return alpha, phi, beta
