"""Softened blocks of rows whose labels can be flipped."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .....arrays import Floats
from ... import kernels
from ..design import At, LossSums, ScoredBlock


class Spanned(NamedTuple):
    """A block with the shares of the other labels (C, n), and the span and the mean score
    of each row (``native.flip_columns``)."""

    block: ScoredBlock
    shares: Floats
    spans: Floats
    means: Floats

    @classmethod
    def of(cls, block: ScoredBlock, prior: Floats, mu: float) -> Spanned:
        n_rows, scores = len(block.y), block.scores.astype(np.float64, copy=False)
        block = block._replace(scores=scores)
        found = cls(block, np.empty_like(prior), np.empty(n_rows), np.empty(n_rows))
        kernels.find_spans(scores, prior, block.y, mu, *found[1:])
        return found

    def soften(
        self, at: At, prior: Floats, temperature: float, is_spread: bool
    ) -> LossSums:
        """Replace the scores by slopes or spreads, and the shares by masses Q."""
        block = self.block
        loss, *others = kernels.soften_flips(
            block.scores,
            self.shares,
            prior,
            block.y,
            block.weight,
            block.trusts,
            temperature,
            at.price,
            at.mu,
            self.spans,
            self.means,
            is_spread,
        )
        return LossSums(loss, block.scores, *others)
