"""Flows between the pairs of classes of the linf norm: see ``first_order.norms.linf``."""

from __future__ import annotations

import cython
import numpy as np
from cython.cimports.libc.math import fabs

from wdrsvm.solvers.first_order.settings import FIRST_ORDER

from ...runtime.kernel_names import (
    Count,
    ReadVector,
    Real,
    Table,
    Vector,
    inner,
    kernel,
)

MAX_THRESHOLD_STEPS = cython.declare(Count, FIRST_ORDER.max_height_steps)
HEIGHT_TOL = cython.declare(Real, FIRST_ORDER.height_tol)


@inner
def _weight_beyond(values: Vector, weights: Vector, height: Real, totals: Vector) -> None:
    """sum weights (|values| - height)_+ and the sum of the weights beyond it."""
    d: Count
    excess: Real
    total: Real = 0.0
    beyond: Real = 0.0
    for d in range(values.shape[0]):
        excess = fabs(values[d]) - height
        total += weights[d] * excess if excess > 0 else 0.0
        beyond += weights[d] if excess > 0 else 0.0
    totals[0] = total
    totals[1] = beyond


@kernel
def _clip_height(
    values: Vector, weights: Vector, mass: Real, height: Real, totals: Vector
) -> Real:
    """The mu with sum weights (|values| - mu)_+ = mass, or 0, by Newton from ``height``;
    the last of ``totals`` receives the sum of the weights beyond it."""
    _: Count
    higher: Real
    for _ in range(MAX_THRESHOLD_STEPS):
        _weight_beyond(values, weights, height, totals)
        if totals[1] == 0:
            if height == 0:
                return 0.0
            height = 0.0
            continue
        higher = height + (totals[0] - mass) / totals[1]
        if higher <= 0 and height == 0:
            totals[1] = 0.0
            return 0.0
        if higher < 0:
            higher = 0.0
        if fabs(higher - height) <= HEIGHT_TOL * higher:
            return higher
        height = higher
    return height


@inner
def _replace_flow(
    flows: Table,
    pair: Count,
    values: Vector,
    height: Real,
    steps: ReadVector,
    table: Table,
    i: Count,
    j: Count,
) -> None:
    """Set a flow to the clipped values, and move both ends of V accordingly."""
    d: Count
    clipped: Real
    moved: Real
    for d in range(values.shape[0]):
        clipped = values[d]
        clipped = clipped if clipped > -height else -height
        clipped = clipped if clipped < height else height
        moved = steps[d] * (clipped - flows[pair, d])
        flows[pair, d] = clipped
        table[i, d] -= moved
        table[j, d] += moved


def step_pairs(table: Table, flows: Table, heights: Vector, steps: ReadVector, lam: Real):
    """A proximal gradient step of all flows; ``table`` is V by class, (C, T).

    Returns how fast the pressure falls with lam.
    """
    i: Count
    j: Count
    d: Count
    pair: Count = 0
    rate: Real = 0.0
    before: Table = np.array(table)
    weights: Vector = np.multiply(steps, table.shape[0])
    values: Vector = np.empty(table.shape[1])
    totals: Vector = np.empty(2)
    with cython.nogil:
        for i in range(table.shape[0]):
            for j in range(i + 1, table.shape[0]):
                for d in range(table.shape[1]):
                    values[d] = flows[pair, d] + (before[i, d] - before[j, d]) / weights[d]
                heights[pair] = _clip_height(values, weights, lam, heights[pair], totals)
                _replace_flow(flows, pair, values, heights[pair], steps, table, i, j)
                rate += 1.0 / totals[1] if totals[1] > 0 else 0.0
                pair += 1
    return rate
