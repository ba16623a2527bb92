"""``blas.pxi`` in NumPy, for runs that are not compiled."""

from __future__ import annotations

import time

import numpy as np

from ..arrays import Floats


def seconds() -> float:
    return time.time()


def check_signals() -> None:
    """Python handles signals by itself."""


def multiply(a: Floats, b: Floats, out: Floats) -> None:
    np.matmul(a, b, out=out)


def multiply_rows(a: Floats, b: Floats, out: Floats) -> None:
    np.matmul(a, b.T, out=out)


def factorise(matrix: Floats) -> bool:
    whole = np.tril(matrix) + np.tril(matrix, -1).T
    try:
        matrix[...] = np.linalg.cholesky(whole)
    except np.linalg.LinAlgError:
        return False
    return True


def substitute(factor: Floats, x: Floats) -> None:
    lower = np.tril(factor)
    x[:] = np.linalg.solve(lower.T, np.linalg.solve(lower, x))


def subtract_product(matrix: Floats, x: Floats, out: Floats) -> None:
    out -= np.tril(matrix) @ x + np.tril(matrix, -1).T @ x
