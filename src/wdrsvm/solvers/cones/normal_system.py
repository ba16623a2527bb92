"""The linear system of a second-order step."""

from __future__ import annotations

import numpy as np
from scipy.linalg import solve_triangular

from ...arrays import Floats
from .sample_rows import compiled

# Larger matrices are factorised panel by panel: Ctrl-C is heard between panels.
MAX_AT_ONCE = 1500
PANEL, STRIP = 256, 1024
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
def to_unit_diagonal(matrix):  # type: ignore[no-untyped-def]
    """Scale rows and columns in place; returns the scale."""
    scale = 1.0 / np.sqrt(np.diag(matrix))
    for i in range(len(matrix)):
        for j in range(len(matrix)):
            matrix[i, j] *= scale[i] * scale[j]
    return scale


@compiled
def cholesky(matrix):  # type: ignore[no-untyped-def]
    """Lower factor of a matrix of unit diagonal, with a ridge as small as will do.

    Where none will, because an overflow left no numbers to factorise, it has none either.
    """
    size, ridge = len(matrix), 1e-15
    factor = np.full_like(matrix, np.nan)
    while ridge < 1e3 * size:
        shifted = matrix.copy()
        for i in range(size):
            shifted[i, i] += ridge
        done = True
        try:
            factor = np.linalg.cholesky(shifted)
        except Exception:  # compiled code can name no other; only LinAlgError is raised
            done = False
        if done:
            break
        ridge *= 100
    return factor


@compiled
def _substitute(factor, rhs):  # type: ignore[no-untyped-def]
    x = rhs.copy()
    for i in range(len(x)):
        x[i] = (x[i] - np.dot(factor[i, :i], x[:i])) / factor[i, i]
    for i in range(len(x) - 1, -1, -1):
        x[i] /= factor[i, i]
        for j in range(i):
            x[j] -= x[i] * factor[i, j]
    return x


@compiled
def solve(matrix, factor, scale, rhs):  # type: ignore[no-untyped-def]
    """Solution, refined as long as that halves the residual."""
    scaled = rhs * scale
    solution = _substitute(factor, scaled)
    enough = REFINED * np.abs(scaled).max()
    error = np.inf
    for _ in range(MAX_REFINEMENTS):
        residual = scaled - np.dot(matrix, solution)
        previous, error = error, np.abs(residual).max()
        if error <= enough or not error < previous / 2:
            break
        solution += _substitute(factor, residual)
    return solution * scale


def cholesky_of(matrix: Floats) -> Floats:
    """The factor of :func:`cholesky`, in calls of a moment each."""
    if len(matrix) <= MAX_AT_ONCE:
        at_once: Floats = cholesky(matrix)
        return at_once
    ridge = 1e-15
    while ridge < 1e3 * len(matrix):
        shifted = matrix.copy()
        shifted[np.diag_indices_from(shifted)] += ridge
        try:
            factor = _by_panels(shifted)
        except np.linalg.LinAlgError:
            ridge *= 100
            continue
        if np.isfinite(factor[-1, -1]):
            return factor
        break
    return np.full_like(matrix, np.nan)


def _by_panels(matrix: Floats) -> Floats:
    """The lower factor, in the matrix's own memory."""
    size = len(matrix)
    for start in range(0, size, PANEL):
        end = min(start + PANEL, size)
        corner = np.linalg.cholesky(matrix[start:end, start:end])
        matrix[start:end, start:end] = corner
        matrix[start:end, end:] = 0.0
        if end == size:
            break
        below = matrix[end:, start:end]
        below[:] = solve_triangular(corner, below.T, lower=True, check_finite=False).T
        for top in range(end, size, STRIP):
            bottom = min(top + STRIP, size)
            left = matrix[top:bottom, start:end]
            matrix[top:bottom, end:bottom] -= left @ matrix[end:bottom, start:end].T
    return matrix


class NormalSystem:
    """A symmetric positive system, scaled to unit diagonal, factorised and refined.

    It takes the matrix over and scales it in place.
    """

    def __init__(self, matrix: Floats):
        self.scale: Floats = to_unit_diagonal(matrix)
        self.matrix, self.factor = matrix, cholesky_of(matrix)

    def solve(self, rhs: Floats) -> Floats:
        """The solution of one system."""
        solution: Floats = solve(self.matrix, self.factor, self.scale, rhs)
        return solution
