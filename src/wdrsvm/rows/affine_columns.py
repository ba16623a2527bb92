"""Columns shifted and scaled where they are read, block by block, without a copy of X."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from ..arrays import Floats, Matrix
from .memory_rows import n_bytes


@dataclass(frozen=True, eq=False)
class AffineColumns:
    """The matrix (X - centre) / width, which is dense; only rows that are read exist.

    X is dense or CSR, in memory or in a memory map; ``centre`` and ``width`` are (P,).
    """

    X: Matrix
    centre: Floats
    width: Floats

    @property
    def shape(self) -> tuple[int, int]:
        return int(self.X.shape[0]), int(self.X.shape[1])

    @property
    def nbytes(self) -> int:
        """The bytes of X, which the columns keep alive."""
        return n_bytes(self.X)

    def __getitem__(self, rows: Any) -> Floats:
        block = self.X[rows]
        dense = block.toarray() if sparse.issparse(block) else block
        return np.asarray((dense - self.centre) / self.width)
