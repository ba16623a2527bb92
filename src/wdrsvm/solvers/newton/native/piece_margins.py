"""How clearly one piece of a sample's loss is its largest."""

from __future__ import annotations

import cython
import numpy as np

from ...runtime.kernel_names import (
    Count,
    ReadCodes,
    ReadTable,
    ReadVector,
    Real,
    Vector,
    inner,
    kernel,
)

IMPOSSIBLE = cython.declare(Real, float("inf"))


@inner
def _larger(one: Real, other: Real) -> Real:
    return one if one > other else other


@inner
def _smaller(one: Real, other: Real) -> Real:
    return one if one < other else other


@kernel
def _margin_of_row(
    scores: ReadTable, n: Count, label: Count, cost: ReadTable, row: Count, lam: Real
) -> Real:
    """The largest piece less the second largest; values push each other down the ranks."""
    j: Count
    value: Real
    top: Real = -IMPOSSIBLE
    runner_up: Real = -IMPOSSIBLE
    first: Real = 0.0
    second: Real = -IMPOSSIBLE
    for j in range(scores.shape[1]):
        runner_up = _larger(runner_up, _smaller(top, scores[n, j]))
        top = _larger(top, scores[n, j])
    for j in range(scores.shape[1]):
        if j == label:
            continue
        value = 1.0 + scores[n, j] - scores[n, label]
        second = _larger(second, _smaller(first, value))
        first = _larger(first, value)
        if cost[row, j] < IMPOSSIBLE:
            value = 1.0 + top - scores[n, j] - lam * cost[row, j]
            second = _larger(second, _smaller(first, value))
            first = _larger(first, value)
            second = _larger(second, _smaller(first, value + runner_up - top))
    return first - second


def piece_margins(
    scores: ReadTable,
    y: ReadCodes,
    cost: ReadTable,
    cost_row: ReadCodes,
    weight: ReadVector,
    lam: Real,
):
    """By how much each sample's largest piece exceeds its second largest, shape (n,)."""
    n: Count
    margins: Vector = np.empty(scores.shape[0])
    with cython.nogil:
        for n in range(scores.shape[0]):
            margins[n] = _margin_of_row(scores, n, y[n], cost, cost_row[n], lam)
    return np.asarray(margins)
