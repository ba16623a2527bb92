"""The multipliers of the method: slopes of the rows' losses at a classifier's scores."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ....arrays import Floats
from ....problem import RobustProblem
from ....problem.certificate.multipliers import RowDuals
from ....problem.certificate.smooth import RowTangents
from ....problem.certificate.trusted import TrustedTangents
from ....problem.loss import softmax
from ....problem.pair_weights import PairWeights
from ....rows.threads import row_threads
from .settings import PRODUCTS


@dataclass(frozen=True, eq=False)
class DrawnTangents:
    """Tangents of the rows at a classifier's scores, drawn to the labels by a share.

    ``points`` (N, C) are those of all rows, if they have been computed before.
    """

    coef: Floats
    intercept: Floats
    share: float
    price: float
    mu: float
    flow: PairWeights | None = None
    gradient: Floats | None = None
    points: Floats | None = None

    def rows(self, problem: RobustProblem, rows: slice) -> RowDuals:
        y, weight = problem.y[rows], problem.weight[rows]
        if self.points is not None:
            return TrustedTangents(problem.loss, self.points[rows], y, weight)
        scores = problem.scores(self.coef, self.intercept, rows)
        if self.price == np.inf:
            return TrustedTangents(problem.loss, scores, y, weight).drawn(self.share)
        price = np.full_like(scores, self.price)
        if problem.label_trust is not None:
            price *= problem.label_trust[rows, None]
        price[np.arange(len(y)), y] = 0.0
        masses = weight[:, None] * softmax(-(scores + price) / self.mu)
        return RowTangents(problem.loss, scores, masses)


def with_points(tangents: DrawnTangents, problem: RobustProblem) -> DrawnTangents:
    """The same with the points of all rows, if these fit into memory.

    A certificate looks at every row several times.
    """
    entries = problem.n_rows * problem.n_classes
    is_large = problem.is_distributed or entries > PRODUCTS.max_kept_points
    if is_large or tangents.price < np.inf:
        return tangents
    points = np.empty((problem.n_rows, problem.n_classes))

    def fill(rows: slice) -> None:
        found = tangents.rows(problem, rows)
        assert isinstance(found, TrustedTangents)
        points[rows] = found.points

    with row_threads(problem.n_rows) as run:
        for _ in run(fill, problem.blocks()):
            pass
    return replace(tangents, points=points)
