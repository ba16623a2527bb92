r"""Proximal step sizes t_d of columns.

A row of curvature q_n = sum_d t_d x_nd^2 moves its whole mass w_n when that gains about
q_n w_n.  Gains are losses, of order 1, so steps are right when the mean q is about
1 / sum w_n^2, the effective number of rows; that is free of the units of X.
"""

from __future__ import annotations

import numpy as np

from ...arrays import Floats
from .kernels import column_squares, row_squares
from .samples import StoredMatrix
from .settings import FIRST_ORDER


def column_steps(
    design: StoredMatrix, weight: Floats, n_columns: int, rarity: float
) -> tuple[Floats, Floats]:
    """Steps (columns,) ~ (column mass)^-rarity and the rows' curvatures (N,)."""
    mass = np.zeros(n_columns)
    column_squares(design.record, weight, mass)
    mean = mass.mean() if mass.any() else 1.0
    shape = np.maximum(mass / mean, FIRST_ORDER.least_column_share) ** -rarity
    curvature = np.empty(len(weight))
    row_squares(design.record, shape, curvature)
    level = float(weight @ curvature) or 1.0
    factor = effective_rows(weight) / level
    return shape * factor, curvature * factor


def effective_rows(weight: Floats) -> float:
    """1 / sum w_n^2: N for equal weights."""
    return float(weight.sum() ** 2 / (weight @ weight))


def restoring_factor(ahead: float, behind: float, most: float) -> float:
    """The factor on a step that makes both distances similar; 1 if they nearly are.

    ``most`` is the largest one, and its inverse the least.
    """
    if max(ahead, behind) <= FIRST_ORDER.tolerated_ratio * min(ahead, behind):
        return 1.0
    ratio = behind / ahead if ahead > 0 else np.inf
    return float(min(max(np.sqrt(ratio), 1 / most), most))
