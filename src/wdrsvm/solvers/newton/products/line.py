r"""The loss along a line, without a matrix product for each point.

Scores are linear in the coefficients: at M + t S they are those at M plus t times those of
the step S.  Both are kept, one number for each row and class.  One product gives the scores
of a step, then a softmax alone tells the loss at any length t, and one product with the
slopes at the length chosen gives the gradient there.
"""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import numpy as np

from ....arrays import Floats
from ....problem import RobustProblem
from ....rows.reduce import accumulated, added
from .design import Design, LossSums, ScoredBlock, soften
from .settings import PRODUCTS


class BlockScores:
    """A number for each row and class: (C, n) for each block of rows, in one array."""

    def __init__(self, n_rows: int, n_classes: int, kind: Any):
        self.n_classes = n_classes
        self.flat = np.empty(n_rows * n_classes, dtype=kind)

    def __getitem__(self, rows: slice) -> Floats:
        first, last = rows.start * self.n_classes, rows.stop * self.n_classes
        return self.flat[first:last].reshape(self.n_classes, -1)


class Ahead(NamedTuple):
    """The loss at some length, its slope in the length, and its curvature along the
    coefficients themselves.  The others are those of ``LossSums``, where labels can be
    flipped."""

    loss: float
    slope: float
    bend: float
    flipped: float = 0.0
    added: float = 0.0
    smoothing: float = 0.0
    price: float = np.inf

    def sums(self, gradient: Floats) -> LossSums:
        told = self.flipped, self.added, self.smoothing, self.price, self.bend
        return LossSums(self.loss, gradient, *told)


class BlockOfLine(NamedTuple):
    """A block of rows, its scores (C, n) here, along the step and at some length.

    They are views of the tables of all rows.  With many blocks it would take as long to
    make them anew as to find the sums.
    """

    here: Floats
    along: Floats
    block: ScoredBlock


class Line:
    """The scores at a point and along a step.

    Rounding of the scores of long steps stays in the sums.  ``steepest`` is the largest
    slope of a step since scores were computed from a point alone.
    """

    def __init__(self, design: Design, n_classes: int):
        self.design, self.length, self.steepest = design, 0.0, 0.0
        problem = design.problem_of_rows
        here, along, slopes = (
            BlockScores(problem.n_rows, n_classes, design.kind) for _ in range(3)
        )
        self.here = here
        self.parts = {
            rows.start: BlockOfLine(
                here[rows], along[rows], ScoredBlock.at(slopes[rows], problem, rows)
            )
            for rows in problem.blocks()
        }

    def begin(self, coef: Floats, *told: float) -> LossSums:
        """The sums at a point, with scores computed from its coefficients alone.

        ``told``: the least price of a flip and the smoothing of labels, if these can be
        flipped.
        """
        self.here.flat[:], self.steepest = 0.0, 0.0
        self.aim(coef)
        return self.go(self.look(1.0, *told))

    def aim(self, step: Floats) -> None:
        """Look along this step (C, Q)."""
        seen = self.design.on_columns(step.astype(self.design.kind))
        self.design.reduction.fold(partial(self._fill_along, seen), added)

    def look(self, length: float, *told: float) -> Ahead:
        """The loss there; its slopes are kept for ``go``."""
        self.length = length
        return Ahead(*self.design.reduction.fold(self._soften, added).tolist())

    def go(self, ahead: Ahead) -> LossSums:
        """Move to the last length looked at; the sums there."""
        gradient = self.design.reduction.fold(self._gradient, accumulated)
        gradient = self.design.along(np.asarray(gradient, dtype=np.float64))
        return ahead.sums(gradient)

    def arrive(self, coef: Floats, ahead: Ahead, slope: float, *told: float) -> LossSums:
        """As ``go``, but afresh if the first steps were far steeper than this one."""
        self.steepest = max(self.steepest, -slope)
        is_stale = -slope < PRODUCTS.stale * self.steepest
        return self.begin(coef, *told) if is_stale else self.go(ahead)

    def _fill_along(self, step: Floats, problem: RobustProblem, rows: slice) -> None:
        part = self.parts[rows.start]
        np.matmul(step, part.block.rows.T, out=part.along)

    def _soften(self, problem: RobustProblem, rows: slice) -> Floats:
        """As in ``Ahead``."""
        block = self._scored(rows)
        sums = soften(False, problem, block)
        slope = float(np.vdot(block.scores, self.parts[rows.start].along))
        return np.array([sums.loss, slope, sums.bend])

    def _scored(self, rows: slice) -> ScoredBlock:
        """A block at the scores of the length."""
        here, along, block = self.parts[rows.start]
        np.multiply(along, self.design.kind(self.length), out=block.scores)
        np.add(block.scores, here, out=block.scores)
        return block

    def _gradient(self, problem: RobustProblem, rows: slice) -> Floats:
        here, along, block = self.parts[rows.start]
        if self.length != 0:
            np.add(here, self.design.kind(self.length) * along, out=here)
        return np.asarray(block.scores @ block.rows)
