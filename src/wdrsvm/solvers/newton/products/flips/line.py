"""The loss along a line where labels can be flipped.

At each length the price of a flip follows from the spans of all rows (``memory``).  So a
look has two halves, both without a product.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from .....arrays import Floats
from .....problem import RobustProblem
from .....rows.reduce import added
from ..design import At, Design
from ..line import Ahead, BlockScores, Line
from .memory import FlipDesign
from .spanned import Spanned

NO_COEF = np.empty((0, 0))


class FlipLine(Line):
    """Beside the scores, it keeps a share for each row and class."""

    design: FlipDesign
    price = 0.0

    def __init__(self, design: FlipDesign, n_classes: int):
        super().__init__(design, n_classes)
        n_rows = design.problem.n_rows
        shares = BlockScores(n_rows, n_classes, design.kind)
        self.numbers = np.empty((3, n_rows))
        self.spanned = {
            rows.start: Spanned(
                self.parts[rows.start].block, shares[rows], *self.numbers[:, rows]
            )
            for rows in design.problem.blocks()
        }

    def look(self, length: float, *told: float) -> Ahead:
        self.length = length
        least, mu = told
        at, fold = At(NO_COEF, least, mu), self.design.reduction.fold
        fold(partial(self._fill_spans, at.mu), added)
        # The price changes little from look to look.
        self.price = self.design.price(at, self.numbers[0], self.price)
        at = at._replace(price=self.price)
        sums = fold(partial(self._soften_flips, at), added)
        loss, slope, flipped, more, smoothing = sums.tolist()
        return Ahead(loss, slope, 0.0, flipped, more, smoothing, at.price)

    def _fill_spans(self, mu: float, problem: RobustProblem, rows: slice) -> None:
        self._scored(rows)
        self.spanned[rows.start].fill(self.design.prior(rows), mu)

    def _soften_flips(self, at: At, problem: RobustProblem, rows: slice) -> Floats:
        """As in ``Ahead``, without the bend and the price."""
        spanned, prior = self.spanned[rows.start], self.design.prior(rows)
        sums = spanned.soften(at, prior, problem.loss.temperature, False)
        slope = float(np.vdot(spanned.block.scores, self.parts[rows.start].along))
        return np.array([sums.loss, slope, sums.flipped, sums.added, sums.smoothing])


def line_of(design: Design, n_classes: int) -> Line | None:
    """None where scores are not kept."""
    if not design.keeps_scores:
        return None
    if isinstance(design, FlipDesign):
        return FlipLine(design, n_classes)
    return Line(design, n_classes)
