"""The samples of the first-order method: designs, prices, multipliers."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ...arrays import Codes, Floats, Matrix, Singles
from . import kernels

# Kernels number the columns of sparse rows with 32 bits: less memory has to be read.
MAX_COLUMNS = int(np.iinfo(np.int32).max)
NO_SINGLES = np.empty((0, 0), dtype=np.float32)


class StoredMatrix(NamedTuple):
    """A CSR matrix as the kernels see it.

    A dense one has no ``indices``: its rows have all columns in their order, and tables
    that it is multiplied with keep each class's column together.  A sparse one without
    any entry has none either, so ``is_dense`` is told.
    """

    indptr: Codes
    indices: NDArray[np.int32]
    data: Floats
    is_dense: bool = False

    @property
    def record(self) -> Any:
        """What kernels are given."""
        return kernels.StoredRows(*self)

    def some(self, rows: Codes) -> StoredMatrix:
        """Copies of some rows."""
        n_rows = len(self.indptr) - 1
        if self.is_dense:
            return StoredMatrix.of_dense(self.data.reshape(n_rows, -1)[rows])
        n_columns = int(self.indices.max(initial=0)) + 1
        stored = self.data, self.indices, self.indptr
        whole = sparse.csr_array(stored, shape=(n_rows, n_columns))
        return StoredMatrix.of_sparse(whole[rows])

    @classmethod
    def of_dense(cls, matrix: Floats) -> StoredMatrix:
        starts = np.arange(len(matrix) + 1, dtype=np.intp) * matrix.shape[1]
        return cls(starts, np.empty(0, dtype=np.int32), matrix.ravel(), is_dense=True)

    @classmethod
    def of_sparse(cls, matrix: Matrix) -> StoredMatrix:
        if matrix.shape[1] > MAX_COLUMNS:
            raise ValueError(
                f"X must have at most {MAX_COLUMNS} columns for the solver "
                f"'first-order', got {matrix.shape[1]}."
            )
        return cls(
            matrix.indptr.astype(np.intp, copy=False),
            matrix.indices.astype(np.int32, copy=False),
            matrix.data.astype(np.float64, copy=False),
        )


class SampleArrays(NamedTuple):
    """All samples: touchable and free columns, labels, weights, flip costs (N or 0, C),
    and the curvatures q and r of each row (N,).

    ``row_width`` is the mean number of touchable entries of a row before any turn, on which
    the pace of the pairs depends.  ``singles`` (N or 0, T) are dense touchable columns in
    single precision, where products with them take most of the time."""

    touch: StoredMatrix
    free: StoredMatrix
    y: Codes
    weight: Floats
    cost: Floats
    touch_curvature: Floats
    free_curvature: Floats
    row_width: float
    singles: Singles = NO_SINGLES

    def some(self, rows: Codes) -> SampleArrays:
        """Copies of some dense rows, whose labels cannot be flipped."""
        return self._replace(
            touch=self.touch.some(rows),
            free=self.free.some(rows),
            y=self.y[rows],
            weight=self.weight[rows],
            touch_curvature=self.touch_curvature[rows],
            free_curvature=self.free_curvature[rows],
            singles=self.singles[rows],
        )


class Duals(NamedTuple):
    """alpha (N, C); phi and beta (N, C), or (0, C) if no label can be flipped.

    Large tables alpha are sparse, see ``places_of_rows.masses``.

    Of a smooth loss: the points u, the labels' masses Q and the slopes g, all (N, C)."""

    alpha: Matrix
    phi: Floats
    beta: Floats


class FreeTable(NamedTuple):
    """Coefficients (E, C) of the columns outside the norm, and their prox steps (E,)."""

    coef: Floats
    steps: Floats


def samples_of(rows: SampleArrays, duals: Duals, free: FreeTable) -> Any:
    """One record of all this for the kernels, which change the arrays in place.

    Sparse masses are not part of it.
    """
    if sparse.issparse(duals.alpha):
        duals = duals._replace(alpha=np.empty((0, duals.alpha.shape[1])))
    curvatures = rows.touch_curvature, rows.free_curvature
    return kernels.Samples(
        rows.touch, rows.free, rows.y, rows.cost, curvatures, duals, free
    )
