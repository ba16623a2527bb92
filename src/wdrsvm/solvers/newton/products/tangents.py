r"""The multipliers of the method: slopes of the rows' losses at a classifier's scores.

A bound may take its tangents at other scores than those of the classifier.  At  s M  the
fall  -<M, G>  of the loss is  fall - bend (s - 1),  to first order, where bend is the
curvature of the loss along M.  So slopes that are shorter than the radius could pay for
grow at a smaller multiple, and so does the value of the tangents.  With the l2 norm and
trusted labels the sums of one pass tell all of this (``Multiples``).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from ....arrays import Floats
from ....problem import RobustProblem
from ....problem.certificate.multipliers import RowDuals
from ....problem.certificate.smooth import RowTangents
from ....problem.certificate.trusted import TrustedTangents
from ....problem.pair_weights import PairWeights
from ....rows.threads import row_threads
from .flips.label_shares import LabelShares
from .line import BlockScores
from .settings import PRODUCTS
from .steps import Descent


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
        if self.winners is not None:
            told = self.winners[rows], problem.y[rows], problem.weight[rows]
            return TrustedTangents(problem.loss, *told)
        scores = problem.scores(self.coef, self.intercept, rows)
        return self.trusted_at(scores, problem, rows)

    def trusted_at(
        self, scores: Floats, problem: RobustProblem, rows: slice
    ) -> TrustedTangents:
        """The drawn tangents at these scores (rows, C)."""
        y, weight = problem.y[rows], problem.weight[rows]
        return TrustedTangents.at(problem.loss, scores, y, weight).drawn(self.share)

    @staticmethod
    def _shares(
        shares: Floats | LabelShares, problem: RobustProblem, rows: slice
    ) -> Floats:
        if isinstance(shares, LabelShares):
            return shares.of_rows(problem, rows)
        return shares[rows].astype(np.float64)


class KnownScores(NamedTuple):
    """Scores that steps have kept in the blocks of a problem, at a multiple of the
    coefficients."""

    in_blocks_of: RobustProblem
    scores: BlockScores
    scale: float = 1.0

    def of_rows(self, rows: slice) -> Floats:
        """Those of a block (rows, C)."""
        return (self.scale * self.scores[rows].astype(np.float64)).T


def with_winners(
    tangents: DrawnTangents, problem: RobustProblem, known: KnownScores | None = None
) -> DrawnTangents:
    """The same with the winners of all rows, if these fit into memory and are many.

    A certificate looks at every row several times, unless these are so few that it keeps
    them itself.  If scores are ``known``, up to rounding, the winners are those at these
    scores: they are tangents, too.
    """
    entries = problem.n_rows * problem.n_classes
    are_few = known is None and entries < PRODUCTS.least_kept_scores
    if problem.is_distributed or are_few or entries > PRODUCTS.max_kept_winners:
        return tangents
    winners = np.empty((problem.n_rows, problem.n_classes))

    def fill(rows: slice) -> None:
        if known is None:
            found = tangents.trusted(problem, rows)
        else:
            found = tangents.trusted_at(known.of_rows(rows), problem, rows)
        winners[rows] = found.winners

    with row_threads(problem.n_rows) as run:
        for _ in run(fill, (known.in_blocks_of if known else problem).blocks()):
            pass
    return replace(tangents, winners=winners)


class Multiples(NamedTuple):
    """The value of the tangents at the coefficients, the smoothed risk and the norm's part
    in it; how fast the loss falls when all coefficients grow in proportion, and how it
    bends, which is 0 where multiples are not looked at."""

    dual: float
    risk: float
    on_norm: float
    fall: float
    bend: float

    @classmethod
    def of(cls, descent: Descent) -> Multiples:
        fall = -float(np.vdot(descent.coef, descent.sums.gradient))
        known = descent.knows_forces and fall > 0
        bend = max(descent.sums.bend, 0.0) if known else 0.0
        on_norm = descent.radius * descent.smoothed.value
        return cls(descent.dual, descent.smooth_risk, on_norm, fall, bend)

    @property
    def best_dual(self) -> float:
        """About the most that tangents at a multiple are worth: the least of the risks."""
        if self.bend == 0:
            return self.dual
        return self.risk - 0.5 * (self.on_norm - self.fall) ** 2 / self.bend

    def scale_for(self, growth: float) -> float:
        """The multiple at which slopes are so many times as long; 1 if not longer."""
        if growth <= 1 or self.bend == 0:
            return 1.0
        return max(1 - (growth - 1) * self.fall / self.bend, PRODUCTS.least_scale)

    def dual_at(self, scale: float) -> float:
        """The value of the tangents at this multiple."""
        return self.dual + 0.5 * self.bend * (1 - scale**2)
