"""Sums of rows for each label, in double precision."""

from __future__ import annotations

import cython

from ...runtime.kernel_names import (
    Count,
    ReadCodes,
    ReadEitherTable,
    ReadVector,
    Table,
)


def add_by_label(factor: ReadVector, y: ReadCodes, rows: ReadEitherTable, sums: Table):
    """Add each row, times its factor, to the sum of its label; rows of either precision."""
    n: Count
    q: Count
    with cython.nogil:
        for n in range(rows.shape[0]):
            for q in range(rows.shape[1]):
                sums[y[n], q] += factor[n] * rows[n, q]
