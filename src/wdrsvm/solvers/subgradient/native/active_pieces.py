"""The samples' active pieces, compiled: see ``subgradient.active_pieces``."""

from __future__ import annotations

import cython
import numpy as np

from ...runtime.kernel_names import (
    Codes,
    CodesTable,
    Count,
    Cube,
    ReadCodes,
    ReadTable,
    ReadVector,
    Real,
    Table,
    inner,
    kernel,
)

NEVER = cython.declare(Real, float("inf"))


@inner
def _loss_of(z: ReadTable, n: Count, label: Count, first: Count, second: Count) -> Real:
    """l(z_n, label), from the two highest scores."""
    loss: Real = 1.0 + z[n, second if label == first else first] - z[n, label]
    return loss if loss > 0 else 0.0


@kernel
def _rank_scores(z: ReadTable, n: Count, ranks: Codes) -> None:
    """The classes of the two highest scores."""
    j: Count
    first: Count = 1 if z[n, 1] > z[n, 0] else 0
    second: Count = 1 - first
    for j in range(2, z.shape[1]):
        if z[n, j] > z[n, first]:
            second = first
            first = j
        elif z[n, j] > z[n, second]:
            second = j
    ranks[0] = first
    ranks[1] = second


@kernel
def _worst_label(
    z: ReadTable, n: Count, y: Count, cost: ReadTable, k: Count, lam: Real, ranks: Codes
) -> Count:
    """The label whose piece is largest."""
    c: Count
    piece: Real
    label: Count = y
    best: Real = _loss_of(z, n, y, ranks[0], ranks[1])
    for c in range(z.shape[1]):
        if c != y and cost[k, c] < NEVER:
            piece = _loss_of(z, n, c, ranks[0], ranks[1]) - lam * cost[k, c]
            if piece > best:
                best = piece
                label = c
    return label


def active_pieces(
    scores: ReadTable,
    y: ReadCodes,
    flip_cost: ReadTable,
    cost_row: ReadCodes,
    weight: ReadVector,
    lam: Real,
    slope: Table,
    pieces: CodesTable,
):
    """Sum of the samples' largest pieces, what their flips cost, and the slopes (N, C).

    ``pieces`` (N, 2) takes the label and the winner of each sample.
    """
    n: Count
    j: Count
    label: Count
    winner: Count
    value: Real = 0.0
    spent: Real = 0.0
    loss: Real
    price: Real
    ranks: Codes = np.empty(2, dtype=np.intp)
    with cython.nogil:
        for n in range(scores.shape[0]):
            _rank_scores(scores, n, ranks)
            label = _worst_label(scores, n, y[n], flip_cost, cost_row[n], lam, ranks)
            loss = _loss_of(scores, n, label, ranks[0], ranks[1])
            price = flip_cost[cost_row[n], label] if label != y[n] else 0.0
            winner = label
            if loss > 0:
                winner = ranks[1] if label == ranks[0] else ranks[0]
            for j in range(scores.shape[1]):
                slope[n, j] = 0.0
            slope[n, winner] += weight[n]
            slope[n, label] -= weight[n]
            pieces[n, 0] = label
            pieces[n, 1] = winner
            value += weight[n] * (loss - lam * price)
            spent += weight[n] * price
    return value, spent


def count_pieces(pieces: CodesTable, y: ReadCodes, mass: Real, counts: Cube):
    """Add ``mass`` to the multipliers alpha, phi, beta (3, N, C) of the active pieces."""
    n: Count
    with cython.nogil:
        for n in range(y.shape[0]):
            if pieces[n, 0] == y[n]:
                counts[0, n, pieces[n, 1]] += mass
            else:
                counts[1, n, pieces[n, 0]] += mass
                counts[2, n, pieces[n, 1]] += mass
