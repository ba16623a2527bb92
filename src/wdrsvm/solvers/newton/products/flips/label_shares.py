r"""Shares of the labels of all rows, told by one classifier and one price.

Where the maximum over the labels is smoothed by mu around shares of the labels, the shares
that are learnt at scores z and a price are the former ones times

    exp(-(z_c + price [c != y]) / mu).

So the shares after several lessons follow from the sum of  coefficients / mu  and that of
price / mu.  Nobody has to keep them for each row.
"""

from __future__ import annotations

from typing import NamedTuple, Self

import numpy as np

from .....arrays import Codes, Floats
from .....problem import RobustProblem
from .....problem.loss import softmax


class LabelShares(NamedTuple):
    """Sums of  coefficients / mu  (C, P) or (C, Q), intercepts / mu  (C,)  and  price / mu.

    ``odds`` is the logarithm of the first share of the label over that of another label.
    """

    coef: Floats
    intercept: Floats
    price: float
    odds: float

    @classmethod
    def first(cls, shape: tuple[int, int], flipped: float) -> Self:
        """Shares of rows of which the part ``flipped`` is flipped, to any other label."""
        n_others = shape[0] - 1
        odds = float(np.log((1 - flipped) * n_others / flipped))
        return cls(np.zeros(shape), np.zeros(shape[0]), 0.0, odds)

    def learnt(self, coef: Floats, price: float, mu: float) -> Self:
        """The shares after a lesson at these coefficients and this price."""
        coef = self.coef + coef / mu
        return self._replace(coef=coef, price=self.price + price / mu)

    def of(self, scores: Floats, y: Codes, trust: Floats | None) -> Floats:
        """The shares (n, C) of rows with these scores (n, C) of the summed classifier."""
        return softmax(-(scores + self._costs(scores, y, trust)))

    def _costs(self, scores: Floats, y: Codes, trust: Floats | None) -> Floats:
        trusts = np.ones(len(y)) if trust is None else trust
        is_flippable = np.isfinite(trusts)
        cost = self.odds + self.price * np.where(is_flippable, trusts, 0.0)
        costs = np.repeat(np.where(is_flippable, cost, np.inf)[:, None], scores.shape[1], 1)
        costs[np.arange(len(y)), y] = 0.0
        return costs

    def of_rows(self, problem: RobustProblem, rows: slice) -> Floats:
        """The shares (n, C) of some rows of a problem."""
        trust = None if problem.label_trust is None else problem.label_trust[rows]
        scores = problem.scores(self.coef, self.intercept, rows)
        return self.of(scores, problem.y[rows], trust)
