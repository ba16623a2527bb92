r"""The units in which a bounded problem is solved.

Two changes of units do not change the optimum:

    a feature       x_d -> (x_d - centre_d) / width_d,  cost_d -> cost_d width_d,
                    and the ends of the box change like x_d
    all costs       radius, feature costs, label costs and switching costs over ``unit``

Widths make every feature of order one.  ``unit`` makes the cost of moving a feature of
order one.  The columns of categories are 0 and 1, and stay unchanged.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from ....arrays import Floats
from ....problem import RobustProblem
from ....problem.ball import WassersteinBall
from ....problem.norms import TINY
from ....rows.affine_columns import AffineColumns
from ...scaling import typical_size

# Rows with at most so many entries are copied in the new units.  Larger ones are changed
# block by block, again in each pass, so that memory does not grow with the rows.
MAX_COPIED_ENTRIES = 8_000_000


@dataclass(frozen=True, eq=False)
class BoundedUnits:
    """``centre`` and ``width`` (P,) of the features, and the ``unit`` of all costs."""

    centre: Floats
    width: Floats
    unit: float

    @classmethod
    def of(cls, problem: RobustProblem) -> BoundedUnits:
        facts, cost = problem.moves.facts, problem.moves.cost
        centre = np.zeros(problem.n_features)
        if problem.fit_intercept:
            # A constant column has width 0, also if its mean is rounded.
            centre = np.where(facts.low == facts.high, facts.low, facts.mean)
        for group in problem.moves.groups:
            centre[group.columns] = 0.0
        width = np.maximum(facts.high - centre, centre - facts.low)
        width = np.where(width > TINY, width, 1.0)
        for group in problem.moves.groups:
            width[group.columns] = 1.0
        prices = (cost * width)[np.isfinite(cost)]
        if not len(prices):
            switches = np.array([group.cost for group in problem.moves.groups])
            prices = switches[np.isfinite(switches)]
        return cls(centre, width, max(typical_size(prices), problem.radius))

    def normalised(self, problem: RobustProblem) -> RobustProblem:
        """The same problem in these units."""
        n_entries = problem.n_rows * problem.n_features
        copying = n_entries <= MAX_COPIED_ENTRIES and not problem.is_distributed
        return problem.by_chunks(partial(self._applied_to, copying))

    def _applied_to(self, copying: bool, problem: RobustProblem) -> RobustProblem:
        rows: Any = AffineColumns(problem.X, self.centre, self.width)
        if copying:
            rows = rows[:]
        return replace(problem.with_rows(X=rows), ball=self._ball(problem))

    def _ball(self, problem: RobustProblem) -> WassersteinBall:
        ball, n_features = problem.ball, problem.n_features
        low, high = ((end - self.centre) / self.width for end in ball.box(n_features))
        groups = [(g.columns, g.cost / self.unit) for g in ball.groups(n_features)]
        return WassersteinBall(
            radius=problem.radius / self.unit,
            label_cost=np.asarray(ball.label_cost) / self.unit,
            norm=ball.norm,
            feature_cost=ball.feature_costs(n_features) * (self.width / self.unit),
            support=(low, high),
            categorical=groups,
        )

    def normalised_classifier(self, coef: Floats, intercept: Floats) -> Floats:
        """Coefficients in these units, (C, P + 1), the intercepts in the last column."""
        moved = intercept + coef @ self.centre
        return np.column_stack([coef * self.width, moved])

    def original_slopes(self, slopes: Floats) -> Floats:
        """Coefficients (K, P), or their differences, in the problem's units."""
        return slopes / self.width

    def original(self, coef: Floats, intercept: Floats) -> tuple[Floats, Floats]:
        """A classifier in the problem's units."""
        plain = self.original_slopes(coef)
        if not self.centre.any():
            return plain, intercept
        return plain, intercept - plain @ self.centre
