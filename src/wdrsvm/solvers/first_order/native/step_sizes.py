"""Sums of squares of a design by columns and by rows."""

from __future__ import annotations

import cython

from ...runtime.kernel_names import Count, ReadVector, Real, Vector
from .records import StoredRows


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
