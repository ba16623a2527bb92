"""Tangents of a smooth loss at trusted labels: the formulas of ``smooth.py`` without flips.

Each label has the whole weight of its row.  One softmax tells all, which with many classes
is several times less work than masses of all labels.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ...arrays import Codes, Floats
from ...cached import cached_property
from ...rows.along_rows import row_maxima, row_sums
from ..loss import Loss, softmax_and_log


@dataclass(frozen=True, eq=False)
class TrustedTangents:
    """Points u (rows, C), labels and weights of some rows."""

    loss: Loss
    points: Floats
    y: Codes
    weight: Floats

    def drawn(self, share: float) -> TrustedTangents:
        """The tangents whose winners are  share p + (1 - share) e_y.

        Their slopes are ``share`` times as long, and their value is larger than the share
        of the value, because it is concave in p.
        """
        if share == 1:
            return self
        sharp = self._sharp
        sharp += np.log(share) - self._soft[1][:, None]
        sharp[self._own] = np.log(np.exp(sharp[self._own]) + (1 - share))
        sharp *= self.loss.temperature
        sharp[self._own] += self.loss.margin
        return replace(self, points=sharp)

    @property
    def _own(self) -> tuple[Codes, Codes]:
        return np.arange(len(self.y)), self.y

    @property
    def _sharp(self) -> Floats:
        """The scores whose softmax is p, in units of the temperature."""
        sharp = self.points / self.loss.temperature
        sharp[self._own] -= self.loss.margin / self.loss.temperature
        return sharp

    @cached_property
    def _soft(self) -> tuple[Floats, Floats]:
        """The winners p (rows, C), and the logarithm of what they were divided by."""
        return softmax_and_log(self._sharp)

    def belong_to(self, loss: Loss) -> bool:
        return loss == self.loss

    def restored(
        self, weight: Floats, y: Codes, cost: Floats, flip_share: float
    ) -> TrustedTangents:
        return self if weight is self.weight else replace(self, weight=weight)

    def loosened(self, weight: Floats) -> TrustedTangents:
        """Unchanged, because a softmax is never zero."""
        return self

    def tilted(self, pull: Floats) -> TrustedTangents:
        """Move points along the pull."""
        return replace(self, points=self.points + self.loss.temperature * pull)

    def value(self, weight: Floats, y: Codes) -> float:
        """The sum of  margin + temperature logsumexp - <p, u>,  measured from the top."""
        winners, log = self._soft
        top = row_maxima(self.points)
        mean = row_sums(winners * (self.points - top[:, None]))
        above = self.loss.temperature * log - top
        return float(self.weight @ (self.loss.margin + above - mean))

    def spending(self, cost: Floats) -> float:
        return 0.0

    def slopes(self, y: Codes) -> Floats:
        """w (p - e_y)."""
        slopes = self._soft[0] * self.weight[:, None]
        slopes[self._own] -= self.weight
        return slopes

    def response(self, pull: Floats) -> Floats:
        winners = self._soft[0]
        centred = pull - row_sums(winners * pull)[:, None]
        return np.asarray(self.weight[:, None] * winners * centred)

    def own_response(self) -> Floats:
        winners = self._soft[0]
        return np.asarray(self.weight[:, None] * winners * (1.0 - winners))

    def curvature(self, columns: Floats) -> Floats:
        """The covariance of the winners, times the squares of the columns."""
        n_classes, n_columns = self.points.shape[1], columns.shape[1]
        system = np.zeros((n_classes, n_columns, n_classes, n_columns))
        each = np.arange(n_classes)
        for d in range(n_columns):
            for e in range(n_columns):
                shares = self._soft[0].T * (self.weight * columns[:, d] * columns[:, e])
                system[:, d, :, e] = -shares @ self._soft[0]
                system[each, d, each, e] += shares.sum(axis=1)
        return system
