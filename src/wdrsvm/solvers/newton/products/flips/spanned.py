"""Softened blocks of rows whose labels can be flipped."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .....arrays import Floats
from ... import kernels
from ..design import At, LossSums, ScoredBlock

SOFTEN_FLIPS = {"f": kernels.soften_single_flips, "d": kernels.soften_flips}


class Spanned(NamedTuple):
    """A block with the shares of the other labels (C, n), and the span, the mean score and
    the scale of the shares of each row (``native.flips``).

    Numbers for each row and class are of the kind of the scores.
    """

    block: ScoredBlock
    shares: Floats
    spans: Floats
    means: Floats
    scales: Floats

    @classmethod
    def of(cls, block: ScoredBlock, prior: Floats, mu: float) -> Spanned:
        n_rows, scores = len(block.y), np.ascontiguousarray(block.scores)
        block = block._replace(scores=scores)
        rows = np.empty((3, n_rows))
        found = cls(block, np.empty_like(scores), *rows)
        found.fill(prior, mu)
        return found

    def fill(self, prior: Floats, mu: float) -> None:
        """Find the shares and spans at the scores."""
        scores, y = self.block.scores, self.block.y
        kernels.find_spans(scores, prior, y, mu, *self[1:])

    def soften(
        self, at: At, prior: Floats, temperature: float, is_spread: bool
    ) -> LossSums:
        """Replace the scores by slopes or spreads, and the shares by masses Q."""
        block = self.block
        loss, *others = SOFTEN_FLIPS[block.scores.dtype.char](
            block.scores,
            self.shares,
            prior,
            block.y,
            block.weight,
            block.trusts,
            temperature,
            at.price,
            at.mu,
            *self[2:],
            is_spread,
        )
        return LossSums(loss, block.scores, *others)
