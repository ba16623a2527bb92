r"""The ramp bound: an upper bound of the worst-case error rate that can be trained for.

With l_n the Crammer-Singer loss of row n, L the Lipschitz modulus of the ball and k_n the
cost of the cheapest other label of row n, times its trust,

    B(M, b) = min over lam >= L(M) of
              eps lam + sum_n w_n max( min(1, l_n), (1 - lam k_n)_+ ) .

With trusted labels that is eps L(M) + sum_n w_n min(1, l_n).  B is at least the worst-case
error of the classifier, and equal to it for two classes at the best scale.

At the best scale of (M, b), where lam = L(M),

    B = min over lam of eps lam + sum_n w_n (1 - lam c_n)_+ ,  c_n = min( g_n / L(M), k_n )

with g_n >= 0 the lead of the label's score; rows without a lead have c_n = 0.  Both minima
are purchases of the adversary (``label_flips.spend``).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from ..arrays import Floats
from .label_flips import Flips, Purchase, spend
from .label_noise import Beliefs, DoubtedProblem
from .loss import lead_of
from .problem import RobustProblem
from .rivals import leads_in, nearest_rival, rival_rates

# Leads below this share of the largest one are none.
LEAD_ROUNDING = 1e-9


class Errors(NamedTuple):
    """Worst-case and plain error of a classifier; the first comes first in comparisons."""

    worst: float
    plain: float


class RampPoint(NamedTuple):
    """A classifier, its bound B and the multiplier there; ``moving`` is the part of the
    budget that the adversary spends on moving features."""

    coef: Floats
    intercept: Floats
    value: float
    lam: float
    moving: float


@dataclass(frozen=True, eq=False)
class RampProblem:
    """The bound B of a robust problem with the Crammer-Singer loss."""

    problem: RobustProblem

    @cached_property
    def flip_cost(self) -> Floats:
        """Cost k_n of the cheapest other label, (N,)."""
        return relabelling_costs(self.problem)

    @cached_property
    def doubted(self) -> DoubtedProblem:
        """The same with trusted labels: a row may be dropped at the price of one error."""
        ball = replace(self.problem.ball, label_cost=1.0)
        trusted = replace(self.problem, ball=ball).with_rows(label_trust=None)
        return DoubtedProblem(trusted, repair=False, max_disbelief=1.0, guards=False)

    def trusted(self, radius: float) -> DoubtedProblem:
        """The same at another radius."""
        doubted = self.doubted
        if radius == doubted.problem.radius:
            return doubted
        return replace(doubted, problem=doubted.problem.with_radius(radius))

    def at_share(self, share: float) -> RampProblem:
        """The same at a share of the radius."""
        return RampProblem(self.problem.with_radius(share * self.problem.radius))

    def has_two_classes(self, kept: Beliefs) -> bool:
        """Whether the rows kept have more than one label."""
        labels = self.problem.y[(kept.belief > 0) & (self.problem.weight > 0)]
        return len(labels) > 0 and bool((labels != labels[0]).any())

    def lost(self, point: RampPoint) -> float:
        """Weight of the rows that a classifier has wrong."""
        wrong = self.leads(point.coef, point.intercept) < 0
        return float(self.problem.weight[wrong].sum())

    def leads(self, coef: Floats, intercept: Floats) -> Floats:
        """How far the score of the label is above all others, (N,)."""
        problem = self.problem
        parts = [
            lead_of(problem.scores(coef, intercept, rows), problem.y[rows])
            for rows in problem.blocks()
        ]
        return np.concatenate(parts)

    def costs(self, coef: Floats, intercept: Floats) -> Floats:
        """The cost (N,) of making each row wrong; 0 for rows that are wrong or tied."""
        problem = self.problem
        rates = rival_rates(coef, problem.ball.norm, problem.feature_cost)
        parts = [
            nearest_rival(
                leads_in(problem.scores(coef, intercept, rows).T, problem.y[rows]),
                rates,
                problem.y[rows],
            )
            for rows in problem.blocks()
        ]
        return np.clip(np.concatenate(parts), 0.0, self.flip_cost)

    def errors(self, coef: Floats, intercept: Floats) -> Errors:
        """Both errors of a classifier over the rows."""
        cost, weight = self.costs(coef, intercept), self.problem.weight
        plain = float(weight[cost == 0].sum() / weight.sum())
        bought = self._spent(cost, np.ones_like(cost), 0.0)
        return Errors(min(plain + bought.gain / float(weight.sum()), 1.0), plain)

    def multiplier(self, coef: Floats, intercept: Floats, least_share: float) -> float:
        """Errors per unit of budget at the end of the budget; 0 if it buys all rows.

        A budget that buys less than ``least_share`` of the weight counts as one that does.
        """
        cost = self.costs(coef, intercept)
        rate = self._spent(cost, np.ones_like(cost), 0.0).rate
        order = np.argsort(cost)
        bought = np.cumsum(np.where(cost > 0, self.problem.weight, 0.0)[order])
        last = int(np.searchsorted(bought, least_share * self.problem.weight.sum()))
        widest = cost[order][min(last, len(cost) - 1)]
        return min(rate, 1.0 / widest) if widest > 0 else rate

    def point(self, coef: Floats, intercept: Floats) -> RampPoint:
        """B at a classifier as it is."""
        ramp = np.clip(1.0 - self.leads(coef, intercept), 0.0, 1.0)
        ramp[self.flip_cost == 0] = 1.0
        bought = self._spent(self.flip_cost, 1.0 - ramp, self.problem.modulus(coef))
        value = float(self.problem.weight @ ramp) + bought.gain
        moving = self._budget_without(bought, self.flip_cost)
        return RampPoint(coef, intercept, value, bought.rate, moving)

    def scaled(self, coef: Floats, intercept: Floats) -> RampPoint:
        """B at the best scale of a classifier."""
        leads, modulus = self.leads(coef, intercept), self.problem.modulus(coef)
        # Leads that are rounding beside the others would take the scale to infinity.
        right = leads > LEAD_ROUNDING * max(leads.max(), 0.0)
        if not modulus > 0:
            # Nothing moves: every lead may be as large as the loss can use.
            scale = float(1.0 / leads[right].min()) if right.any() else 1.0
            return self.point(scale * coef, scale * intercept)
        cost = np.where(right, np.minimum(leads / modulus, self.flip_cost), 0.0)
        bought = self._spent(cost, np.ones_like(cost), 0.0)
        if not bought.rate > 0:
            # The bound is trivial at its best scale, 0.  The error may well be lower.
            return self._trivially_bounded(coef, intercept)
        scale = bought.rate / modulus
        flips = np.where(cost < self.flip_cost, 0.0, cost)
        point = self.point(scale * coef, scale * intercept)
        return point._replace(moving=self._budget_without(bought, flips))

    def _trivially_bounded(self, coef: Floats, intercept: Floats) -> RampPoint:
        """A classifier as it is; no error is above the weight of all rows."""
        point = self.point(coef, intercept)
        return point._replace(value=min(point.value, float(self.problem.weight.sum())))

    def constant(self) -> RampPoint:
        """The best classifier that ignores the features."""
        problem = self.problem
        mass = np.bincount(problem.y, problem.weight, problem.n_classes)
        coef = np.zeros((problem.n_classes, problem.n_features))
        if not problem.fit_intercept:
            return self.point(coef, np.zeros(problem.n_classes))
        offers = np.eye(problem.n_classes)[mass > 0]
        points = (self.point(coef, intercept) for intercept in offers)
        return min(points, key=lambda point: point.value)

    def _spent(self, cost: Floats, gain: Floats, move_rate: float) -> Purchase:
        """What the budget buys of one item for each row."""
        rows = np.flatnonzero((cost > 0) & np.isfinite(cost) & (gain > 0))
        items = Flips(rows, self.problem.y[rows], cost[rows], gain[rows])
        bought = spend(items, self.problem.weight[rows], self.problem.radius, move_rate)
        return bought._replace(flips=rows[bought.flips])

    def _budget_without(self, bought: Purchase, flip_cost: Floats) -> float:
        """What is left of the budget after the label flips that were bought."""
        mass = self.problem.weight[bought.flips] * bought.share
        return max(self.problem.radius - float(mass @ flip_cost[bought.flips]), 0.0)


def relabelling_costs(problem: RobustProblem) -> Floats:
    """The cost (N,) of the cheapest other label."""
    if problem.label_trust is not None:
        return np.asarray(problem.flip_cost().min(axis=1))
    labels = problem.with_rows(y=np.arange(problem.n_classes))
    return np.asarray(labels.flip_cost().min(axis=1)[problem.y])
