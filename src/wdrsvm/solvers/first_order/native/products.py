"""Products of one row of a matrix with a table, updates of a table by one row, and sums
of squares by columns and by rows."""

from __future__ import annotations

import cython

from ...runtime.kernel_names import (
    Count,
    ReadTable,
    ReadVector,
    Real,
    Table,
    Vector,
    inner,
)
from .records import StoredRows


@inner
def add_product(design: StoredRows, n: Count, table: ReadTable, out: Vector) -> None:
    """out += row n of the design times the table, for designs that are not dense."""
    c: Count
    k: Count
    column: Count
    value: Real
    for k in range(design.indptr[n], design.indptr[n + 1]):
        value = design.data[k]
        column = design.indices[k]
        for c in range(out.shape[0]):
            out[c] += value * table[column, c]


@inner
def add_outer(design: StoredRows, n: Count, table: Table, change: Vector) -> None:
    """table += (row n of the design) change'; most entries of ``change`` are 0."""
    c: Count
    d: Count
    k: Count
    column: Count
    value: Real
    first: Count = design.indptr[n]
    last: Count = design.indptr[n + 1]
    if design.dense:
        for c in range(change.shape[0]):
            value = change[c]
            if value != 0:
                for d in range(last - first):
                    table[c, d] += design.data[first + d] * value
        return
    for k in range(first, last):
        value = design.data[k]
        column = design.indices[k]
        for c in range(change.shape[0]):
            table[column, c] += value * change[c]


@inner
def descend(
    design: StoredRows, n: Count, table: Table, steps: ReadVector, change: Vector
) -> None:
    """table -= steps * (row n of the design) change', for designs that are not dense."""
    c: Count
    k: Count
    column: Count
    value: Real
    for k in range(design.indptr[n], design.indptr[n + 1]):
        column = design.indices[k]
        value = steps[column] * design.data[k]
        for c in range(change.shape[0]):
            table[column, c] -= value * change[c]


def column_squares(design: StoredRows, weight: ReadVector, out: Vector):
    """out_d += sum_n w_n x_nd^2, for designs that are not dense."""
    n: Count
    k: Count
    with cython.nogil:
        for n in range(weight.shape[0]):
            for k in range(design.indptr[n], design.indptr[n + 1]):
                out[design.indices[k]] += weight[n] * design.data[k] * design.data[k]


def row_squares(design: StoredRows, scale: ReadVector, out: Vector):
    """out_n = sum_d scale_d x_nd^2."""
    n: Count
    k: Count
    first: Count
    total: Real
    with cython.nogil:
        for n in range(out.shape[0]):
            total = 0.0
            first = design.indptr[n]
            if design.dense:
                for k in range(first, design.indptr[n + 1]):
                    total += scale[k - first] * design.data[k] * design.data[k]
            else:
                for k in range(first, design.indptr[n + 1]):
                    total += scale[design.indices[k]] * design.data[k] * design.data[k]
            out[n] = total
