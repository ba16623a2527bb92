"""Sums, curvatures and multipliers of samples of a smooth loss: see ``label_maximum``."""

from __future__ import annotations

import cython
import numpy as np

from ...runtime.kernel_names import (
    Count,
    Cube,
    Flag,
    ReadTable,
    Real,
    Table,
    Vector,
    kernel,
)
from .label_maximum import (
    LEAST_MASS,
    LabelRow,
    _fill_winners,
    _look,
    _soft_maximum,
    _spring,
)
from .scored_rows import ScoredRows


@kernel
def _add_label(
    z: ReadTable,
    n: Count,
    c: Count,
    held: Real,
    row: LabelRow,
    p: Table,
    slopes: Table,
) -> Real:
    """Slopes of the top label with a margin; returns the largest share of a piece."""
    j: Count
    largest: Real = 0.0
    _fill_winners(z, n, c, row, p, 0)
    for j in range(z.shape[1]):
        slopes[n, j] += held * p[0, j]
        if row.mass[c] * p[0, j] > largest:
            largest = row.mass[c] * p[0, j]
    return largest


@kernel
def _soften_label_row(
    rows: ScoredRows,
    n: Count,
    row: LabelRow,
    p: Table,
    slopes: Table,
    softness: Table,
    sums: Vector,
) -> None:
    """Add one sample to the sums; fill its slopes and softness."""
    c: Count
    k: Count = rows.cost_row[n]
    label: Count = rows.y[n]
    weight: Real = rows.weight[n]
    largest: Real = 0.0
    spread: Real = 0.0
    dual: Real = 0.0
    held: Real
    part: Real
    sums[0] += weight * row.value
    sums[1] += weight * row.bound
    for c in range(rows.scores.shape[1]):
        if not row.mass[c] > 0:
            continue
        held = weight * row.mass[c]
        softness[n, 1] += _spring(row, c) * (1.0 - row.mass[c]) * row.temperature
        dual += held * row.worth[c]
        if c != label:
            dual += held * rows.lam * rows.cost[k, c]
            sums[3] += held * rows.cost[k, c]
        slopes[n, c] -= held
        if c == row.top and row.margin > 0:
            part = _add_label(rows.scores, n, c, held, row, p, slopes)
        else:
            # Labels but the top one have winners in proportion to the powers.
            spread += held / row.rest[c]
            slopes[n, c] -= held / row.rest[c] * row.powers[c] * (1.0 - row.damp)
            part = row.mass[c] / row.rest[c]
        if part > largest:
            largest = part
    for c in range(rows.scores.shape[1]):
        slopes[n, c] += spread * row.powers[c]
        dual -= slopes[n, c] * rows.scores[n, c]
    sums[2] += dual
    softness[n, 0] = 1.0 - largest


def soften_labels(
    rows: ScoredRows, mu: Real, barrier: Flag, temperature: Real, margin: Real
):
    """Merit, loss above the maximum, dual value, flip cost, slopes g (n, C), softness.

    The dual value is that of the tangents at the scores.
    """
    n: Count
    row: LabelRow = LabelRow(rows.scores.shape[1], mu, barrier, temperature, margin)
    slopes: Table = np.zeros((rows.scores.shape[0], rows.scores.shape[1]))
    softness: Table = np.zeros((rows.scores.shape[0], 2))
    p: Table = np.empty((1, rows.scores.shape[1]))
    sums: Vector = np.zeros(4)
    with cython.nogil:
        for n in range(rows.scores.shape[0]):
            _look(rows.scores, n, rows.y[n], rows.cost, rows.cost_row[n], rows.lam, row)
            _soft_maximum(row)
            _soften_label_row(rows, n, row, p, slopes, softness, sums)
    return sums[0], sums[1], sums[2], sums[3], np.asarray(slopes), np.asarray(softness)


@kernel
def _add_winner_ties(block: Cube, n: Count, p: Table, c: Count, stiffness: Real) -> None:
    """block += stiffness (diag(p) - p p'), as ties between classes."""
    i: Count
    j: Count
    tie: Real
    for i in range(p.shape[1]):
        for j in range(i):
            tie = stiffness * p[c, i] * p[c, j]
            block[n, i, i] += tie
            block[n, j, j] += tie
            block[n, i, j] -= tie
            block[n, j, i] -= tie


@kernel
def _fill_mean_slope(
    p: Table, spring: Vector, cost: ReadTable, k: Count, label: Count, mean: Vector
) -> None:
    """The mean of v_c = (p_c - e_c, -k_c) under the springs."""
    c: Count
    j: Count
    last: Count = spring.shape[0]
    total: Real = 0.0
    for j in range(last + 1):
        mean[j] = 0.0
    for c in range(last):
        if spring[c] > 0:
            total += spring[c]
            for j in range(last):
                mean[j] += spring[c] * p[c, j]
            mean[c] -= spring[c]
            if c != label:
                mean[last] -= spring[c] * cost[k, c]
    for j in range(last + 1):
        mean[j] /= total


@kernel
def _add_label_spread(
    block: Cube,
    n: Count,
    p: Table,
    spring: Vector,
    rows: ScoredRows,
    slope: Vector,
    mean: Vector,
) -> None:
    """block += sum_c d_c (v_c - mean v)(v_c - mean v)', v_c = (p_c - e_c, -k_c)."""
    c: Count
    i: Count
    j: Count
    last: Count = spring.shape[0]
    k: Count = rows.cost_row[n]
    label: Count = rows.y[n]
    _fill_mean_slope(p, spring, rows.cost, k, label, mean)
    for c in range(last):
        if not spring[c] > 0:
            continue
        for j in range(last):
            slope[j] = p[c, j] - mean[j]
        slope[c] -= 1.0
        slope[last] = -mean[last] - (rows.cost[k, c] if c != label else 0.0)
        for i in range(last + 1):
            for j in range(last + 1):
                block[n, i, j] += spring[c] * slope[i] * slope[j]


@kernel
def _curve_row(
    rows: ScoredRows,
    n: Count,
    row: LabelRow,
    p: Table,
    spring: Vector,
    curvature: Cube,
) -> Count:
    """Springs, winners and ties of one sample; returns its number of likely labels."""
    c: Count
    n_labels: Count = 0
    weight: Real = rows.weight[n]
    for c in range(rows.scores.shape[1]):
        spring[c] = _spring(row, c)
        if spring[c] > LEAST_MASS:
            n_labels += 1
            spring[c] *= weight
        else:
            spring[c] = 0.0
        if row.mass[c] > LEAST_MASS or spring[c] > 0:
            _fill_winners(rows.scores, n, c, row, p, c)
        if row.mass[c] > LEAST_MASS:
            _add_winner_ties(curvature, n, p, c, weight * row.mass[c] / row.temperature)
    return n_labels


def label_curvature(
    rows: ScoredRows, mu: Real, barrier: Flag, temperature: Real, margin: Real
):
    """Curvature (n, C+1, C+1) of the smoothed losses in (z, lam)."""
    n: Count
    size: Count = rows.scores.shape[1] + 1
    row: LabelRow = LabelRow(size - 1, mu, barrier, temperature, margin)
    curvature: Cube = np.zeros((rows.scores.shape[0], size, size))
    p: Table = np.empty((size - 1, size - 1))
    spring: Vector = np.empty(size - 1)
    slope: Vector = np.empty(size)
    mean: Vector = np.empty(size)
    with cython.nogil:
        for n in range(rows.scores.shape[0]):
            _look(rows.scores, n, rows.y[n], rows.cost, rows.cost_row[n], rows.lam, row)
            _soft_maximum(row)
            if _curve_row(rows, n, row, p, spring, curvature) > 1:
                _add_label_spread(curvature, n, p, spring, rows, slope, mean)
    return np.asarray(curvature)


def label_masses(
    rows: ScoredRows, mu: Real, barrier: Flag, temperature: Real, margin: Real
):
    """The labels' masses Q (n, C)."""
    n: Count
    c: Count
    row: LabelRow = LabelRow(rows.scores.shape[1], mu, barrier, temperature, margin)
    masses: Table = np.empty((rows.scores.shape[0], rows.scores.shape[1]))
    with cython.nogil:
        for n in range(rows.scores.shape[0]):
            _look(rows.scores, n, rows.y[n], rows.cost, rows.cost_row[n], rows.lam, row)
            _soft_maximum(row)
            for c in range(rows.scores.shape[1]):
                masses[n, c] = row.mass[c] * rows.weight[n]
    return np.asarray(masses)


@kernel
def _worst_label(row: LabelRow) -> Count:
    c: Count
    label: Count = 0
    for c in range(1, row.worth.shape[0]):
        if row.worth[c] > row.worth[label]:
            label = c
    return label


def active_tangents(rows: ScoredRows, temperature: Real, margin: Real, slope: Table):
    """Slopes (n, C) of the samples' labels of largest loss, and what flips cost."""
    n: Count
    j: Count
    label: Count
    spent: Real = 0.0
    row: LabelRow = LabelRow(rows.scores.shape[1], 1.0, False, temperature, margin)
    with cython.nogil:
        for n in range(rows.scores.shape[0]):
            _look(rows.scores, n, rows.y[n], rows.cost, rows.cost_row[n], rows.lam, row)
            label = _worst_label(row)
            _fill_winners(rows.scores, n, label, row, slope, n)
            for j in range(rows.scores.shape[1]):
                slope[n, j] *= rows.weight[n]
            slope[n, label] -= rows.weight[n]
            if label != rows.y[n]:
                spent += rows.weight[n] * rows.cost[rows.cost_row[n], label]
    return spent
