"""The samples' active pieces, compiled: see ``subgradient.active_pieces``."""

from __future__ import annotations

import cython

from ...runtime.kernel_names import (
    CodesTable,
    Count,
    Cube,
    ReadCodes,
    ReadTable,
    ReadVector,
    Real,
    Table,
    inner,
)

NEVER = cython.declare(Real, float("inf"))


@inner
def _loss_of(score: Real, rival: Real) -> Real:
    """l(z, label), from the label's score and the highest of the others."""
    loss: Real = 1.0 + rival - score
    return loss if loss > 0 else 0.0


@inner
def _worst_label(
    z: ReadTable,
    n: Count,
    y: Count,
    cost: ReadTable,
    k: Count,
    lam: Real,
    first: Count,
    top: Real,
    runner_up: Real,
) -> Count:
    """The label whose piece is largest, from the first class and the two highest scores."""
    c: Count
    piece: Real
    label: Count = y
    best: Real = _loss_of(z[n, y], runner_up if y == first else top)
    for c in range(z.shape[1]):
        if c != y and cost[k, c] < NEVER:
            piece = _loss_of(z[n, c], runner_up if c == first else top)
            piece -= lam * cost[k, c]
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
    rival: Count
    value: Real = 0.0
    spent: Real = 0.0
    loss: Real
    price: Real
    first: Count
    second: Count
    top: Real
    runner_up: Real
    with cython.nogil:
        for n in range(scores.shape[0]):
            first = 1 if scores[n, 1] > scores[n, 0] else 0
            second = 1 - first
            top = scores[n, first]
            runner_up = scores[n, second]
            for j in range(2, scores.shape[1]):
                if scores[n, j] > top:
                    second, runner_up = first, top
                    first, top = j, scores[n, j]
                elif scores[n, j] > runner_up:
                    second, runner_up = j, scores[n, j]
            label = _worst_label(
                scores, n, y[n], flip_cost, cost_row[n], lam, first, top, runner_up
            )
            rival = second if label == first else first
            loss = _loss_of(scores[n, label], runner_up if label == first else top)
            winner = rival if loss > 0 else label
            price = flip_cost[cost_row[n], label] if label != y[n] else 0.0
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
