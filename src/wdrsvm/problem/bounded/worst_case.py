r"""The worst case if features are bounded by a box or are categories.

The adversary gives row n the label c, lets class j win against c, and pays lam for each
unit of cost.  With a = M_j - M_c, the gain beyond the loss at x_n is

    max over moves t of  a.t - lam || cost t ||   with x_n + t in the box
    + sum over categorical features g of  max(0, max_k (a_gk - a_g,k(n)) - lam cost_g).

This gain depends on the pair (j, c), so all pairs are computed.  The risk is the minimum
over lam of a convex function F.  Tangents from both sides are intersected until their
intersection lies on F.  The plans of the last two tangents, mixed so that they spend the
whole budget, are a worst-case distribution.

If a side of the box is infinite, a row can escape: it moves without limit in this
direction.  Then lam is at least the rate at which escaping pays, and the budget that is
left is spent on escaping.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ...arrays import Codes, Flags, Floats
from ...cached import cached_property
from ...rows.blocks import dense_rows
from ...rows.reduce import Work, added
from ..ball import CategoricalGroup
from ..norms import NORMS
from .circulation import Circulation, circulation_of
from .columns import ColumnFacts, check_columns, column_facts
from .moves import BEST_MOVES
from .pieces import (
    AffineGains,
    PairView,
    PieceSums,
    affine_gains,
    best_pieces,
    chosen_pieces,
    limited_gains,
)

if TYPE_CHECKING:
    from ..problem import RobustProblem


MAX_TANGENTS = 200
# The search ends if the intersection of the tangents is this close to F, relatively.
VALUE_ROUNDING = 1e-13


class RobustRisk(NamedTuple):
    """Worst-case risk of a fixed classifier and the multiplier that attains it."""

    value: float
    lam: float


class Plan(NamedTuple):
    """The adversary's choice for each row at a given lam: one move and one label.

    ``loss`` and ``cost`` are expectations; F(lam) = radius lam + loss - lam cost.
    ``choices`` (N, 2) has the label and the winner of each row, or is None.
    """

    lam: float
    loss: float
    cost: float
    choices: Codes | None = None


class WorstPlans(NamedTuple):
    """Plans whose mixture by ``share`` is worst, the risk, lam, and the unspent budget."""

    plans: list[Plan]
    share: list[float]
    risk: float
    lam: float
    left: float


@dataclass(frozen=True, eq=False)
class BoundedMoves:
    """The possible moves of a problem's rows, and their costs."""

    problem: RobustProblem

    def check(self) -> None:
        """Refuse rows outside the box, and categories that are not one-hot columns."""
        if self.problem.n_rows:
            check_columns(self.facts, self.groups, self.cost, self.problem)

    @cached_property
    def facts(self) -> ColumnFacts:
        return column_facts(self.problem)

    @cached_property
    def rows(self) -> Floats:
        """X as a dense array, because zeros can move too."""
        return dense_rows(self.problem.X)

    @cached_property
    def groups(self) -> list[CategoricalGroup]:
        return self.problem.ball.groups(self.problem.n_features)

    @cached_property
    def cost(self) -> Floats:
        """Feature costs (P,), infinite for categorical columns."""
        cost = self.problem.feature_cost.copy()
        for group in self.groups:
            cost[group.columns] = np.inf
        return cost

    @cached_property
    def unmovable(self) -> Flags:
        """Columns (P,) that neither moves nor switches change."""
        fixed = np.isinf(self.cost)
        for group in self.groups:
            fixed[group.columns] = np.isinf(group.cost)
        return fixed

    @cached_property
    def circulation(self) -> Circulation | None:
        return circulation_of(self.problem)

    @cached_property
    def pairs(self) -> tuple[Codes, Codes]:
        """Winners and labels of all ordered pairs with a reachable label."""
        distinct = ~np.eye(self.problem.n_classes, dtype=bool)
        winner, label = np.nonzero(distinct & self.problem.reachable)
        return winner, label

    @cached_property
    def room(self) -> tuple[Floats, Floats]:
        """How far each entry of X can move up and down, (N, P) each."""
        low, high = self.problem.ball.box(self.problem.n_features)
        movable = np.isfinite(self.cost)
        return (
            np.where(movable, high - self.rows, 0.0),
            np.where(movable, self.rows - low, 0.0),
        )

    def escape_slope(self, slope: Floats) -> Floats:
        """The part of a slope along which a row can move without limit."""
        low, high = self.problem.ball.box(len(slope))
        endless = np.where(slope > 0, np.isinf(high), np.isinf(low))
        return np.where(endless & np.isfinite(self.cost), slope, 0.0)

    def escape_rates(self, coef: Floats) -> Floats:
        """Gain per cost of unlimited moves, by winner and label, (C, C)."""
        movable = np.isfinite(self.cost)
        norm = NORMS[self.problem.ball.norm]
        rates = np.zeros((len(coef), len(coef)))
        for winner in range(len(coef)):
            for label in range(len(coef)):
                slope = self.escape_slope(coef[winner] - coef[label])[movable]
                rates[winner, label] = norm.dual_of_rows(slope / self.cost[movable])
        return rates

    def least_lam(self, coef: Floats) -> float:
        return float(self.escape_rates(coef)[:, self.problem.reachable].max(initial=0.0))

    def move(self, slope: Floats, lam: float) -> Floats:
        """The best numeric move of every row, (N, P)."""
        up, down = self.room
        reach = np.where(slope > 0, up, down)
        movable = np.isfinite(self.cost) & (slope != 0)
        step = np.zeros_like(reach)
        if movable.any():
            steepness, cost = np.abs(slope[movable]), self.cost[movable]
            best = BEST_MOVES[self.problem.ball.norm]
            step[:, movable] = best(steepness, reach[:, movable], cost, lam)
        return np.asarray(np.sign(slope) * step)

    def move_cost(self, step: Floats) -> Floats:
        movable = np.isfinite(self.cost)
        norm = NORMS[self.problem.ball.norm]
        return norm.of_rows(step[:, movable] * self.cost[movable])

    def switch(
        self, group: CategoricalGroup, slope: Floats, lam: float
    ) -> tuple[Codes, Floats]:
        """The best category of every row, and the gain of the switch minus lam cost."""
        now = self.rows[:, group.columns].argmax(axis=1)
        values = slope[group.columns]
        gain = values.max() - values[now] - lam * group.cost
        pays = gain > 0
        return np.where(pays, values.argmax(), now), np.where(pays, gain, 0.0)

    def gain(self, slope: Floats, lam: float) -> Floats:
        """The gain of the best move and categories of each row, minus lam cost, (N,)."""
        step = self.move(slope, lam)
        moved = step @ slope - lam * self.move_cost(step)
        return np.asarray(moved + self.switch_gain(slope, lam))

    def switch_gain(self, slope: Floats, lam: float) -> Floats:
        """The gain of the best categories of each row, minus lam cost, (N,)."""
        total = np.zeros(len(self.rows))
        for group in self.groups:
            if np.isfinite(group.cost):
                total += self.switch(group, slope, lam)[1]
        return total

    def moved(self, slope: Floats, lam: float) -> tuple[Floats, Floats]:
        """The best place of each row, (N, P), and the cost of moving there, (N,)."""
        step = self.move(slope, lam)
        low, high = self.problem.ball.box(self.problem.n_features)
        # Clip, because rounding may move a row slightly out of the box.
        places = np.where(step == 0, self.rows, np.clip(self.rows + step, low, high))
        cost = self.move_cost(step)
        for group in self.groups:
            if np.isfinite(group.cost):
                category, gain = self.switch(group, slope, lam)
                places[:, group.columns] = np.eye(len(group.columns))[category]
                cost = cost + np.where(gain > 0, group.cost, 0.0)
        return places, cost

    def gain_and_cost(self, slope: Floats, lam: float) -> tuple[Floats, Floats]:
        """The gain of the best move of each row, minus lam cost, and its cost, (N,)."""
        step = self.move(slope, lam)
        cost = self.move_cost(step)
        gain = step @ slope - lam * cost
        for group in self.groups:
            if np.isfinite(group.cost):
                switched = self.switch(group, slope, lam)[1]
                gain, cost = gain + switched, cost + group.cost * (switched > 0)
        return np.asarray(gain), np.asarray(cost)

    def plan(
        self, coef: Floats, intercept: Floats, lam: float, keeping: bool = False
    ) -> Plan:
        """The best label, winner and move of every row at this lam.

        Only with ``keeping``, the plan has the choices of all rows.
        """
        view = self._view(coef, intercept, lam, affine_gains(self, coef, lam))
        # If training shares one move among all rows, every row still has its own best one.
        work: Work = partial(own_pieces if self.is_shared else best_pieces, view)
        with self.problem.reduction() as reduction:
            if keeping:
                sums, choices = reduction.fold_keeping(work, added)
            else:
                sums, choices = reduction.fold(partial(_sums_only, work), added), None
        return Plan(lam, sums.value + lam * sums.cost, sums.cost, choices)

    def _view(
        self, coef: Floats, intercept: Floats, lam: float, gains: AffineGains
    ) -> PairView:
        return PairView(coef, intercept, lam, *self.pairs, gains)

    @property
    def is_shared(self) -> bool:
        """Whether training minimises the shared risk, because no exact program exists."""
        low, high = self.problem.ball.box(self.problem.n_features)
        ended = np.isfinite(self.cost) & (np.isfinite(low) | np.isfinite(high))
        return self.problem.ball.norm != "l1" and bool(ended.any())

    def trained_risk(
        self,
        coef: Floats,
        intercept: Floats,
        lam: float,
        limited: Floats | None = None,
    ) -> RobustRisk:
        """The objective of training: the risk, or the shared risk at a given lam and split.

        Without ``limited``, the norm pays for the whole of every slope.
        """
        if not self.is_shared:
            return self.problem.risk(coef, intercept)
        if limited is None:
            limited = np.zeros((len(self.pairs[0]), coef.shape[1]))
        return self.shared_risk(coef, intercept, lam, limited)

    def shared_risk(
        self, coef: Floats, intercept: Floats, lam: float, limited: Floats
    ) -> RobustRisk:
        """An upper bound of the risk, with one split of the slopes for all rows.

        ``limited`` (pairs, P) is the part of each slope that the box limits.  The norm
        pays for the rest of the slope.
        """
        winner, label = self.pairs
        if len(limited) != len(winner):
            raise ValueError(f"limited must have {len(winner)} rows, got {len(limited)}.")
        paid = coef[winner] - coef[label] - limited
        movable = np.isfinite(self.cost)
        norm = NORMS[self.problem.ball.norm]
        lengths = norm.dual_of_rows(paid[:, movable] / self.cost[movable])
        lam = max(lam, float(lengths.max(initial=0.0)))
        gains = limited_gains(self, coef, lam, limited)
        work = partial(best_pieces, self._view(coef, intercept, lam, gains))
        with self.problem.reduction() as reduction:
            sums = reduction.fold(partial(_sums_only, work), added)
        return RobustRisk(self.problem.radius * lam + sums.value, lam)

    def worst_plans(
        self, coef: Floats, intercept: Floats, keeping: bool = False
    ) -> WorstPlans:
        """Minimise F over lam by tangents from both sides."""
        radius = self.problem.radius

        def value(plan: Plan, lam: float) -> float:
            return radius * lam + plan.loss - lam * plan.cost

        def plan_at(lam: float) -> Plan:
            return self.plan(coef, intercept, lam, keeping)

        # If escaping pays exactly lam, the best l2 move is not limited.
        left = plan_at(self.least_lam(coef) * (1 + VALUE_ROUNDING))
        if left.cost <= radius:
            risk = value(left, left.lam)
            return WorstPlans([left], [1.0], risk, left.lam, radius - left.cost)
        right = plan_at(max(1.0, 2 * left.lam))
        while right.cost > radius:
            left, right = right, plan_at(2 * right.lam)
        for _ in range(MAX_TANGENTS):
            lam = (left.loss - right.loss) / (left.cost - right.cost)
            lam = min(max(lam, left.lam), right.lam)
            floor = value(left, lam)
            middle = plan_at(lam)
            if value(middle, lam) - floor <= VALUE_ROUNDING * max(1.0, abs(floor)):
                break
            left, right = (middle, right) if middle.cost > radius else (left, middle)
        share = (radius - right.cost) / (left.cost - right.cost)
        risk = max(value(middle, lam), floor)
        return WorstPlans([left, right], [share, 1 - share], risk, lam, 0.0)


def own_pieces(
    view: PairView, problem: RobustProblem, rows: slice
) -> tuple[PieceSums, Codes]:
    """The same as ``best_pieces`` if every row has a best move of its own."""
    moves = BoundedMoves(problem.take(rows))
    slopes = view.coef[view.winner] - view.coef[view.label]
    found = np.array([moves.gain_and_cost(slope, view.lam) for slope in slopes])
    gain, cost = found.reshape(len(slopes), 2, len(moves.rows)).transpose(1, 0, 2)
    scores = problem.scores(view.coef, view.intercept, rows).T
    plain = scores[view.winner] - scores[view.label] + problem.loss.margin
    return chosen_pieces(problem, rows, view, plain + gain, cost)


def _sums_only(work: Work, problem: RobustProblem, rows: slice) -> PieceSums:
    sums: PieceSums = work(problem, rows)[0]
    return sums
