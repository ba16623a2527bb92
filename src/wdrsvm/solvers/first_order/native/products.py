"""Products of one row of a matrix with a table, and updates of a table by one row."""

from __future__ import annotations

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
