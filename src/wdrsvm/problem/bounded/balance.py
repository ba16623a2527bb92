r"""A plan on its way to balance: its shares of the room, its error, its value and cost.

A plan is balanced if its equation holds (``certificate.py``).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from ...arrays import Codes, Flags, Floats
from ...cached import cached_property
from ...rows.reduce import added
from ..ball import CategoricalGroup
from ..certificate.settings import CERTIFICATE
from ..certificate.tilts import EQUALITY_ROUNDING, solve_dense, tilted_until_equal
from ..norms import NORMS, TINY
from ..problem import RobustProblem
from .masses import FeasibleMasses, Masses, MassSource, as_source, tilted
from .plan_sums import PairPlan, TiltSystem, Totals, entropy_of, system_of, totals_of
from .rebalance import (
    rebalanced_moves,
    rebalanced_switches,
    spread_moves,
    spread_switches,
)

# The terms of a column count as at least this large when its error is measured.
LEAST_SIZE = 1e-3


@dataclass(frozen=True, eq=False)
class Balance:
    problem: RobustProblem
    plan: PairPlan
    loosened: bool = False

    @cached_property
    def start(self) -> MassSource:
        """Masses >= 0 on possible labels, in total at most the weight of each row."""
        plan, circulation = self.plan, self.problem.moves.circulation
        source, pairs = as_source(plan.mass), (plan.winner, plan.label)
        return FeasibleMasses(source, *pairs, circulation, self.loosened)

    @cached_property
    def _moments(self) -> Floats:
        return self.totals(self.start).moments

    def totals(self, masses: Masses, label: Codes | None = None) -> Totals:
        label = self.plan.label if label is None else label
        totals: Totals = self._summed(partial(totals_of, as_source(masses), label))
        return totals

    def _summed(self, work: Callable[[RobustProblem, slice], Any]) -> Any:
        with self.problem.reduction() as reduction:
            return reduction.fold(work, added)

    @cached_property
    def shares(self) -> Floats:
        """Share of the room that each pair uses, (K, P); negative for downward moves."""
        up, down = self._rooms(self._moments)
        moved = self.plan.moved
        room = np.where(moved > 0, up, down)
        usable = np.isfinite(room) & (room > 0)
        share = np.divide(np.abs(moved), room, out=np.zeros_like(moved), where=usable)
        return np.asarray(np.sign(moved) * np.minimum(share, 1.0))

    @cached_property
    def endless(self) -> Floats:
        """Movement (K, P) along unbounded sides of the box, which needs no mass."""
        low, high = self.problem.ball.box(self.problem.n_features)
        free = np.where(self.plan.moved > 0, np.isinf(high), np.isinf(low))
        free &= np.isfinite(self.problem.moves.cost)
        return np.where(free, self.plan.moved, 0.0)

    @cached_property
    def switch_shares(self) -> list[Floats]:
        """Share (K, from, to) of each category's mass that switches."""
        found = []
        for group, mass in zip(self.groups, self.plan.switched, strict=True):
            held = self._moments[:, group.columns]
            safe = np.where(held > TINY, held, np.inf)[:, :, None]
            share = np.maximum(mass, 0.0) / safe
            # Nothing balances a category that no row has: leave it out of the plan.
            share[:, :, self.problem.moves.facts.high[group.columns] == 0] = 0.0
            total = share.sum(axis=2, keepdims=True)
            found.append(share / np.maximum(total, 1.0))
        return found

    @property
    def groups(self) -> list[CategoricalGroup]:
        return [g for g in self.problem.moves.groups if np.isfinite(g.cost)]

    def _rooms(self, moments: Floats) -> tuple[Floats, Floats]:
        """Mass times room of each pair, (K, P) up and down; inf on unbounded sides."""
        held, total = moments[:, :-1], moments[:, -1:]
        low, high = self.problem.ball.box(self.problem.n_features)
        movable = np.isfinite(self.problem.moves.cost)
        rooms = []
        for sign, end in ((1.0, high), (-1.0, low)):
            ended = np.where(np.isfinite(end), end, 0.0)
            room = np.where(movable, np.maximum(sign * (total * ended - held), 0.0), 0.0)
            rooms.append(np.where(movable & np.isinf(end), np.inf, room))
        return rooms[0], rooms[1]

    def movement(self, shares: Floats, moments: Floats) -> Floats:
        """Movement (K, P) inside the box, if each pair uses these shares of its room."""
        up, down = self._rooms(moments)
        room = np.where(shares > 0, up, down)
        return np.asarray(shares * np.where(np.isfinite(room), room, 0.0))

    @cached_property
    def lifts(self) -> Floats:
        """(K, P + 1, Q): the vectors (x_kn, 1) are (x_n, 1) times these matrices."""
        n_pairs, n_features = self.shares.shape
        low, high = self.problem.ball.box(n_features)
        size, each = np.abs(self.shares), np.arange(n_features)
        ends = np.where(self.shares > 0, high, low)
        lifts = np.zeros((n_pairs, n_features + 1, self._width))
        lifts[:, each, each] = 1.0 - size
        lifts[:, -1, :n_features] = size * np.where(size > 0, ends, 0.0)
        lifts[:, -1, n_features:] = 1.0
        for group, switched in zip(self.groups, self.switch_shares, strict=True):
            staying = np.eye(len(group.columns)) * (1 - switched.sum(axis=2))[:, None]
            square = np.ix_(np.arange(n_pairs), group.columns, group.columns)
            lifts[square] = staying + switched
        return lifts

    def bound(self) -> float | None:
        """The bound, or None if tilting does not balance the plan."""
        every = np.ones(self._width, dtype=bool)
        found = tilted_until_equal(_BalancedMasses(self, self.start), [every])
        if found.miss(every) > EQUALITY_ROUNDING:
            return None
        return self._scaled(found.masses)

    def rebalanced(self) -> Balance:
        """The same masses, with movement and switches that balance them better."""
        plan, error = self.plan, self._error_of(self._moments)
        pairs, n_features = (plan.winner, plan.label), self.problem.n_features
        moved = rebalanced_moves(*pairs, plan.moved, error[:, :n_features])
        switched = [
            rebalanced_switches(*pairs, mass, error[:, group.columns])
            for group, mass in zip(self.groups, plan.switched, strict=True)
        ]
        return self._with_moves(moved, switched)

    def settled(self) -> Balance | None:
        """Masses that balance the columns which nothing moves, and movement and switches
        that balance the others; None if the masses do not.

        If rows are few, or a class lacks some categories, then hardly any masses are free,
        and no tilt of masses alone balances all columns.
        """
        start, fixed = _BalancedMasses(self, self.start), self._unmovable
        balanced = tilted_until_equal(start, [fixed])
        if balanced.miss(fixed) > EQUALITY_ROUNDING:
            return None
        plan = self.plan._replace(mass=balanced.masses)
        found = Balance(self.problem, plan).rebalanced()
        for _ in range(CERTIFICATE.max_spreads):
            if found.is_balanced:
                break
            found = found._spread()
        return found

    @property
    def _unmovable(self) -> Flags:
        """Columns (Q,) that neither moves nor switches change: also the intercept's."""
        fixed = np.ones(self._width, dtype=bool)
        fixed[: self.problem.n_features] = self.problem.moves.unmovable
        return fixed

    @property
    def is_balanced(self) -> bool:
        every = np.ones(self._width, dtype=bool)
        return _BalancedMasses(self, self.start).miss(every) <= EQUALITY_ROUNDING

    def _spread(self) -> Balance:
        """The same masses; the error is spread over all movement and switches."""
        plan, moments, error = self.plan, self._moments, self._error_of(self._moments)
        pairs, movable = (plan.winner, plan.label), np.isfinite(self.problem.moves.cost)
        moved = self.movement(self.shares, moments) + self.endless
        missing = np.where(movable, error[:, : self.problem.n_features], 0.0)
        moved = spread_moves(*pairs, moved, self._rooms(moments), missing)
        switched = []
        for group, share in zip(self.groups, self.switch_shares, strict=True):
            held = moments[:, group.columns]
            mass, lack = share * held[:, :, None], error[:, group.columns]
            switched.append(spread_switches(*pairs, mass, held, lack))
        return self._with_moves(moved, switched)

    def _with_moves(self, moved: Floats, switched: list[Floats]) -> Balance:
        found = replace(self, plan=self.plan._replace(moved=moved, switched=switched))
        vars(found)["_moments"] = self._moments
        return found

    def is_poor(self, bound: float | None) -> bool:
        """Whether there is no bound, or tilting has lost much of the plan's value."""
        return bound is None or bound < CERTIFICATE.kept_share * self._scaled(self.start)

    @property
    def _width(self) -> int:
        return self.problem.n_features + int(self.problem.fit_intercept)

    def _residual(self, masses: Masses) -> Floats:
        """The error (C, Q) of the equation."""
        return self._error_of(self.totals(masses).moments)

    def _error_of(self, moments: Floats) -> Floats:
        pulled = (moments[:, None] @ self.lifts)[:, 0]
        pulled[:, : self.problem.n_features] += self.endless
        residual, plan = np.zeros((self.problem.n_classes, self._width)), self.plan
        rivals = plan.winner != plan.label
        np.add.at(residual, plan.winner[rivals], pulled[rivals])
        np.subtract.at(residual, plan.label[rivals], pulled[rivals])
        return residual

    def _system(self, masses: Masses) -> TiltSystem:
        plan = self.plan._replace(mass=as_source(masses))
        found: TiltSystem = self._summed(partial(system_of, plan, self.lifts))
        size = found.size.copy()
        size[: self.problem.n_features] += np.abs(self.endless).sum(axis=0)
        return found._replace(size=size)

    def _tilted(self, masses: Masses, tilt: Floats) -> MassSource:
        """Shift mass within each row along the tilt; mass without a pair has no pull."""
        along = tilt[self.plan.winner] - tilt[self.plan.label]
        return tilted(masses, (self.lifts @ along[:, :, None])[:, :, 0])

    def _scaled(self, masses: Masses) -> float:
        totals = self.totals(masses)
        spent = self._spending(totals)
        share = 1.0 if spent <= self.problem.radius else self.problem.radius / spent
        return share * self._value(masses, totals)

    def _value(self, masses: Masses, totals: Totals) -> float:
        """What the plan makes every classifier lose.

        A smooth loss adds its entropy; then the plan has the pairs (c, c) too, and what a
        row has left stays with its own label.
        """
        loss, plan = self.problem.loss, self.plan
        value = loss.margin * float(totals.moments[plan.winner != plan.label, -1].sum())
        if loss.temperature == 0:
            return value
        of_rows = self._summed(partial(entropy_of, plan._replace(mass=as_source(masses))))
        return value + loss.temperature * float(of_rows)

    def _spending(self, totals: Totals) -> float:
        moves = self.problem.moves
        moved = self.movement(self.shares, totals.moments) + self.endless
        movable = np.isfinite(moves.cost)
        lengths = NORMS[self.problem.ball.norm].of_rows(
            moved[:, movable] * moves.cost[movable]
        )
        spent = float(lengths.sum()) + totals.on_labels
        for group, switched in zip(self.groups, self.switch_shares, strict=True):
            held = totals.moments[:, group.columns]
            spent += group.cost * float((held * switched.sum(axis=2)).sum())
        return spent


@dataclass(frozen=True, eq=False)
class _BalancedMasses:
    """Masses of a plan on their way to balance; the error of the equation is relative to
    the ``size`` of its terms before the first tilt."""

    balance: Balance
    masses: MassSource
    first_size: Floats | None = None

    @cached_property
    def residual(self) -> Floats:
        return self.balance._residual(self.masses)

    @cached_property
    def system(self) -> TiltSystem:
        """Summed only if there is another tilt: one tilt often suffices."""
        return self.balance._system(self.masses)

    @property
    def size(self) -> Floats:
        return self.system.size if self.first_size is None else self.first_size

    def miss(self, columns: Flags) -> float:
        size = np.maximum(self.size, LEAST_SIZE)
        return float((np.abs(self.residual) / size)[:, columns].max(initial=0.0))

    def lacking(self, columns: Flags) -> float:
        """Sizes are those of the first masses."""
        return self.miss(columns)

    def tilted(self, ridge: float, columns: Flags) -> _BalancedMasses:
        tilt = solve_dense(self.system.system, -self.residual, ridge, columns)
        masses = self.balance._tilted(self.masses, tilt)
        return _BalancedMasses(self.balance, masses, self.size)
