"""BLAS and LAPACK for kernels that run uncompiled; compiled ones have ``blas.pyx``."""

from __future__ import annotations

import numpy as np

from ...arrays import Codes, Floats


def solve(system: Floats, rhs: Floats, pivots: Codes) -> int:
    """Replace ``rhs`` by the solution; 0, or not if the system is singular.

    The system is overwritten, and ``pivots`` is room to work in.
    """
    try:
        rhs[:] = np.linalg.solve(system, rhs)
    except np.linalg.LinAlgError:
        return 1
    return 0


def invert_definite(matrix: Floats) -> int:
    """Replace a positive definite matrix by its inverse; 0, or not if it is none."""
    try:
        matrix[:] = np.linalg.inv(matrix)
    except np.linalg.LinAlgError:
        return 1
    return 0


def multiply(left: Floats, right: Floats, out: Floats) -> None:
    """out = left right."""
    np.matmul(left, right, out=out)


def solve_rows(system: Floats, rhs: Floats, pivots: Codes) -> int:
    """Replace each row of ``rhs`` by the solution of a symmetric system for it.

    0, or not if the system is singular.  The system is overwritten.
    """
    try:
        rhs[:] = np.linalg.solve(system, rhs.T).T
    except np.linalg.LinAlgError:
        return 1
    return 0
