r"""What it costs the adversary to make the prediction of a row wrong.

    c_n = 0                                          if row n is wrong, or tied
    c_n = min( dist_n, min_{c != y_n} k[n, c] )      else
    dist_n = min over j != y_n of (z_y - z_j) / || (M_y - M_j) / cost ||_*

with k[n, c] the cost of label c for row n.  A row that is right becomes wrong by any other
label, so that moving and relabelling together is never cheaper than relabelling alone.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ....arrays import Codes, Floats, Matrix
from ....cached import cached_property
from ....problem import RobustProblem, WassersteinBall
from ....problem.ramp import relabelling_costs
from ....problem.rivals import leads_in, nearest_rival, rival_rates
from ..bounded_steps import BoundedSteps


@dataclass(frozen=True, eq=False)
class WrongCosts:
    """Costs of errors of one linear classifier in one ball, for any rows."""

    coef: Floats
    intercept: Floats
    ball: WassersteinBall

    @cached_property
    def rates(self) -> Floats:
        """How fast moving makes a lead shrink, (C, C); 1 for a class and itself."""
        cost = self.ball.feature_costs(self.coef.shape[1])
        return rival_rates(self.coef, self.ball.norm, cost)

    def problem(self, X: Matrix, y: Codes, label_trust: Floats | None) -> RobustProblem:
        """Some rows of equal weight with the ball."""
        weight = np.full(len(y), 1.0 / max(len(y), 1))
        return RobustProblem.of(
            X, y, weight, self.ball, len(self.coef), label_trust=label_trust
        )

    def __call__(self, X: Matrix, y: Codes, label_trust: Floats | None) -> Floats:
        """Costs (N,) of making each row wrong; inf where nothing can."""
        costs = self.distances(X, y)
        relabelling = relabelling_costs(self.problem(X, y, label_trust))
        return np.minimum(costs, relabelling, out=costs)

    def distances(self, X: Matrix, y: Codes) -> Floats:
        """The least movement (N,) after which the label's score is not the only largest."""
        leads = leads_of(X, y, self.coef, self.intercept)
        return self.movements(leads, y, self.steps(X, y))

    def steps(self, X: Matrix, y: Codes) -> BoundedSteps | None:
        """Where rows can go in a bounded ball; None where they can go everywhere."""
        return BoundedSteps(self.problem(X, y, None)) if self.ball.is_bounded else None

    def movements(self, leads: Floats, y: Codes, steps: BoundedSteps | None) -> Floats:
        """The least movement (N,) that makes up for the leads (C, N) over some class."""
        if steps is None:
            distance = nearest_rival(leads, self.rates, y)
        else:
            distance = steps.costs(self.coef, leads)
        return np.maximum(distance, 0.0, out=distance)


def leads_of(X: Matrix, y: Codes, coef: Floats, intercept: Floats) -> Floats:
    """How far the score of the label leads each class's, (C, N); inf for the label."""
    scores = class_scores(X, coef, intercept)
    return leads_in(scores, y, out=scores)


def class_scores(X: Matrix, coef: Floats, intercept: Floats) -> Floats:
    """Scores (C, N), classes first: what follows runs along the rows."""
    scores = np.ascontiguousarray((X @ coef.T).T)
    scores += intercept[:, None]
    return scores
