"""Passes over rows held in the solver's columns: one matrix product in, one out.

In between, a compiled softmax goes over a block of scores that lies in the cache.  Blocks
do not depend on threads, and their sums have the size of the coefficients.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from ....arrays import Floats
from ....problem import RobustProblem
from ....rows.reduce import Reduction, added
from ...scaling import Scaling
from .. import kernels
from .settings import PRODUCTS


class At(NamedTuple):
    """The point of a pass: coefficients (C, Q), the price of a flip, which is infinite for
    trusted labels, and the smoothing of the maximum over labels."""

    coef: Floats
    price: float = np.inf
    mu: float = 1.0


class LossSums(NamedTuple):
    """The mean loss and its gradient (C, Q), and the mass of the flips, each times the
    trust in the label."""

    loss: float
    gradient: Floats
    flipped: float = 0.0


class CurvatureSums(NamedTuple):
    """Sums of the curvature q_nc of each score alone: its mass (C,), q x' (C, Q), and
    (sum_c q) x x' (Q, Q)."""

    mass: Floats
    first: Floats
    second: Floats


def in_columns(scaling: Scaling, kind: Any, problem: RobustProblem) -> RobustProblem:
    """The problem with its rows in the solver's columns."""
    design = np.empty((problem.n_rows, scaling.n_columns), dtype=kind)
    for rows in problem.blocks():
        design[rows] = scaling.design(problem.X[rows])
    return problem.with_rows(X=design)


@dataclass(frozen=True, eq=False)
class Design:
    """Rows in the solver's columns, numbers of ``kind``, and the passes over them.

    Sums for steps, unlike sums for a certificate, may take one row out of ``every``.
    """

    scaling: Scaling
    reduction: Reduction
    kind: Any = np.float64
    every: int = 1

    def evaluate(self, at: At) -> LossSums:
        """The loss and its gradient."""
        sums: LossSums = self.reduction.fold(partial(_loss_sums, at), added)
        return sums

    def curvature(self, at: At) -> CurvatureSums:
        """The sums from which the preconditioner is made."""
        work = partial(_curvature_sums, at, self.every)
        sums: CurvatureSums = self.reduction.fold(work, added)
        return sums

    def class_sums(self) -> tuple[Floats, Floats]:
        """Sums of w x for each label (C, Q), and the second moment (Q, Q)."""
        work = partial(_class_sums, self.every)
        sums: tuple[Floats, Floats] = self.reduction.fold(work, added)
        return sums


def row_step(n_rows: int, n_columns: int) -> int:
    """The distance between visited rows, such that enough rows are visited."""
    enough = max(PRODUCTS.least_curvature_rows, PRODUCTS.rows_per_column * n_columns)
    return max(1, n_rows // enough)


def _softened(
    at: At, is_spread: bool, problem: RobustProblem, rows: slice
) -> tuple[float, float, Any, Any]:
    """Loss and flips of some rows, their slopes or spreads (C, n), and the rows."""
    block, loss, flipped = problem.X[rows], problem.loss, 0.0
    scores = (at.coef.astype(block.dtype) @ block.T).astype(np.float64)
    y, weight = map(np.ascontiguousarray, (problem.y[rows], problem.weight[rows]))
    told = scores, y, weight, loss.temperature
    if at.price < np.inf:
        trust = (
            np.ones(len(y)) if problem.label_trust is None else problem.label_trust[rows]
        )
        value, paid = kernels.soften_flips(*told, at.price * trust, at.mu, is_spread)
        flipped = paid / at.price
    else:
        value = kernels.soften_columns(*told, loss.margin, is_spread)
    return value, flipped, scores.astype(block.dtype), block


def _loss_sums(at: At, problem: RobustProblem, rows: slice) -> LossSums:
    loss, flipped, slopes, block = _softened(at, False, problem, rows)
    return LossSums(loss, (slopes @ block).astype(np.float64), flipped)


def _curvature_sums(
    at: At, every: int, problem: RobustProblem, rows: slice
) -> CurvatureSums:
    rows = slice(rows.start, rows.stop, every)
    _, _, spread, block = _softened(at, True, problem, rows)
    parts = spread.sum(axis=1), spread @ block, _moment(block, spread.sum(axis=0))
    return CurvatureSums(*(every * part.astype(np.float64) for part in parts))


def _class_sums(every: int, problem: RobustProblem, rows: slice) -> tuple[Floats, Floats]:
    block, weight, y = problem.X[rows], problem.weight[rows], problem.y[rows]
    shape = problem.n_classes, len(block)
    own = sparse.csc_array((weight, y, np.arange(len(block) + 1)), shape=shape)
    second = every * _moment(block[::every], weight[::every].astype(block.dtype))
    return np.asarray(own @ block), second.astype(np.float64)


def _moment(block: Any, weight: Any) -> Any:
    """sum w x x': a matrix times its own transpose, which takes half of a product."""
    scaled = block * np.sqrt(weight)[:, None]
    return scaled.T @ scaled
