"""Blocks of rows: as many as a processor's cache holds, and what is read of them."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy import sparse

from ..arrays import Floats, Matrix

# Entries of a block of rows: few enough for a processor's cache and to share out blocks
# among threads, enough to hide the cost of a call.
BLOCK_ENTRIES = 1 << 18


def row_blocks(X: Matrix, n_classes: int) -> Iterator[slice]:
    """Slices of about as many rows, of at most BLOCK_ENTRIES features or scores each,
    one row at least."""
    n_rows, n_features = X.shape
    width = max(n_classes, 1 if sparse.issparse(X) else n_features)
    most = max(1, BLOCK_ENTRIES // width)
    n_blocks = -(-n_rows // most)
    step = -(-n_rows // max(n_blocks, 1))
    for start in range(0, n_rows, max(step, 1)):
        yield slice(start, min(start + step, n_rows))


def as_floats(block: Matrix) -> Matrix:
    """A block of rows as float64: X itself may be of narrower numbers, and stays so."""
    return block if block.dtype == np.float64 else block.astype(np.float64)


def scores_of(X: Matrix, coef: Floats, intercept: Floats) -> Floats:
    """X M' + b, block by block."""
    blocks = row_blocks(X, len(coef))
    parts = [np.asarray(as_floats(X[rows]) @ coef.T) + intercept for rows in blocks]
    return np.concatenate(parts)
