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

from ...arrays import Codes, Floats, Matrix
from ...cached import cached_property
from ...problem import RobustProblem, WassersteinBall
from ...problem.norms import pairwise_moduli
from .bounded_steps import BoundedSteps


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
        moduli = pairwise_moduli(self.coef, self.ball.norm, cost)
        np.fill_diagonal(moduli, 1.0)
        return moduli

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
        if self.ball.is_bounded:
            distance = BoundedSteps(self.problem(X, y, None)).costs(self.coef, leads)
        else:
            distance = _nearest_rival(leads, self.rates, y)
        return np.maximum(distance, 0.0, out=distance)


def leads_of(X: Matrix, y: Codes, coef: Floats, intercept: Floats) -> Floats:
    """How far the score of the label leads each class's, (C, N); inf for the label."""
    # Classes first: what follows runs along the rows.
    scores = np.ascontiguousarray((X @ coef.T).T)
    scores += intercept[:, None]
    rows = np.arange(len(y))
    leads: Floats = np.subtract(scores[y, rows], scores, out=scores)
    leads[y, rows] = np.inf
    return leads


def _nearest_rival(leads: Floats, rates: Floats, y: Codes) -> Floats:
    """Least lead in units of the rate at which moving makes it shrink."""
    rate = rates.take(y, axis=1)
    if rates.all():
        return np.asarray(np.divide(leads, rate, out=rate).min(axis=0))
    # A rival that no movement brings closer has caught up already, or never does.
    fixed = np.where(leads > 0, np.inf, 0.0)
    return np.asarray(np.divide(leads, rate, out=fixed, where=rate > 0).min(axis=0))


def relabelling_costs(problem: RobustProblem) -> Floats:
    """The cost (N,) of the cheapest other label."""
    if problem.label_trust is not None:
        return np.asarray(problem.flip_cost().min(axis=1))
    labels = problem.with_rows(y=np.arange(problem.n_classes))
    return np.asarray(labels.flip_cost().min(axis=1)[problem.y])
