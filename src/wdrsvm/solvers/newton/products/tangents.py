"""The multipliers of the method: slopes of the rows' losses at a classifier's scores."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ....arrays import Floats
from ....problem import RobustProblem
from ....problem.certificate.multipliers import RowDuals
from ....problem.certificate.smooth import RowTangents
from ....problem.certificate.trusted import TrustedTangents
from ....problem.pair_weights import PairWeights
from ....rows.threads import row_threads
from .flips.label_shares import LabelShares
from .settings import PRODUCTS


@dataclass(frozen=True, eq=False)
class DrawnTangents:
    """Tangents of the rows at a classifier's scores, drawn to the labels by a share.

    Where labels can be flipped, ``shares`` (N, C) are those of the labels, or what tells
    them.  ``winners`` (N, C) are the drawn ones of all rows, if they have been computed
    before.
    """

    coef: Floats
    intercept: Floats
    share: float
    flow: PairWeights | None = None
    gradient: Floats | None = None
    winners: Floats | None = None
    shares: Floats | LabelShares | None = None

    def rows(self, problem: RobustProblem, rows: slice) -> RowDuals:
        drawn = self.trusted(problem, rows)
        if self.shares is None:
            return drawn
        shares = self._shares(self.shares, problem, rows)
        masses = problem.weight[rows][:, None] * self.share * shares
        masses[np.arange(len(drawn.y)), drawn.y] += (1 - self.share) * drawn.weight
        return RowTangents(problem.loss, drawn.points, masses)

    def trusted(self, problem: RobustProblem, rows: slice) -> TrustedTangents:
        """The drawn tangents without flips, which have the same winners."""
        y, weight = problem.y[rows], problem.weight[rows]
        if self.winners is not None:
            return TrustedTangents(problem.loss, self.winners[rows], y, weight)
        scores = problem.scores(self.coef, self.intercept, rows)
        return TrustedTangents.at(problem.loss, scores, y, weight).drawn(self.share)

    @staticmethod
    def _shares(
        shares: Floats | LabelShares, problem: RobustProblem, rows: slice
    ) -> Floats:
        if isinstance(shares, LabelShares):
            return shares.of_rows(problem, rows)
        return shares[rows].astype(np.float64)


def with_winners(tangents: DrawnTangents, problem: RobustProblem) -> DrawnTangents:
    """The same with the winners of all rows, if these fit into memory.

    A certificate looks at every row several times.
    """
    entries = problem.n_rows * problem.n_classes
    if problem.is_distributed or entries > PRODUCTS.max_kept_winners:
        return tangents
    winners = np.empty((problem.n_rows, problem.n_classes))

    def fill(rows: slice) -> None:
        winners[rows] = tangents.trusted(problem, rows).winners

    with row_threads(problem.n_rows) as run:
        for _ in run(fill, problem.blocks()):
            pass
    return replace(tangents, winners=winners)
