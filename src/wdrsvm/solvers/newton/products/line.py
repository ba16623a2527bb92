r"""The loss along a line, without a matrix product for each point.

Scores are linear in the coefficients: at M + t S they are those at M plus t times those of
the step S.  Both are kept, one number for each row and class.  One product gives the scores
of a step, then a softmax alone tells the loss at any length t, and one product with the
slopes at the length chosen gives the gradient there.
"""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

import numpy as np

from ....arrays import Floats
from ....problem import RobustProblem
from ....rows.reduce import accumulated, added
from .design import BlockScores, Design, LossSums, ScoredBlock, soften
from .settings import PRODUCTS


class Ahead(NamedTuple):
    """The loss at some length, its slope in the length, and its curvature along the
    coefficients themselves."""

    loss: float
    slope: float
    bend: float


class Line:
    """The scores at a point and along a step.

    Rounding of the scores of long steps stays in the sums.  ``steepest`` is the largest
    slope of a step since scores were computed from a point alone.
    """

    def __init__(self, design: Design, n_classes: int):
        self.design, self.length, self.steepest = design, 0.0, 0.0
        self.here, self.along, self.slopes = (
            BlockScores(design.problem_of_rows.n_rows, n_classes, design.kind)
            for _ in range(3)
        )

    def begin(self, coef: Floats) -> LossSums:
        """The sums at a point, with scores computed from its coefficients alone."""
        self.here.flat[:], self.steepest = 0.0, 0.0
        self.aim(coef)
        return self.go(self.look(1.0))

    def aim(self, step: Floats) -> None:
        """Look along this step (C, Q)."""
        seen = self.design.on_columns(step.astype(self.design.kind))
        self.design.reduction.fold(partial(self._fill_along, seen), added)

    def look(self, length: float) -> Ahead:
        """The loss there; its slopes are kept for ``go``."""
        self.length = length
        found: Ahead = self.design.reduction.fold(self._soften, added)
        return found

    def go(self, ahead: Ahead) -> LossSums:
        """Move to the last length looked at; the sums there."""
        gradient = self.design.reduction.fold(self._gradient, accumulated)
        gradient = self.design.along(np.asarray(gradient, dtype=np.float64))
        return LossSums(ahead.loss, gradient, price=np.inf, bend=ahead.bend)

    def arrive(self, coef: Floats, ahead: Ahead, slope: float) -> LossSums:
        """As ``go``, but afresh if the first steps were far steeper than this one."""
        self.steepest = max(self.steepest, -slope)
        is_stale = -slope < PRODUCTS.stale * self.steepest
        return self.begin(coef) if is_stale else self.go(ahead)

    def _fill_along(self, step: Floats, problem: RobustProblem, rows: slice) -> None:
        np.matmul(step, problem.X[rows].T, out=self.along[rows])

    def _soften(self, problem: RobustProblem, rows: slice) -> Ahead:
        along, slopes = self.along[rows], self.slopes[rows]
        np.multiply(along, self.design.kind(self.length), out=slopes)
        slopes += self.here[rows]
        sums = soften(False, problem, ScoredBlock.at(slopes, problem, rows))
        return Ahead(sums.loss, float(np.vdot(slopes, along)), sums.bend)

    def _gradient(self, problem: RobustProblem, rows: slice) -> Floats:
        self.here[rows][:] += self.design.kind(self.length) * self.along[rows]
        return np.asarray(self.slopes[rows] @ problem.X[rows])
