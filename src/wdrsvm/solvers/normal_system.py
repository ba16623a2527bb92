"""The linear system of a second-order step."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from .sample_rows import compiled

Floats = NDArray[np.float64]

MAX_REFINEMENTS = 5
REFINED = 1e-13


@compiled
def fix_gauge(matrix, n_classes, n_columns, first):  # type: ignore[no-untyped-def]
    """Stiffen the shift of all classes at once, in columns from ``first`` on.

    Nothing else resists that shift; the right-hand side does not excite it.  A column
    without any curvature, a constant one that was centred, is held altogether.
    """
    for d in range(first, n_columns):
        stiffness = 0.0
        for i in range(n_classes):
            stiffness += matrix[i * n_columns + d, i * n_columns + d] / n_classes
        if stiffness <= 0:
            for i in range(n_classes):
                matrix[i * n_columns + d, i * n_columns + d] = 1.0
            continue
        for i in range(n_classes):
            for j in range(n_classes):
                matrix[i * n_columns + d, j * n_columns + d] += stiffness


@compiled
def _to_unit_diagonal(matrix):  # type: ignore[no-untyped-def]
    """Scale rows and columns in place; returns the scale."""
    scale = 1.0 / np.sqrt(np.diag(matrix))
    for i in range(len(matrix)):
        for j in range(len(matrix)):
            matrix[i, j] *= scale[i] * scale[j]
    return scale


class NormalSystem:
    """A symmetric positive system, scaled to unit diagonal, factorised and refined.

    It takes the matrix over and scales it in place.
    """

    def __init__(self, matrix: Floats):
        self.scale: Floats = _to_unit_diagonal(matrix)
        self.matrix = matrix
        self.factor = self._factorise()

    def _factorise(self) -> Floats:
        ridge = 1e-15
        while True:
            shifted = self.matrix.copy()
            shifted.flat[:: len(shifted) + 1] += ridge
            factor, failed = linalg.lapack.dpotrf(shifted.T, overwrite_a=True, clean=False)
            if not failed:
                return np.asarray(factor)
            ridge *= 100

    def solve(self, rhs: Floats) -> Floats:
        """Solution, refined as long as that halves the residual."""
        scaled = rhs * self.scale
        solution, _ = linalg.lapack.dpotrs(self.factor, scaled)
        enough = REFINED * float(np.abs(scaled).max())
        error = np.inf
        for _ in range(MAX_REFINEMENTS):
            residual = scaled - self.matrix @ solution
            previous, error = error, float(np.abs(residual).max())
            if error <= enough or not error < previous / 2:
                break
            solution = solution + linalg.lapack.dpotrs(self.factor, residual)[0]
        return np.asarray(solution * self.scale)
