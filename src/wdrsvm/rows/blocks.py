"""Blocks of rows that fit into a processor's cache, and the scores of a whole matrix."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy import sparse

from ..arrays import Floats, Matrix

# Entries of one block.  Few enough for a processor's cache, and for several blocks per
# thread; enough to make the cost of a call negligible.
BLOCK_ENTRIES = 1 << 18


def row_blocks(X: Matrix, n_classes: int) -> Iterator[slice]:
    """Slices of nearly equal numbers of rows.

    Each slice has at most BLOCK_ENTRIES features and at most as many scores, but at least
    one row.
    """
    n_rows, n_features = X.shape
    if 0 < n_rows * max(n_classes, n_features) <= BLOCK_ENTRIES:
        yield slice(0, n_rows)
        return
    width = max(n_classes, 1 if sparse.issparse(X) else n_features)
    most = max(1, BLOCK_ENTRIES // width)
    n_blocks = -(-n_rows // most)
    step = -(-n_rows // max(n_blocks, 1))
    for start in range(0, n_rows, max(step, 1)):
        yield slice(start, min(start + step, n_rows))


def as_floats(block: Matrix) -> Matrix:
    """A block of rows as float64; X itself keeps its number type."""
    return block if block.dtype == np.float64 else block.astype(np.float64)


def scores_of(X: Matrix, coef: Floats, intercept: Floats) -> Floats:
    """Scores X M' + b, shape (N, C), computed block by block."""
    blocks = row_blocks(X, len(coef))
    parts = [np.asarray(as_floats(X[rows]) @ coef.T) + intercept for rows in blocks]
    return np.concatenate(parts)


def dense_rows(X: Matrix) -> Floats:
    """Rows as a dense float64 array."""
    return np.asarray(X.toarray() if sparse.issparse(X) else X, np.float64)
