r"""Proximal step sizes t_d of columns.

A row of curvature q_n = sum_d t_d x_nd^2 moves its whole mass w_n when that gains about
q_n w_n.  Gains are losses, of order 1, so steps are right when the mean q is about
1 / sum w_n^2, the effective number of rows; that is free of the units of X.
"""

from __future__ import annotations

import numpy as np

from ...arrays import Floats
from .hinge_rows import Design, compiled

# Columns rarer than this share of the mean get no larger steps.
LEAST_SHARE = 1e-2


@compiled
def column_squares(design, weight, out):  # type: ignore[no-untyped-def]
    """out_d += sum_n w_n x_nd^2."""
    for n in range(len(weight)):
        for k in range(design.indptr[n], design.indptr[n + 1]):
            out[design.indices[k]] += weight[n] * design.data[k] * design.data[k]


@compiled
def row_squares(design, scale, out):  # type: ignore[no-untyped-def]
    """out_n = sum_d scale_d x_nd^2."""
    dense = len(design.indices) == 0
    for n in range(len(out)):
        total = 0.0
        first = design.indptr[n]
        for k in range(first, design.indptr[n + 1]):
            column = k - first if dense else design.indices[k]
            total += scale[column] * design.data[k] * design.data[k]
        out[n] = total


def column_steps(
    design: Design, weight: Floats, n_columns: int, rarity: float
) -> tuple[Floats, Floats]:
    """Steps (columns,) ~ (column mass)^-rarity and the rows' curvatures (N,)."""
    mass = np.zeros(n_columns)
    column_squares(design, weight, mass)
    mean = mass.mean() if mass.any() else 1.0
    shape = np.maximum(mass / mean, LEAST_SHARE) ** -rarity
    curvature = np.empty(len(weight))
    row_squares(design, shape, curvature)
    level = float(weight @ curvature) or 1.0
    factor = effective_rows(weight) / level
    return shape * factor, curvature * factor


def effective_rows(weight: Floats) -> float:
    """1 / sum w_n^2: N for equal weights."""
    return float(weight.sum() ** 2 / (weight @ weight))
