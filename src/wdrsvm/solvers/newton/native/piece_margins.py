"""How clearly one piece of a sample's loss is its largest."""

from __future__ import annotations

import cython
import numpy as np

from ...runtime.kernel_names import (
    Count,
    Real,
    Vector,
    inner,
    kernel,
)
from .scored_rows import ScoredRows

# The cost of a flip that the ball does not allow.
IMPOSSIBLE = cython.declare(Real, float("inf"))


@inner
def _larger(one: Real, other: Real) -> Real:
    return one if one > other else other


@inner
def _smaller(one: Real, other: Real) -> Real:
    return one if one < other else other


@kernel
def _margin_of_row(rows: ScoredRows, n: Count) -> Real:
    """The largest piece less the second largest; values push each other down the ranks."""
    j: Count
    value: Real
    row: Count = rows.cost_row[n]
    label: Count = rows.y[n]
    top: Real = -IMPOSSIBLE
    runner_up: Real = -IMPOSSIBLE
    first: Real = 0.0
    second: Real = -IMPOSSIBLE
    for j in range(rows.scores.shape[1]):
        runner_up = _larger(runner_up, _smaller(top, rows.scores[n, j]))
        top = _larger(top, rows.scores[n, j])
    for j in range(rows.scores.shape[1]):
        if j == label:
            continue
        value = 1.0 + rows.scores[n, j] - rows.scores[n, label]
        second = _larger(second, _smaller(first, value))
        first = _larger(first, value)
        if rows.cost[row, j] < IMPOSSIBLE:
            value = 1.0 + top - rows.scores[n, j] - rows.lam * rows.cost[row, j]
            second = _larger(second, _smaller(first, value))
            first = _larger(first, value)
            second = _larger(second, _smaller(first, value + runner_up - top))
    return first - second


def piece_margins(rows: ScoredRows):
    """By how much each sample's largest piece exceeds its second largest, shape (n,)."""
    n: Count
    margins: Vector = np.empty(rows.scores.shape[0])
    with cython.nogil:
        for n in range(rows.scores.shape[0]):
            margins[n] = _margin_of_row(rows, n)
    return np.asarray(margins)
