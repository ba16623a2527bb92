"""The linear system of a second-order step."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

Floats = NDArray[np.float64]

MAX_REFINEMENTS = 5
REFINED = 1e-13


def fix_gauge(matrix: Floats, n_classes: int, n_columns: int, first: int) -> None:
    """Stiffen the shift of all classes at once, in columns from ``first`` on.

    Nothing else resists that shift; the right-hand side does not excite it.
    """
    columns = np.arange(first, n_columns)
    rows = np.arange(n_classes)[:, None] * n_columns + columns
    stiffness = matrix[rows, rows].mean(axis=0)
    stiffness[stiffness <= 0] = 1.0
    matrix[rows[:, None], rows[None, :]] += stiffness


class NormalSystem:
    """A symmetric positive system, scaled to unit diagonal, factorised and refined."""

    def __init__(self, matrix: Floats):
        self.scale = 1 / np.sqrt(np.diag(matrix))
        self.matrix = matrix * self.scale * self.scale[:, None]
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
