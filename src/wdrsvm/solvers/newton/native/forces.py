r"""Forces between classes: tables (C, C) in which each pair stands twice.

One step of an accelerated ascent, without products of matrices: how fast each force may
follow its length, the forces raised towards the longer pairs, and the ones tried next.
"""

from __future__ import annotations

import cython
import numpy as np
from cython.cimports.libc.math import sqrt

from ...runtime.kernel_names import (
    Count,
    ReadTable,
    ReadVector,
    Real,
    Table,
    Vector,
    kernel,
)

ANY_MARGIN = cython.declare(Real, float("inf"))


def fill_pulls(forces: ReadTable, lengths: ReadTable, laplacian: Table):
    """Fill in the Laplacian of the pulls 2 f / d between classes.

    Pairs without a length have no force, or none that has a direction.
    """
    i: Count
    j: Count
    held: Real
    with cython.nogil:
        for i in range(forces.shape[0]):
            held = 0.0
            for j in range(forces.shape[0]):
                laplacian[i, j] = 0.0
                if lengths[i, j] > 0.0:
                    laplacian[i, j] = -2.0 * forces[i, j] / lengths[i, j]
                held -= laplacian[i, j]
            laplacian[i, i] += held


def fill_paces(
    forces: ReadTable,
    lengths: ReadTable,
    compliance: ReadTable,
    level: Real,
    boldness: Real,
    paces: Table,
):
    """Fill in how much force a unit of excess length adds, small enough to converge.

    Directions from one class to two others have a cosine of about one half.
    """
    i: Count
    j: Count
    count: Real
    moved: Real
    loads: Vector = np.empty(forces.shape[0])
    with cython.nogil:
        for i in range(forces.shape[0]):
            count = 0.0
            for j in range(forces.shape[0]):
                count += 1.0 if forces[i, j] > 0.0 or lengths[i, j] > level else 0.0
            loads[i] = 0.5 * (1.0 + count)
        for i in range(forces.shape[0]):
            for j in range(forces.shape[0]):
                moved = compliance[i, j] * loads[i] + compliance[j, i] * loads[j]
                paces[i, j] = 0.5 * boldness / moved


@kernel
def _fill_near(
    raw: ReadTable, paces: ReadTable, margin: Real, near_raw: Vector, near_paces: Vector
) -> Count:
    """The pairs that matter at shifts above ``-margin``; returns their number."""
    i: Count
    j: Count
    k: Count = 0
    for i in range(raw.shape[0]):
        for j in range(raw.shape[0]):
            if i != j and raw[i, j] > -margin * paces[i, j]:
                near_raw[k], near_paces[k] = raw[i, j], paces[i, j]
                k += 1
    return k


@kernel
def _next_shift(
    raw: ReadVector, paces: ReadVector, count: Count, shift: Real, sums: Vector
) -> Real:
    """Sum numbers and paces of the pairs that hold at a shift, and return their number."""
    k: Count
    held: Real = 0.0
    sums[0], sums[1] = 0.0, 0.0
    for k in range(count):
        if raw[k] > shift * paces[k]:
            held += 1.0
            sums[0] += raw[k]
            sums[1] += paces[k]
    return held


@kernel
def _shift(
    raw: ReadTable,
    paces: ReadTable,
    total: Real,
    margin: Real,
    max_steps: Count,
    near_raw: Vector,
    near_paces: Vector,
    sums: Vector,
) -> Real:
    """The shift at which  max(0, raw - shift paces)  has this total.

    The total is convex in the shift: Newton's steps approach its root from below.  Few
    pairs matter at shifts above ``-margin``, and only these are looked at there.
    """
    held: Real
    _step: Count
    shift: Real = 0.0
    last: Real = 0.0
    near: Count = _fill_near(raw, paces, margin, near_raw, near_paces)
    for _step in range(max_steps):
        held = _next_shift(near_raw, near_paces, near, shift, sums)
        # Pairs that hold at a shift hold at a smaller one: as many are the same ones.
        if held == 0.0 or held == last:
            break
        last = held
        shift = (sums[0] - total) / sums[1]
        if shift < -margin:
            margin = ANY_MARGIN
            near = _fill_near(raw, paces, margin, near_raw, near_paces)
    return shift


def raise_forces(
    forces: ReadTable,
    paces: ReadTable,
    lengths: ReadTable,
    level: Real,
    margin: Real,
    max_steps: Count,
    raised: Table,
):
    """Fill in  max(0, forces + paces (lengths - level - shift)), the total as it was.

    Excess lengths are taken before the sum: beside whole lengths small forces would vanish.
    """
    i: Count
    j: Count
    shift: Real
    total: Real = 0.0
    n_entries: Count = forces.shape[0] * forces.shape[0]
    near_raw: Vector = np.empty(n_entries)
    near_paces: Vector = np.empty(n_entries)
    sums: Vector = np.empty(2)
    with cython.nogil:
        for i in range(forces.shape[0]):
            for j in range(forces.shape[0]):
                total += forces[i, j]
                raised[i, j] = forces[i, j] + paces[i, j] * (lengths[i, j] - level)
        shift = _shift(raised, paces, total, margin, max_steps, near_raw, near_paces, sums)
        for i in range(forces.shape[0]):
            for j in range(forces.shape[0]):
                raised[i, j] -= shift * paces[i, j]
                raised[i, j] = raised[i, j] if raised[i, j] > 0.0 and i != j else 0.0


@kernel
def _is_astray(
    forces: ReadTable, tried: ReadTable, raised: ReadTable, paces: ReadTable
) -> Real:
    i: Count
    j: Count
    total: Real = 0.0
    for i in range(forces.shape[0]):
        for j in range(forces.shape[0]):
            total += (
                (tried[i, j] - raised[i, j]) / paces[i, j] * (raised[i, j] - forces[i, j])
            )
    return total


def move_on(
    forces: ReadTable,
    tried: ReadTable,
    raised: ReadTable,
    paces: ReadTable,
    number: Real,
    ahead: Table,
):
    """Fill in the forces ``ahead`` of the raised ones, and return Nesterov's next number.

    Momentum that leads astray is forgotten.  The number is 0 if rounding left no force.
    """
    i: Count
    j: Count
    grown: Real
    share: Real
    total: Real = 0.0
    aim: Real = 0.0
    with cython.nogil:
        if _is_astray(forces, tried, raised, paces) > 0.0:
            number = 1.0
        grown = 0.5 * (1.0 + sqrt(1.0 + 4.0 * number * number))
        share = (number - 1.0) / grown
        for i in range(forces.shape[0]):
            for j in range(forces.shape[0]):
                ahead[i, j] = raised[i, j] + share * (raised[i, j] - forces[i, j])
                ahead[i, j] = ahead[i, j] if ahead[i, j] > 0.0 else 0.0
                total += ahead[i, j]
                aim += raised[i, j]
        share = aim / total if total > 0.0 else 0.0
        for i in range(forces.shape[0]):
            for j in range(forces.shape[0]):
                ahead[i, j] *= share
    return grown if total > 0.0 else 0.0
