"""One row of a second-order cone, and its scaling W (``second_order``)."""

from __future__ import annotations

from cython.cimports.libc.math import sqrt

from ...runtime.kernel_names import Count, Real, Vector, kernel
from .rows import dot


@kernel
def det(row: Vector) -> Real:
    """u' J u of one row; it is positive, and rounding does not make it negative."""
    length: Real = sqrt(dot(row[1:], row[1:]))
    return max((row[0] - length) * (row[0] + length), 1e-32 * row[0] * row[0])


@kernel
def scale_row(
    row: Vector,
    w: Vector,
    size: Real,
    sign: Real,
    out: Vector,
) -> None:
    """W row (sign 1, size b) or W^-1 row (sign -1, size 1/b)."""
    d: Count
    along: Real = dot(w[1:], row[1:])
    head: Real = row[0]
    bend: Real = along / (1 + w[0]) + sign * head
    out[0] = size * (w[0] * head + sign * along)
    for d in range(1, row.shape[0]):
        out[d] = size * (row[d] + w[d] * bend)


@kernel
def longest_in_cone(row: Vector, change: Vector) -> Real:
    """1 / t of the largest t with row + t change in the cone, in coordinates of the row."""
    d: Count
    tail: Real
    square: Real = 0.0
    size: Real = sqrt(det(row))
    head: Real = row[0] * change[0] - dot(row[1:], change[1:])
    head /= size * size
    share: Real = (head + change[0] / size) / (row[0] / size + 1)
    for d in range(1, row.shape[0]):
        tail = (change[d] - share * row[d]) / size
        square += tail * tail
    return sqrt(square) - head
