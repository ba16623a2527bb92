"""Columns along the principal axes of the rows.

With the l2 norm the solver's columns may be turned: lengths of differences stay as they
are.  Along the principal axes the spread of the rows is a diagonal, and nearly so with
other weights of the rows.  The preconditioner then needs neither a (Q, Q) moment of the
rows nor its eigenvectors again.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from ....arrays import Floats
from ....problem import RobustProblem
from ....rows.reduce import added
from ...scaling import Scaling


def along_principal_axes(
    scaling: Scaling, prepared: RobustProblem, every: int
) -> tuple[Scaling, RobustProblem]:
    """Scaling and rows after the turn; one row out of ``every`` tells the axes.

    ``prepared`` has rows of its own in the solver's columns: they are turned in place.
    """
    n = scaling.n_touchable
    with prepared.reduction() as reduction:
        second = reduction.fold(partial(second_moment_of, every), added)
    axes = np.linalg.eigh(second[:n, :n])[1]
    turn, rows = axes.astype(prepared.X.dtype), prepared.X
    for block in prepared.blocks():
        rows[block, :n] = rows[block, :n] @ turn
    before = scaling.rotation
    rotation = axes if before is None else before @ axes
    return replace(scaling, rotation=rotation), prepared


def second_moment_of(every: int, problem: RobustProblem, rows: slice) -> Floats:
    """sum w x x' (Q, Q) of some rows in the solver's columns."""
    some = slice(rows.start, rows.stop, every)
    block, weight = problem.X[some], problem.weight[some]
    return np.asarray(every * moment(block, weight.astype(block.dtype)), dtype=np.float64)


def moment(block: Any, weight: Any) -> Any:
    """sum w x x': a matrix times its own transpose, which takes half of a product."""
    scaled = block * np.sqrt(weight)[:, None]
    return scaled.T @ scaled
