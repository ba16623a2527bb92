r"""Rows of features with their labels, and products with them; dense or stored by rows."""

from __future__ import annotations

import cython

from ...runtime.blas import multiply_columns, multiply_rows
from ...runtime.kernel_names import (
    Count,
    Flag,
    ReadCodes,
    ReadTable,
    ReadVector,
    Table,
    kernel,
)


@cython.cclass
class ErrorRows:
    """Features (N, P), labels, weights and prices of another label (N,).

    Dense features are in ``X``.  Sparse ones are in ``data``, ``indices`` and ``indptr`` as
    in SciPy's compressed rows, and ``X`` has no columns.
    """

    is_dense: Flag
    X: ReadTable
    data: ReadVector
    indices: ReadCodes
    indptr: ReadCodes
    y: ReadCodes
    weight: ReadVector
    flip_cost: ReadVector

    def __init__(self, is_dense, X, data, indices, indptr, y, weight, flip_cost):
        self.is_dense, self.X = is_dense, X
        self.data, self.indices, self.indptr = data, indices, indptr
        self.y, self.weight, self.flip_cost = y, weight, flip_cost

    @kernel
    def fill_scores(self, coef: Table, scores: Table) -> None:
        """scores = X coef'."""
        n: Count
        c: Count
        k: Count
        if self.is_dense:
            multiply_rows(self.X, coef, scores)
            return
        scores[:, :] = 0.0
        for n in range(scores.shape[0]):
            for k in range(self.indptr[n], self.indptr[n + 1]):
                for c in range(scores.shape[1]):
                    scores[n, c] += self.data[k] * coef[c, self.indices[k]]

    @kernel
    def fill_product(self, slopes: Table, product: Table) -> None:
        """product = slopes' X."""
        n: Count
        c: Count
        k: Count
        if self.is_dense:
            multiply_columns(slopes, self.X, product)
            return
        product[:, :] = 0.0
        for n in range(slopes.shape[0]):
            for k in range(self.indptr[n], self.indptr[n + 1]):
                for c in range(slopes.shape[1]):
                    product[c, self.indices[k]] += self.data[k] * slopes[n, c]
