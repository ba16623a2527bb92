r"""Differences of all pairs of classes, moved by what stood before, and clipped.

The pairs i < j stand in the order of ``problem.norms.class_pairs``.  For pair p

    U_p = M_i - M_j + before_p

is clipped at the height h_p at which  sum_d (|U_pd| - h_p)_+  is a given length, or at 0 if
U_p is not longer.
"""

from __future__ import annotations

import cython
import numpy as np
from cython.cimports.libc.math import fabs

from ...runtime.kernel_names import (
    Count,
    ReadTable,
    ReadVector,
    Real,
    Table,
    Vector,
    inner,
    kernel,
)

MAX_HEIGHT_STEPS = cython.declare(Count, 100)
HEIGHT_TOL = cython.declare(Real, 1e-13)


@inner
def _fill_sizes(
    coef: ReadTable, before: ReadTable, i: Count, j: Count, p: Count, sizes: Vector
) -> None:
    d: Count
    for d in range(coef.shape[1]):
        sizes[d] = fabs(coef[i, d] - coef[j, d] + before[p, d])


@kernel
def _sum_above(sizes: Vector, height: Real, totals: Vector) -> None:
    """The sum of what sizes have above the height, and their number, into ``totals``.

    ``sizes`` has a multiple of four entries.  Four sums do not wait for each other.
    """
    d: Count
    first: Real = 0.0
    second: Real = 0.0
    third: Real = 0.0
    fourth: Real = 0.0
    n_first: Real = 0.0
    n_second: Real = 0.0
    n_third: Real = 0.0
    n_fourth: Real = 0.0
    for d in range(sizes.shape[0] // 4):
        first += sizes[4 * d] - height if sizes[4 * d] > height else 0.0
        second += sizes[4 * d + 1] - height if sizes[4 * d + 1] > height else 0.0
        third += sizes[4 * d + 2] - height if sizes[4 * d + 2] > height else 0.0
        fourth += sizes[4 * d + 3] - height if sizes[4 * d + 3] > height else 0.0
        n_first += 1.0 if sizes[4 * d] > height else 0.0
        n_second += 1.0 if sizes[4 * d + 1] > height else 0.0
        n_third += 1.0 if sizes[4 * d + 2] > height else 0.0
        n_fourth += 1.0 if sizes[4 * d + 3] > height else 0.0
    totals[0] = first + second + third + fourth
    totals[1] = n_first + n_second + n_third + n_fourth


@kernel
def _height(sizes: Vector, length: Real, height: Real, totals: Vector) -> Real:
    """The height above which the sizes have this sum; 0 if they have less.

    Newton's method: the sum is convex in the height, so that no step but the first goes
    too far.  The last of ``totals`` receives the number of sizes above the height.
    """
    k: Count
    higher: Real
    for k in range(MAX_HEIGHT_STEPS):
        _sum_above(sizes, height, totals)
        if totals[1] == 0.0 and (k > 0 or height == 0.0):
            # Nothing is left above the largest size, or there is nothing but zeros.
            totals[1] = 1.0 if height > 0.0 else 0.0
            return height
        if totals[1] == 0.0:
            height = 0.0
            continue
        higher = height + (totals[0] - length) / totals[1]
        if higher <= 0.0 and height == 0.0:
            totals[1] = 0.0
            return 0.0
        if higher < 0.0:
            higher = 0.0
        if fabs(higher - height) <= HEIGHT_TOL * higher:
            return higher
        height = higher
    return height


def pair_heights(coef: ReadTable, before: ReadTable, length: Real, heights: Vector):
    """Fill in the heights of all pairs, from those found last; return their sum and how
    fast it falls when the length grows."""
    i: Count
    j: Count
    p: Count = 0
    total: Real = 0.0
    slope: Real = 0.0
    sizes: Vector = np.zeros(coef.shape[1] + 3 - (coef.shape[1] + 3) % 4)
    totals: Vector = np.empty(2)
    with cython.nogil:
        for i in range(coef.shape[0]):
            for j in range(i + 1, coef.shape[0]):
                _fill_sizes(coef, before, i, j, p, sizes)
                heights[p] = _height(sizes, length, heights[p], totals)
                total += heights[p]
                if totals[1] > 0.0:
                    slope += 1.0 / totals[1]
                p += 1
    return total, slope


@inner
def _clipped(value: Real, height: Real) -> Real:
    value = value if value < height else height
    return value if value > -height else -height


@kernel
def _clip_pair(
    coef: ReadTable,
    before: ReadTable,
    i: Count,
    j: Count,
    p: Count,
    height: Real,
    clips: Vector,
    sums: Vector,
) -> None:
    """The clipped differences, the sums of their squares and of the squares of how they
    changed, and the length of the plain differences."""
    d: Count
    difference: Real
    squares: Real = 0.0
    changes: Real = 0.0
    length: Real = 0.0
    for d in range(coef.shape[1]):
        difference = coef[i, d] - coef[j, d]
        clips[d] = _clipped(difference + before[p, d], height)
        squares += clips[d] * clips[d]
        changes += (clips[d] - before[p, d]) * (clips[d] - before[p, d])
        length += fabs(difference)
    sums[0] += squares
    sums[1] += changes
    if length > sums[2]:
        sums[2] = length


def clip_pairs(coef: ReadTable, before: ReadTable, heights: ReadVector, divergence: Table):
    """Add the clipped differences of each pair to one class and subtract them from the
    other; return the sum of their squares, that of the squares of their changes from what
    stood before, and the largest length of a plain difference."""
    i: Count
    j: Count
    d: Count
    p: Count = 0
    clips: Vector = np.empty(coef.shape[1])
    sums: Vector = np.zeros(3)
    with cython.nogil:
        for i in range(coef.shape[0]):
            for j in range(i + 1, coef.shape[0]):
                _clip_pair(coef, before, i, j, p, heights[p], clips, sums)
                for d in range(coef.shape[1]):
                    divergence[i, d] += clips[d]
                    divergence[j, d] -= clips[d]
                p += 1
    return sums[0], sums[1], sums[2]


def fill_clipped(coef: ReadTable, before: Table, heights: ReadVector) -> None:
    """Put the clipped differences into the place of what stood before."""
    i: Count
    j: Count
    d: Count
    p: Count = 0
    with cython.nogil:
        for i in range(coef.shape[0]):
            for j in range(i + 1, coef.shape[0]):
                for d in range(coef.shape[1]):
                    before[p, d] = _clipped(
                        coef[i, d] - coef[j, d] + before[p, d], heights[p]
                    )
                p += 1


def count_unclipped(
    coef: ReadTable, before: ReadTable, heights: ReadVector, counts: Table
) -> None:
    """Add to each class and column the number of pairs whose difference is not clipped."""
    i: Count
    j: Count
    d: Count
    p: Count = 0
    free: Real
    with cython.nogil:
        for i in range(coef.shape[0]):
            for j in range(i + 1, coef.shape[0]):
                for d in range(coef.shape[1]):
                    free = fabs(coef[i, d] - coef[j, d] + before[p, d])
                    free = 1.0 if free < heights[p] else 0.0
                    counts[i, d] += free
                    counts[j, d] += free
                p += 1
