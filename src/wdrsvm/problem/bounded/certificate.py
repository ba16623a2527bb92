r"""Dual bounds in a bounded ball: lower bounds of the optimum from an adversary's plan.

The plan gives the mass pi_kn of row n to the pair k = (winner j, label c), and moves it to
x_kn in the box, at a cost.  If sum_k pi_kn <= w_n for every row, if

    sum over k, n of pi_kn (e_j - e_c) (x_kn, 1)' = 0

and if moves, switches and labels together cost no more than the radius, then sum pi is a
lower bound: on this plan, every classifier has at least this loss.  A smooth loss adds the
entropy of the winners of each label.  The cost of moving is
computed as the norm of the total movement of each pair.  For l1 transport this is the cost
of the plan.  For other norms it gives a bound of the shared risk (``worst_case.py``).

An approximate plan is made feasible in three steps: shares of the room are clipped to
[0, 1], the masses are tilted until the equation holds (``certificate/tilts.py``), and all
masses are scaled into the budget.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import reduce
from typing import Any, NamedTuple

import numpy as np
from scipy.special import entr

from ...arrays import Codes, Flags, Floats
from ...cached import cached_property
from ...rows.reduce import added
from ...rows.threads import row_threads
from ..ball import CategoricalGroup
from ..certificate.settings import CERTIFICATE
from ..certificate.tilts import EQUALITY_ROUNDING, solve_dense, tilted_until_equal
from ..norms import NORMS
from ..problem import RobustProblem

# The terms of a column count as at least this large when its error is measured.
LEAST_SIZE = 1e-3


class PairPlan(NamedTuple):
    """Approximate multipliers of the K pairs (winner, label).

    ``mass`` (K, N) are the masses, ``moved`` (K, P) is the total movement of each pair, and
    ``switched`` has, for each categorical feature of finite cost, the masses (K, from, to)
    that switch categories.
    """

    winner: Codes
    label: Codes
    mass: Floats
    moved: Floats
    switched: list[Floats]

    def with_stays(self, mass: Floats) -> PairPlan:
        """The plan with masses (C, N) of the pairs (c, c), which a smooth loss needs."""
        n_classes = len(mass)
        each = np.arange(n_classes)
        return PairPlan(
            np.append(self.winner, each),
            np.append(self.label, each),
            np.vstack([self.mass, mass]),
            np.vstack([self.moved, np.zeros((n_classes, self.moved.shape[1]))]),
            [np.vstack([m, np.zeros((n_classes, *m.shape[1:]))]) for m in self.switched],
        )


def bounded_dual_bound(problem: RobustProblem, plan: PairPlan) -> float:
    """A lower bound of the optimum; 0, which is always valid, if none better is found."""
    balance = _Balance(problem, plan)
    found = [balance.bound()]
    if plan.switched and balance.is_poor(found[0]):
        found.append(_Balance(problem, _split(balance)).bound())
    if found == [None] * len(found):
        trace = CERTIFICATE.loosening * problem.weight / len(plan.winner)
        loose = plan._replace(mass=np.maximum(plan.mass, 0.0) + trace)
        found.append(_Balance(problem, loose).bound())
    return max(0.0 if bound is None else bound for bound in found)


def _split(balance: _Balance) -> PairPlan:
    """The same plan with one pair for each category that a pair switches to.

    A tilt changes the masses of these pairs one by one.  Thus it also balances categories
    whose own rows hold hardly any mass, beside masses that are switched into them.
    """
    plan, groups = balance.plan, balance._groups
    left, parts = balance.start.copy(), []
    for g, (group, share) in enumerate(zip(groups, balance.switch_shares, strict=True)):
        rows = balance.problem.moves.rows[:, group.columns]
        for k, to in np.argwhere(share.any(axis=1)):
            mass = np.minimum(balance.start[k] * (rows @ share[k, :, to]), left[k])
            left[k] -= mass
            parts.append((k, g, to, mass))
    pair = np.concatenate([np.arange(len(left)), [part[0] for part in parts]]).astype(int)
    mass = np.vstack([left, *(part[3] for part in parts)])
    switched = [np.zeros((len(pair), len(g.columns), len(g.columns))) for g in groups]
    for number, (_, g, to, moved) in enumerate(parts, start=len(left)):
        switched[g][number, :, to] = (
            moved @ balance.problem.moves.rows[:, groups[g].columns]
        )
    up, down = balance._rooms(mass)
    shares = balance.shares[pair]
    room = np.where(shares > 0, up, down)
    moved = shares * np.where(np.isfinite(room), room, 0.0)
    moved[: len(left)] += balance.endless
    return PairPlan(plan.winner[pair], plan.label[pair], mass, moved, switched)


@dataclass(frozen=True, eq=False)
class _Balance:
    problem: RobustProblem
    plan: PairPlan

    @cached_property
    def price(self) -> Floats:
        """The label cost k[n, c] of each pair and row, (K, N)."""
        return np.asarray(self.problem.label_price()[:, self.plan.label].T)

    @cached_property
    def start(self) -> Floats:
        """Masses >= 0 on possible labels, in total at most the weight of each row."""
        mass = np.where(np.isfinite(self.price), np.maximum(self.plan.mass, 0.0), 0.0)
        total = mass.sum(axis=0)
        excess = np.maximum(total / self.problem.weight, 1.0)
        return np.asarray(mass / excess)

    @cached_property
    def shares(self) -> Floats:
        """Share of the room that each pair uses, (K, P); negative for downward moves."""
        up, down = self._rooms(self.start)
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
        for group, mass in zip(self._groups, self.plan.switched, strict=True):
            held = self.start @ self.problem.moves.rows[:, group.columns]
            safe = np.where(held > 0, held, np.inf)[:, :, None]
            share = np.maximum(mass, 0.0) / safe
            # Nothing balances a category that no row has: leave it out of the plan.
            share[:, :, ~self.problem.moves.rows[:, group.columns].any(axis=0)] = 0.0
            total = share.sum(axis=2, keepdims=True)
            found.append(share / np.maximum(total, 1.0))
        return found

    @property
    def _groups(self) -> list[CategoricalGroup]:
        return [g for g in self.problem.moves.groups if np.isfinite(g.cost)]

    def _rooms(self, mass: Floats) -> tuple[Floats, Floats]:
        """Mass times room of each pair, (K, P) up and down; inf on unbounded sides."""
        held, total = mass @ self.problem.moves.rows, mass.sum(axis=1)[:, None]
        low, high = self.problem.ball.box(self.problem.n_features)
        movable = np.isfinite(self.problem.moves.cost)
        rooms = []
        for sign, end in ((1.0, high), (-1.0, low)):
            ended = np.where(np.isfinite(end), end, 0.0)
            room = np.where(movable, np.maximum(sign * (total * ended - held), 0.0), 0.0)
            rooms.append(np.where(movable & np.isinf(end), np.inf, room))
        return rooms[0], rooms[1]

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
        for group, switched in zip(self._groups, self.switch_shares, strict=True):
            staying = np.eye(len(group.columns)) * (1 - switched.sum(axis=2))[:, None]
            square = np.ix_(np.arange(n_pairs), group.columns, group.columns)
            lifts[square] = staying + switched
        return lifts

    def _over_blocks(self, work: Callable[[slice], Any]) -> list[Any]:
        with row_threads(self.problem.n_rows) as run:
            return [*run(work, self.problem.blocks())]

    def _rows(self, rows: slice) -> Floats:
        """(x_n, 1) of some rows."""
        block = self.problem.moves.rows[rows]
        return np.hstack([block, np.ones((len(block), 1))])

    def bound(self) -> float | None:
        """The bound, or None if tilting does not balance the plan."""
        every = np.ones(self._width, dtype=bool)
        found = tilted_until_equal(
            _Masses(self, self.start, self._sums(self.start)), [every]
        )
        if found.miss(every) > EQUALITY_ROUNDING:
            return None
        return self._scaled(found.mass)

    def is_poor(self, bound: float | None) -> bool:
        """Whether there is no bound, or tilting has lost much of the plan's value."""
        return bound is None or bound < CERTIFICATE.kept_share * self._scaled(self.start)

    @property
    def _width(self) -> int:
        return self.problem.n_features + int(self.problem.fit_intercept)

    def _sums(self, mass: Floats) -> _PlanSums:
        parts = self._over_blocks(lambda rows: self._sums_of(mass[:, rows], rows))
        residual, size, system = reduce(added, parts)
        endless = np.zeros((len(mass), self._width))
        endless[:, : self.problem.n_features] = self.endless
        np.add.at(residual, self.plan.winner, endless)
        np.subtract.at(residual, self.plan.label, endless)
        return _PlanSums(residual, size + np.abs(endless).sum(axis=0), system)

    def _sums_of(self, mass: Floats, rows: slice) -> _PlanSums:
        """The sums over some rows, without endless moves."""
        block, n_classes, width = self._rows(rows), self.problem.n_classes, self._width
        residual, size = np.zeros((n_classes, width)), np.zeros(width)
        system = np.zeros((n_classes, width, n_classes, width))
        drift = np.zeros((n_classes, len(block), width))
        for k in np.flatnonzero(self.plan.winner != self.plan.label):
            j, c = self.plan.winner[k], self.plan.label[k]
            design = block @ self.lifts[k]
            pulled = mass[k][:, None] * design
            drift[j] += pulled
            drift[c] -= pulled
            size += np.abs(pulled).sum(axis=0)
            gram = design.T @ pulled
            for p, q, sign in ((j, j, 1), (c, c, 1), (j, c, -1), (c, j, -1)):
                system[p, :, q] += sign * gram
        residual = drift.sum(axis=1)
        drift /= np.sqrt(self.problem.weight[rows])[:, None]
        flat = np.ascontiguousarray(drift.transpose(0, 2, 1)).reshape(-1, len(block))
        system -= (flat @ flat.T).reshape(system.shape)
        return _PlanSums(residual, size, system)

    def _tilted(self, mass: Floats, tilt: Floats) -> Floats:
        """Shift mass within each row along the tilt; mass without a pair has no pull."""
        along = tilt[self.plan.winner] - tilt[self.plan.label]
        planes = (self.lifts @ along[:, :, None])[:, :, 0]
        parts = self._over_blocks(lambda rows: self._tilted_of(mass, planes, rows))
        return np.concatenate(parts, axis=1)

    def _tilted_of(self, mass: Floats, planes: Floats, rows: slice) -> Floats:
        mass, weight = mass[:, rows], self.problem.weight[rows]
        pulls = planes @ self._rows(rows).T
        mean = (mass * pulls).sum(axis=0) / weight
        moved = mass * np.maximum(1.0 + pulls - mean, 0.0)
        rest = (weight - mass.sum(axis=0)) * np.maximum(1.0 - mean, 0.0)
        total = moved.sum(axis=0) + np.maximum(rest, 0.0)
        return np.asarray(moved * (weight / np.where(total > 0, total, 1.0)))

    def _scaled(self, mass: Floats) -> float:
        spent = self._spending(mass)
        share = 1.0 if spent <= self.problem.radius else self.problem.radius / spent
        return share * self._value(mass)

    def _value(self, mass: Floats) -> float:
        """What the plan makes every classifier lose.

        A smooth loss adds its entropy; then the plan has the pairs (c, c) too, and what a
        row has left stays with its own label.
        """
        loss, plan = self.problem.loss, self.plan
        value = loss.margin * float(mass[plan.winner != plan.label].sum())
        if loss.temperature == 0:
            return value
        parts = self._over_blocks(lambda rows: self._entropy_of(mass[:, rows], rows))
        return value + loss.temperature * float(sum(parts))

    def _entropy_of(self, mass: Floats, rows: slice) -> float:
        y, weight = self.problem.y[rows], self.problem.weight[rows]
        n_classes = self.problem.n_classes
        of_pair = np.zeros((n_classes, n_classes, len(y)))
        # A pair may stand in the plan several times, with different switches.
        np.add.at(of_pair, (self.plan.label, self.plan.winner), mass)
        left = np.maximum(weight - mass.sum(axis=0), 0.0)
        of_pair[y, y, np.arange(len(y))] += left
        return float(entr(of_pair).sum() - entr(of_pair.sum(axis=1)).sum())

    def _spending(self, mass: Floats) -> float:
        moves = self.problem.moves
        up, down = self._rooms(mass)
        room = np.where(self.shares > 0, up, down)
        moved = self.shares * np.where(np.isfinite(room), room, 0.0) + self.endless
        movable = np.isfinite(moves.cost)
        lengths = NORMS[self.problem.ball.norm].of_rows(
            moved[:, movable] * moves.cost[movable]
        )
        spent = float(lengths.sum())
        spent += float((np.where(mass > 0, self.price, 0.0) * mass).sum())
        for group, switched in zip(self._groups, self.switch_shares, strict=True):
            held = mass @ moves.rows[:, group.columns]
            spent += group.cost * float((held * switched.sum(axis=2)).sum())
        return spent


class _PlanSums(NamedTuple):
    """Residual (C, Q) of the equation, sizes of its terms (Q,), and a tilt's system.

    Q is the number of features, plus 1 with an intercept.
    """

    residual: Floats
    size: Floats
    system: Floats


class _Masses(NamedTuple):
    """Masses (K, N) of a plan, which can be tilted."""

    balance: _Balance
    mass: Floats
    sums: _PlanSums

    def miss(self, columns: Flags) -> float:
        size = np.maximum(self.sums.size, LEAST_SIZE)
        return float((np.abs(self.sums.residual) / size)[:, columns].max(initial=0.0))

    def tilted(self, ridge: float, columns: Flags) -> _Masses:
        tilt = solve_dense(self.sums.system, -self.sums.residual, ridge, columns)
        mass = self.balance._tilted(self.mass, tilt)
        # The error is relative to the terms before the first tilt.
        sums = self.balance._sums(mass)._replace(size=self.sums.size)
        return self._replace(mass=mass, sums=sums)
