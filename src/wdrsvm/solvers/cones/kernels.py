"""The compiled kernels of cones, samples and the interior point's step."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from ...arrays import Codes, Floats
from ..runtime.native import kernels

native: Any = kernels(__package__)


def weighted_gram(curvature: Floats, X: Floats) -> Floats:
    """sum_n curvature_n kron x_n x_n', shape (C Q + 1, C Q + 1).

    Curvatures (N, C + 1, C + 1) are in (z, lam).  The last row and column belong to lam,
    and have sum_n curvature_n[:, lam] x_n.
    """
    lam = curvature.shape[1] - 1
    first, second = _lower_triangle(lam)
    columns = np.ascontiguousarray(X.T)
    gathered = native.Curvature(columns, lam, False)
    gathered.put(
        curvature[:, first, second].T, curvature[:, :lam, lam].T, curvature[:, lam, lam]
    )
    gram: Floats = gathered.gathered()
    return gram


@lru_cache(maxsize=64)
def _lower_triangle(size: int) -> tuple[Codes, Codes]:
    """Rows and columns of the lower triangle; making them takes longer than a small sum."""
    first, second = np.tril_indices(size)
    first.setflags(write=False)
    second.setflags(write=False)
    return first, second
