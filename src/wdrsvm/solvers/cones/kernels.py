"""The compiled kernels of cones, samples and the interior point's step."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...arrays import Floats
from ..runtime.native import kernels

native: Any = kernels(__package__)


def weighted_gram(curvature: Floats, X: Floats) -> Floats:
    """sum_n curvature_n kron x_n x_n', shape (C Q + 1, C Q + 1).

    Curvatures (N, C + 1, C + 1) are in (z, lam).  The last row and column belong to lam,
    and have sum_n curvature_n[:, lam] x_n.
    """
    lam = curvature.shape[1] - 1
    first, second = np.tril_indices(lam)
    columns = np.ascontiguousarray(X.T)
    gathered = native.Curvature(columns, lam, False)
    gathered.put(
        curvature[:, first, second].T, curvature[:, :lam, lam].T, curvature[:, lam, lam]
    )
    gram: Floats = gathered.gathered()
    return gram
