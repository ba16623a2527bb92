"""BLAS, LAPACK and the clock for uncompiled kernels; compiled kernels use ``blas.pyx``."""

from __future__ import annotations

import time

import numpy as np

from ...arrays import Codes, Floats, Singles


def solve(system: Floats, rhs: Floats, pivots: Codes) -> int:
    """Replace ``rhs`` by the solution; returns 0, or another number if singular.

    The system is overwritten, and ``pivots`` is working memory.
    """
    try:
        rhs[:] = np.linalg.solve(system, rhs)
    except np.linalg.LinAlgError:
        return 1
    return 0


def invert_definite(matrix: Floats) -> int:
    """Replace a positive definite matrix, of which the lower half counts, by its inverse.

    Returns 0, or another number if the matrix is not positive definite.
    """
    try:
        half = np.linalg.inv(np.linalg.cholesky(matrix))
    except np.linalg.LinAlgError:
        return 1
    matrix[:] = half.T @ half
    return 0


def mirror(matrix: Floats) -> None:
    """Copy the lower half to the upper one."""
    matrix[:] = np.tril(matrix) + np.tril(matrix, -1).T


def multiply(left: Floats, right: Floats, out: Floats) -> None:
    """out = left right."""
    np.matmul(left, right, out=out)


def multiply_rows(left: Floats, right: Floats, out: Floats) -> None:
    """out = left right': the products of all rows."""
    np.matmul(left, right.T, out=out)


def single_gram(rows: Singles, out: Singles) -> None:
    """out = rows rows', in single precision: symmetric to the last bit."""
    np.matmul(rows, rows.T, out=out)


def half_single_gram(rows: Singles, out: Singles) -> None:
    """The lower half of the same."""
    np.matmul(rows, rows.T, out=out)


def multiply_columns(left: Floats, right: Floats, out: Floats) -> None:
    """out = left' right: the products of all columns."""
    np.matmul(left.T, right, out=out)


def factorise_panel(matrix: Floats, begin: int, end: int) -> bool:
    """Replace some columns of a lower triangle by columns of the Cholesky factor.

    Their products are subtracted from the columns behind them.  Returns whether the matrix
    is positive definite in these columns.
    """
    corner = np.tril(matrix[begin:end, begin:end])
    try:
        factor = np.linalg.cholesky(corner + np.tril(corner, -1).T)
    except np.linalg.LinAlgError:
        return False
    matrix[begin:end, begin:end] = factor
    matrix[end:, begin:end] = np.linalg.solve(factor, matrix[end:, begin:end].T).T
    matrix[end:, end:] -= matrix[end:, begin:end] @ matrix[end:, begin:end].T
    return True


def substitute(factor: Floats, x: Floats) -> None:
    """Replace x by the solution u of factor factor' u = x."""
    lower = np.tril(factor)
    x[:] = np.linalg.solve(lower.T, np.linalg.solve(lower, x))


def subtract_product(lower: Floats, x: Floats, out: Floats) -> None:
    """Subtract from ``out`` the product of a symmetric matrix with x.

    The matrix is given by its lower triangle.
    """
    out -= np.tril(lower) @ x + np.tril(lower, -1).T @ x


def seconds() -> float:
    """The time of day."""
    return time.time()


def check_signals() -> None:
    """Do nothing: uncompiled code needs no check for Ctrl-C."""


def solve_rows(system: Floats, rhs: Floats, pivots: Codes) -> int:
    """Replace each row of ``rhs`` by the solution of a symmetric system for it.

    Returns 0, or another number if the system is singular.  The system is overwritten.
    """
    try:
        rhs[:] = np.linalg.solve(system, rhs.T).T
    except np.linalg.LinAlgError:
        return 1
    return 0
