"""How many rows are visited where not all of them are needed."""

from __future__ import annotations

import math

import numpy as np

from ....arrays import Codes
from ....problem import RobustProblem
from .settings import PRODUCTS

GOLDEN = (math.sqrt(5) - 1) / 2


def row_step(n_rows: int, n_columns: int, n_classes: int) -> int:
    """The distance between the rows that tell the curvature."""
    enough = max(PRODUCTS.least_curvature_rows, PRODUCTS.rows_per_column * n_columns)
    return step_to(enough, n_rows, n_classes)


def axes_share(prepared: RobustProblem) -> float:
    """The share of the rows that tell the principal axes.

    Few columns need many rows, too: rare, long rows may have most of the spread.
    """
    n_rows, n_columns = prepared.X.shape
    enough = max(PRODUCTS.least_curvature_rows, PRODUCTS.axes_rows_per_column * n_columns)
    return float(min(1.0, enough / max(n_rows, 1)))


def spread_rows(rows: slice, share: float) -> slice | Codes:
    """About this share of the rows, spread evenly, whatever the order of their labels.

    Multiples of the golden ratio never keep step with labels that come in turns.
    """
    if share >= 1:
        return rows
    every = np.arange(rows.start, rows.stop)
    return every[every * GOLDEN % 1 < share]


def step_to(enough: int, n_rows: int, n_classes: int) -> int:
    """A distance at which enough rows are visited.

    It has no divisor in common with the number of classes: of labels in turns, some would
    never be visited.
    """
    step = max(1, n_rows // enough)
    while math.gcd(step, n_classes) > 1:
        step -= 1
    return step
