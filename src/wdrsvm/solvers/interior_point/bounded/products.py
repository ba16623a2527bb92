"""Large matrix products in short calls: Python answers signals only between the calls."""

from __future__ import annotations

from scipy.linalg.blas import dsyrk

from ....arrays import Floats
from ...cones.settings import CONES

# A call with fewer rows takes most of its time to read and write the matrix.
LEAST_ROWS = 16


def subtract_square(matrix: Floats, rows: Floats) -> None:
    """Subtract rows' rows from the lower triangle of a matrix, in place."""
    n_rows = max(CONES.max_product_work // len(matrix) ** 2, LEAST_ROWS)
    for first in range(0, len(rows), n_rows):
        block = rows[first : first + n_rows].T
        # BLAS stores by columns: for it, this triangle is the upper one.
        dsyrk(-1.0, block, beta=1.0, c=matrix.T, overwrite_c=1)
