"""Columns along the principal axes of the rows.

With the l2 norm the solver's columns may be turned: lengths of differences stay as they
are.  Along the principal axes the spread of the rows is a diagonal, and nearly so with
other weights of the rows.  The preconditioner then needs neither a (Q, Q) moment of the
rows nor its eigenvectors again.  Where columns hardly vary together, or rows are few, the
axes take longer than the steps that they spare.  The columns are then taken as they are, as
if they were the axes.

With many rows it takes less time to turn coefficients and gradients in each pass than to
turn the rows.  Then the rows stay as they are (``Axes``).  Other norms see a turn.  There
the columns stay, too, and the axes are the basis of the preconditioner alone.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from scipy import linalg

from .....arrays import Floats
from .....problem import RobustProblem
from .....rows.reduce import added
from ....scaling import Scaling
from ..row_steps import axes_share, spread_rows
from ..settings import PRODUCTS

# Columns of sizes farther apart than this lose digits in single precision when turned.
MOST_UNEQUAL = 1e4
ROUNDING = 1e-10


@dataclass(frozen=True, eq=False)
class Axes:
    """The principal axes of rows whose columns stay as they are.

    ``turn`` (T, T) has the axes of the touchable columns, ``squares`` (Q,) the mean squares
    of the rows along them and in the other columns.
    """

    turn: Floats
    squares: Floats

    def on_columns(self, coef: Floats) -> Floats:
        """Coefficients (..., Q) on the axes as ones on the columns of the rows."""
        return self._turned(coef, self.turn.T)

    def along(self, rows: Floats) -> Floats:
        """Rows or gradients (..., Q) on the axes."""
        return self._turned(rows, self.turn)

    def _turned(self, rows: Floats, turn: Floats) -> Floats:
        turned, n = rows.copy(), len(turn)
        turned[..., :n] = rows[..., :n].astype(turn.dtype, copy=False) @ turn
        return turned

    @property
    def whole(self) -> Floats:
        """The axes of all columns (Q, Q): those that are not turned are their own."""
        whole, n = np.eye(len(self.squares)), len(self.turn)
        whole[:n, :n] = self.turn
        return whole

    def moment(self, block: Any, weight: Any) -> Any:
        """About the sums of  w x_q^2  on each axis: those of all rows, with this weight."""
        return weight.sum() * self.squares


class Turned(NamedTuple):
    """The scaling after a turn; whether columns count as principal axes, and the axes if
    the rows stay as they are; or axes that serve as a basis alone."""

    scaling: Scaling
    is_principal: bool = False
    axes: Axes | None = None
    basis: Axes | None = None


def along_axes(scaling: Scaling, prepared: RobustProblem) -> Turned:
    """Turn columns where that pays; ``prepared`` has rows of its own in the columns."""
    if prepared.is_distributed:
        return Turned(scaling)
    share = axes_share(prepared)
    if prepared.norm != "l2":
        # Where it is quick, the basis of each point is better.
        is_slow = _work_of_rows(prepared) > _work_of_step(prepared)
        found = principal_axes(scaling.n_touchable, prepared, share) if is_slow else None
        return Turned(scaling, basis=found)
    if not turn_pays(prepared, scaling.n_touchable):
        return Turned(scaling, is_principal=True)
    return along_principal_axes(scaling, prepared, share)


def turn_pays(prepared: RobustProblem, n_touchable: int) -> bool:
    """Whether the steps that principal axes spare take longer than to find the axes.

    Work is counted in multiply-adds of large matrix products.
    """
    n_rows, n_columns = prepared.X.shape
    n_telling = axes_share(prepared) * n_rows
    axes = PRODUCTS.axes_work * n_columns**3 + n_telling / 2 * n_columns**2
    axes += min(_work_of_rows(prepared), _work_of_passes(prepared))
    step = _work_of_step(prepared)
    least, most = PRODUCTS.spared_steps
    if least * step >= axes:
        return True
    some = np.linspace(0, n_rows - 1, min(n_rows, PRODUCTS.correlation_rows))
    excess = correlation(prepared.X[some.astype(np.intp), :n_touchable]) - 1
    spared = min(max(PRODUCTS.spared_per_correlation * excess, least), most)
    return bool(spared * step >= axes)


def rows_stay(prepared: RobustProblem) -> bool:
    """Whether coefficients and gradients are turned in each pass, and not the rows.

    Rows that are turned within the time of a step know the squares along the axes under any
    weights.
    """
    work = max(_work_of_passes(prepared), _work_of_step(prepared))
    return _work_of_rows(prepared) > work


def _work_of_rows(prepared: RobustProblem) -> float:
    """To turn all rows."""
    n_rows, n_columns = prepared.X.shape
    return float(n_rows * n_columns**2)


def _work_of_passes(prepared: RobustProblem) -> float:
    """To turn coefficients and gradients in each pass of a fit."""
    turns = 2 * PRODUCTS.passes * prepared.n_classes
    return float(turns * prepared.X.shape[1] ** 2)


def _work_of_step(prepared: RobustProblem) -> float:
    """Products with few classes wait for memory, as if there were more classes."""
    n_classes = prepared.n_classes + PRODUCTS.least_product_classes
    return float(2 * prepared.X.size * n_classes + PRODUCTS.step_overhead)


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
    scaling: Scaling, prepared: RobustProblem, share: float = 1.0
) -> Turned:
    """Columns along the axes that this share of the rows tells."""
    axes = principal_axes(scaling.n_touchable, prepared, share)
    if axes is None:
        return Turned(scaling)
    rotation, before = axes.turn.astype(np.float64), scaling.rotation
    rotation = rotation if before is None else before @ rotation
    scaling = replace(scaling, rotation=rotation)
    if rows_stay(prepared):
        return Turned(scaling, True, axes)
    _turn_rows(prepared, axes.turn)
    return Turned(scaling, True)


def principal_axes(n: int, prepared: RobustProblem, share: float = 1.0) -> Axes | None:
    """The axes of the first n columns that this share of the rows tells.

    None if columns have such unequal sizes that a turn would lose their digits.
    """
    with prepared.reduction() as reduction:
        second = reduction.fold(partial(_moment_of_share, share), added)
    squares = np.diag(second).copy()
    if not _are_alike(squares[:n]):
        return None
    told = second[:n, :n].astype(prepared.X.dtype)
    # The fastest way if all axes are wanted.
    squares[:n], turn = linalg.eigh(told, driver="evd", check_finite=False)
    return Axes(turn, np.maximum(squares, 0.0))


def _turn_rows(prepared: RobustProblem, turn: Floats) -> None:
    """In place, a block at a time."""
    rows, n = prepared.X, len(turn)
    for block in prepared.blocks():
        rows[block, :n] = rows[block, :n] @ turn


def _are_alike(squares: Floats) -> bool:
    """Whether columns with these mean squares have sizes of about one order.

    Columns that are rounding beside the others do not count.
    """
    sizes = np.sqrt(squares)
    largest = float(sizes.max(initial=0.0))
    counted = sizes[sizes > ROUNDING * largest]
    return largest < np.inf and bool((counted * MOST_UNEQUAL >= largest).all())


def _moment_of_share(share: float, problem: RobustProblem, rows: slice) -> Floats:
    """The moment of about this share of the rows, as if it were that of all of them."""
    some = spread_rows(rows, share)
    told = float(problem.weight[some].sum())
    growth = float(problem.weight[rows].sum()) / told if told > 0 else 0.0
    return np.asarray(growth * _moment_of(some, problem), dtype=np.float64)


def second_moment_of(every: int, problem: RobustProblem, rows: slice) -> Floats:
    """sum w x x' (Q, Q) of some rows in the solver's columns."""
    some = slice(rows.start, rows.stop, every)
    return np.asarray(every * _moment_of(some, problem), dtype=np.float64)


def _moment_of(some: Any, problem: RobustProblem) -> Any:
    block, weight = problem.X[some], problem.weight[some]
    return moment(block, weight.astype(block.dtype))


def moment(block: Any, weight: Any) -> Any:
    """sum w x x': a matrix times its own transpose, which takes half of a product."""
    scaled = block * np.sqrt(weight)[:, None]
    return scaled.T @ scaled


def squares_of(every: int, problem: RobustProblem, rows: slice) -> Floats:
    """The diagonal of the second moment alone (Q,)."""
    some = slice(rows.start, rows.stop, every)
    return np.asarray(every * squares(problem.X[some], problem.weight[some]))


def squares(block: Any, weight: Any) -> Any:
    """sum w x_q^2 for each column q: the diagonal of the moment."""
    return weight @ (block * block)
