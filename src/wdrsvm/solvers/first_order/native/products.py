"""Products of one row of a matrix with a table, and updates of a table by one row."""

from __future__ import annotations

from ...runtime.kernel_names import (
    Count,
    ReadSmallCodes,
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
    """out += row n of the design times the table, which a dense design has by class."""
    first: Count = design.indptr[n]
    last: Count = design.indptr[n + 1]
    if design.dense:
        add_dense_product(design.data, first, last - first, table, out)
    else:
        add_sparse_product(design.indices, design.data, first, last, table, out)


@inner
def add_dense_product(
    x: ReadVector, first: Count, size: Count, table: ReadTable, out: Vector
) -> None:
    """Four classes at a time: the row is read once, and their sums wait for no other."""
    c: Count
    d: Count
    n_classes: Count = out.shape[0]
    one: Real
    two: Real
    three: Real
    four: Real
    value: Real
    for c in range(0, n_classes - 3, 4):
        one = two = three = four = 0.0
        for d in range(size):
            value = x[first + d]
            one += value * table[c, d]
            two += value * table[c + 1, d]
            three += value * table[c + 2, d]
            four += value * table[c + 3, d]
        out[c] += one
        out[c + 1] += two
        out[c + 2] += three
        out[c + 3] += four
    for c in range(n_classes - n_classes % 4, n_classes):
        one = 0.0
        for d in range(size):
            one += x[first + d] * table[c, d]
        out[c] += one


@inner
def add_sparse_product(
    indices: ReadSmallCodes,
    x: ReadVector,
    first: Count,
    last: Count,
    table: ReadTable,
    out: Vector,
) -> None:
    c: Count
    k: Count
    column: Count
    value: Real
    for k in range(first, last):
        value = x[k]
        column = indices[k]
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
