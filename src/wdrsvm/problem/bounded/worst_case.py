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
from scipy import sparse

from ...arrays import Codes, Floats
from ...cached import cached_property
from ...rows.reduce import added
from ..ball import CategoricalGroup
from ..norms import NORMS
from .moves import BEST_MOVES
from .pieces import PairView, affine_gains, best_pieces, chosen_pieces

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
    """

    lam: float
    label: Codes
    winner: Codes
    loss: float
    cost: float


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

    def __post_init__(self) -> None:
        if not self.problem.n_rows:
            return
        low, high = self.problem.ball.box(self.problem.n_features)
        ends = self.rows.min(axis=0), self.rows.max(axis=0)
        for outside, value in zip((ends[0] < low, ends[1] > high), ends, strict=True):
            found = np.flatnonzero(outside & np.isfinite(self.cost))
            if len(found):
                d = found[0]
                raise ValueError(
                    f"support must contain the data, but feature {d} has the value "
                    f"{value[d]:g}, outside [{low[d]:g}, {high[d]:g}]."
                )

    @cached_property
    def rows(self) -> Floats:
        """X as a dense array, because zeros can move too."""
        X = self.problem.X
        return np.asarray(X.toarray() if sparse.issparse(X) else X, dtype=np.float64)

    @cached_property
    def groups(self) -> list[CategoricalGroup]:
        groups = self.problem.ball.groups(self.problem.n_features)
        for group in groups:
            _check_one_hot(self.rows[:, group.columns], group)
        return groups

    @cached_property
    def cost(self) -> Floats:
        """Feature costs (P,), infinite for categorical columns."""
        cost = self.problem.feature_cost.copy()
        for group in self.groups:
            cost[group.columns] = np.inf
        return cost

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

    def plan(self, coef: Floats, intercept: Floats, lam: float) -> Plan:
        """The best label, winner and move of every row at this lam."""
        problem = self.problem
        view = self._view(coef, intercept, lam)
        if self.is_shared:
            # Every row has a move of its own.
            slopes = coef[view.winner] - coef[view.label]
            cost = np.array([self.moved(slope, lam)[1] for slope in slopes])
            gain = np.array([self.gain(slope, lam) for slope in slopes])
            plain = self._losses(coef, intercept)
            sums, best = chosen_pieces(problem, slice(None), view, plain + gain, cost)
        else:
            with problem.reduction() as reduction:
                sums, best = reduction.fold_keeping(partial(best_pieces, view), added)
        label, winner = best.T
        return Plan(lam, label, winner, sums.value + lam * sums.cost, sums.cost)

    def _view(self, coef: Floats, intercept: Floats, lam: float) -> PairView:
        return PairView(coef, intercept, lam, *self.pairs, affine_gains(self, coef, lam))

    def _losses(self, coef: Floats, intercept: Floats) -> Floats:
        """Losses of all pairs where nothing moves, (K, N)."""
        winner, label = self.pairs
        scores = self.problem.scores(coef, intercept).T
        return np.asarray(scores[winner] - scores[label] + self.problem.loss.margin)

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
        paid = coef[winner] - coef[label] - limited
        movable = np.isfinite(self.cost)
        norm = NORMS[self.problem.ball.norm]
        lengths = norm.dual_of_rows(paid[:, movable] / self.cost[movable])
        lam = max(lam, float(lengths.max(initial=0.0)))
        losses = self._losses(coef, intercept)
        for k, (j, c, part) in enumerate(zip(winner, label, limited, strict=True)):
            gain = self._limited_gain(part) + self.switch_gain(coef[j] - coef[c], lam)
            losses[k] += gain
        view = self._view(coef, intercept, lam)
        nothing = np.zeros_like(losses)
        sums, _ = chosen_pieces(self.problem, slice(None), view, losses, nothing)
        return RobustRisk(self.problem.radius * lam + sums.value, lam)

    def _limited_gain(self, part: Floats) -> Floats:
        """The room of each row times the part of a slope that the box limits, (N,)."""
        up, down = self.room
        used = part != 0
        room = np.where(part[used] > 0, up[:, used], down[:, used])
        return np.asarray(room @ np.abs(part[used]))

    def worst_plans(self, coef: Floats, intercept: Floats) -> WorstPlans:
        """Minimise F over lam by tangents from both sides."""
        radius = self.problem.radius

        def value(plan: Plan, lam: float) -> float:
            return radius * lam + plan.loss - lam * plan.cost

        # If escaping pays exactly lam, the best l2 move is not limited.
        left = self.plan(coef, intercept, self.least_lam(coef) * (1 + VALUE_ROUNDING))
        if left.cost <= radius:
            risk = value(left, left.lam)
            return WorstPlans([left], [1.0], risk, left.lam, radius - left.cost)
        right = self.plan(coef, intercept, max(1.0, 2 * left.lam))
        while right.cost > radius:
            left, right = right, self.plan(coef, intercept, 2 * right.lam)
        for _ in range(MAX_TANGENTS):
            lam = (left.loss - right.loss) / (left.cost - right.cost)
            lam = min(max(lam, left.lam), right.lam)
            floor = value(left, lam)
            middle = self.plan(coef, intercept, lam)
            if value(middle, lam) - floor <= VALUE_ROUNDING * max(1.0, abs(floor)):
                break
            left, right = (middle, right) if middle.cost > radius else (left, middle)
        share = (radius - right.cost) / (left.cost - right.cost)
        risk = max(value(middle, lam), floor)
        return WorstPlans([left, right], [share, 1 - share], risk, lam, 0.0)


def _check_one_hot(block: Floats, group: CategoricalGroup) -> None:
    is_binary = ((block == 0) | (block == 1)).all()
    if not (is_binary and (block.sum(axis=1) == 1).all()):
        raise ValueError(
            "categorical must name one-hot columns, 0 or 1 with a single 1 per row, but "
            f"columns {group.columns.tolist()} of X are not."
        )
