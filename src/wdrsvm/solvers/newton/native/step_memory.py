"""The two loops over remembered steps (limited-memory BFGS), and small inverses.

``steps`` and ``changes`` have a row for each step, and ``curved`` has their products.
``order`` has the numbers of the rows, the oldest step first.
"""

from __future__ import annotations

import cython

from ...runtime.blas import invert_definite
from ...runtime.kernel_names import (
    Count,
    Cube,
    Either,
    EitherVector,
    ReadCodes,
    ReadEitherTable,
    ReadVector,
    Real,
    Vector,
    kernel,
)

# Entries of a product that are summed in the precision of the steps.
MAX_MULTIPLIED = cython.declare(Count, 512)


@kernel
def _part_of_product(
    lines: ReadEitherTable, k: Count, vector: EitherVector, first: Count
) -> Real:
    d: Count
    last: Count = min(first + MAX_MULTIPLIED, vector.shape[0])
    total: Either = 0
    for d in range(first, last):
        total += lines[k, d] * vector[d]
    return total


@kernel
def _product(lines: ReadEitherTable, k: Count, vector: EitherVector) -> Real:
    part: Count
    total: Real = 0.0
    for part in range(vector.shape[0] // MAX_MULTIPLIED + 1):
        total += _part_of_product(lines, k, vector, part * MAX_MULTIPLIED)
    return total


@kernel
def _add_line(
    lines: ReadEitherTable, k: Count, factor: Either, vector: EitherVector
) -> None:
    d: Count
    for d in range(vector.shape[0]):
        vector[d] += factor * lines[k, d]


def take_changes(
    rest: EitherVector,
    steps: ReadEitherTable,
    changes: ReadEitherTable,
    curved: ReadVector,
    order: ReadCodes,
    shares: Vector,
):
    """Take each step's share of the gradient out of ``rest``, the last step first."""
    k: Count
    line: Count
    with cython.nogil:
        for k in range(order.shape[0] - 1, -1, -1):
            line = order[k]
            shares[k] = _product(steps, line, rest) / curved[line]
            _add_line(changes, line, -shares[k], rest)


def add_steps(
    found: EitherVector,
    steps: ReadEitherTable,
    changes: ReadEitherTable,
    curved: ReadVector,
    order: ReadCodes,
    shares: ReadVector,
):
    """Add what the steps know of the curvature, the first step first."""
    k: Count
    line: Count
    share: Real
    with cython.nogil:
        for k in range(order.shape[0]):
            line = order[k]
            share = shares[k] - _product(changes, line, found) / curved[line]
            _add_line(steps, line, share, found)


def invert_each(matrices: Cube):
    """Replace positive definite matrices by their inverses; returns how many are not."""
    k: Count
    n_failed: Count = 0
    with cython.nogil:
        for k in range(matrices.shape[0]):
            if invert_definite(matrices[k]) != 0:
                n_failed += 1
    return n_failed
