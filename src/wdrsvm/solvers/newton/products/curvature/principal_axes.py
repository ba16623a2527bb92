"""Columns along the principal axes of the rows.

With the l2 norm the solver's columns may be turned: lengths of differences stay as they
are.  Along the principal axes the spread of the rows is a diagonal, and nearly so with
other weights of the rows.  The preconditioner then needs neither a (Q, Q) moment of the
rows nor its eigenvectors again.  Where columns hardly vary together, or rows are few, the
axes take longer than the steps that they spare.  The columns are then taken as they are, as
if they were the axes.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from .....arrays import Floats
from .....problem import RobustProblem
from .....rows.reduce import added
from ....scaling import Scaling
from ..row_steps import axes_step
from ..settings import PRODUCTS

# Columns of sizes farther apart than this lose digits in single precision when turned.
MOST_UNEQUAL = 1e4
ROUNDING = 1e-10


def turn_pays(prepared: RobustProblem, n_touchable: int) -> bool:
    """Whether the steps that principal axes spare take longer than to find the axes.

    Work is counted in multiply-adds of large matrix products.  Products with few classes
    wait for memory, as if there were more classes.
    """
    n_rows, n_columns = prepared.X.shape
    n_telling = n_rows / axes_step(prepared)
    turn = PRODUCTS.axes_work * n_columns**3 + (n_rows + n_telling / 2) * n_columns**2
    n_classes = prepared.n_classes + PRODUCTS.least_product_classes
    step = 2 * n_rows * n_columns * n_classes + PRODUCTS.step_overhead
    least, most = PRODUCTS.spared_steps
    if least * step >= turn:
        return True
    some = np.linspace(0, n_rows - 1, min(n_rows, PRODUCTS.correlation_rows))
    excess = correlation(prepared.X[some.astype(np.intp), :n_touchable]) - 1
    spared = min(max(PRODUCTS.spared_per_correlation * excess, least), most)
    return bool(spared * step >= turn)


def correlation(rows: Floats) -> float:
    """How much columns vary together: the squares of all their mean products, relative to
    those of each with itself.  It is 1 for columns that are independent.

    Products of two rows tell it without a table of all pairs of columns.
    """
    n_rows, products = len(rows), rows @ rows.T
    others = float(np.vdot(products, products)) - float((products.diagonal() ** 2).sum())
    alone = float(((rows**2).mean(axis=0) ** 2).sum())
    return others / (n_rows * (n_rows - 1) * alone) if alone > 0 and n_rows > 1 else 1.0


def along_principal_axes(
    scaling: Scaling, prepared: RobustProblem, every: int
) -> tuple[Scaling, bool]:
    """The scaling after the turn, and whether columns were turned.

    ``prepared`` has rows of its own in the solver's columns: they are turned in place.  One
    row out of ``every`` tells the axes.
    """
    n = scaling.n_touchable
    with prepared.reduction() as reduction:
        second = reduction.fold(partial(second_moment_of, every), added)
    if not _are_alike(np.diag(second)[:n]):
        return scaling, False
    axes = np.linalg.eigh(second[:n, :n])[1]
    turn, rows = axes.astype(prepared.X.dtype), prepared.X
    for block in prepared.blocks():
        rows[block, :n] = rows[block, :n] @ turn
    before = scaling.rotation
    rotation = axes if before is None else before @ axes
    return replace(scaling, rotation=rotation), True


def _are_alike(squares: Floats) -> bool:
    """Whether columns with these mean squares have sizes of about one order.

    Columns that are rounding beside the others do not count.
    """
    sizes = np.sqrt(squares)
    largest = float(sizes.max(initial=0.0))
    counted = sizes[sizes > ROUNDING * largest]
    return largest < np.inf and bool((counted * MOST_UNEQUAL >= largest).all())


def second_moment_of(every: int, problem: RobustProblem, rows: slice) -> Floats:
    """sum w x x' (Q, Q) of some rows in the solver's columns."""
    some = slice(rows.start, rows.stop, every)
    block, weight = problem.X[some], problem.weight[some]
    return np.asarray(every * moment(block, weight.astype(block.dtype)), dtype=np.float64)


def moment(block: Any, weight: Any) -> Any:
    """sum w x x': a matrix times its own transpose, which takes half of a product."""
    scaled = block * np.sqrt(weight)[:, None]
    return scaled.T @ scaled
