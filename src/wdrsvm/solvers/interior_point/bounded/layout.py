r"""The training problem of a bounded ball, by pairs of classes.

Every ordered pair (winner j, label c) has the same local variables

    v = (a, d, lam, own),   a = M_j - M_c (P),   d = b_j - b_c,   own:

    up, down    parts >= 0 of a whose effect the finite ends of the box limit
    part        absolute values of the rest (a - up + down) / cost (linf only)
    top         by how much the largest of a group's slopes exceeds their mean
    switch      gains >= 0 from leaving a category

and the same constraints.  The dual norm of the rest (a - up + down) / cost is at most lam.
The loss of row n under the pair is the linear form 1 + design_n . v - lam k[n, c].  In it,
up is multiplied by the distance from x_n to the upper end of the box, and down by the
distance to the lower end.  The linear constraints are ``sides @ v <= 0``.  For l2, the
vector ``cone @ v`` = (lam, the rest) lies in a second-order cone.

With l1 transport the norm treats each feature separately, and the same up and down are
optimal for all rows.  Therefore the program is exact.  With other norms the rows also share
up and down, and the program is a safe upper bound.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ....arrays import Codes, Floats
from ....problem import RobustProblem
from ....problem.ball import CategoricalGroup


@dataclass(frozen=True, eq=False)
class BoundedLayout:
    """The matrices of the program, which all pairs share.

    These are ``lift`` (P + 1, V), ``sides`` (S, V) and ``cone`` (0 or 1 + T, V), where
    design_n = (x_n, 1) lift.  ``start`` (V,) is strictly feasible, with a = 0.
    ``columns`` names the parts of v.  The last rows of ``sides`` belong to the groups of
    ``groups`` of categories that can be switched.  ``ended`` has the features of up and
    down, ``cost`` (P,) the feature costs.  ``shifts`` (G, n_shared) are changes of (a, d)
    that change no row's score, because one-hot columns sum to one.
    """

    lift: Floats
    sides: Floats
    cone: Floats
    start: Floats
    columns: dict[str, slice]
    winner: Codes
    label: Codes
    groups: list[CategoricalGroup]
    ended: dict[str, Codes]
    cost: Floats
    shifts: Floats

    @classmethod
    def of(cls, problem: RobustProblem, middle: Floats) -> BoundedLayout:
        """``middle`` (P,) is the mean of the rows."""
        rows = _LocalRows(problem, middle)
        winner, label = problem.moves.pairs
        return cls(
            lift=rows.lift(),
            sides=np.vstack([rows.signs(), rows.norm_sides(), rows.switches()]),
            cone=rows.cone(),
            start=rows.start(),
            columns=rows.columns,
            winner=winner,
            label=label,
            groups=rows.groups,
            ended=rows.ended,
            cost=rows.cost,
            shifts=rows.shifts(),
        )

    @property
    def n_pairs(self) -> int:
        return len(self.winner)

    @property
    def n_shared(self) -> int:
        """Number of local variables that are differences of classes: a and d."""
        return int(self.columns["lam"].start)

    @property
    def n_own(self) -> int:
        """Number of local variables that only one pair has: own."""
        return int(self.lift.shape[1] - self.columns["lam"].stop)

    def design(self, rows: Floats) -> Floats:
        """design_n of some rows x_n, (n, V)."""
        return np.asarray(rows @ self.lift[:-1] + self.lift[-1])

    def local(self, coef: Floats, lam: float, own: Floats) -> Floats:
        """v of every pair, (K, V)."""
        difference = coef[self.winner] - coef[self.label]
        return np.hstack([difference, np.full((self.n_pairs, 1), lam), own])

    def own_inside(self, coef: Floats, lam: float, slack: float) -> Floats:
        """The own variables (K, A) of a classifier, for l1 transport, a slack above the
        least ones: parts of slopes above lam cost, and gains of leaving categories."""
        slope = (coef[self.winner] - coef[self.label])[:, self.columns["a"]]
        local = np.zeros((self.n_pairs, self.lift.shape[1]))
        for part, sign in (("up", 1.0), ("down", -1.0)):
            features = self.ended[part]
            excess = sign * slope[:, features] - lam * self.cost[features]
            local[:, self.columns[part]] = np.maximum(excess, 0.0)
        for number, (group, switches) in enumerate(self._switches()):
            values = slope[:, group.columns]
            values = values - values.mean(axis=1, keepdims=True)
            top = values.max(axis=1, keepdims=True)
            local[:, [self.columns["top"].start + number]] = top
            gain = top + slack - values - lam * group.cost
            local[:, switches] = np.maximum(gain, 0.0)
        return np.asarray(local[:, self.columns["lam"].stop :] + slack)

    def _switches(self) -> Iterator[tuple[CategoricalGroup, slice]]:
        return switches_of(self.groups, self.columns["switch"].start)

    def limited(self, own: Floats) -> Floats:
        """up - down of every pair as (K, P)."""
        first = self.columns["lam"].stop
        left = np.zeros((len(own), self.columns["a"].stop))
        for part, sign in (("up", 1.0), ("down", -1.0)):
            columns = self.columns[part]
            left[:, self.ended[part]] += (
                sign * own[:, columns.start - first : columns.stop - first]
            )
        return left

    def switch_multipliers(self, mult: Floats) -> list[Floats]:
        """Multipliers (K, S) of the sides, as one array (K, from, to) per group.

        What leaves the categories is given to those that it enters, in proportion.
        """
        found, first = [], mult.shape[1] - 2 * sum(len(g.columns) for g in self.groups)
        for size in (len(group.columns) for group in self.groups):
            leaving, entering = np.split(mult[:, first : first + 2 * size], 2, axis=1)
            share = entering / entering.sum(axis=1, keepdims=True)
            square = leaving[:, :, None] * share[:, None, :]
            square[:, np.arange(size), np.arange(size)] = 0.0
            found.append(square)
            first += 2 * size
        return found


def switches_of(
    groups: list[CategoricalGroup], first: int
) -> Iterator[tuple[CategoricalGroup, slice]]:
    """The groups, and the columns of each group's switches, which begin at ``first``."""
    for group in groups:
        yield group, slice(first, first + len(group.columns))
        first += len(group.columns)


class _LocalRows:
    """Builds the blocks of a layout."""

    def __init__(self, problem: RobustProblem, middle: Floats):
        self.problem, self.moves = problem, problem.moves
        self.middle = np.append(middle, 1.0)
        self.cost = self.moves.cost
        self.movable = np.flatnonzero(np.isfinite(self.cost))
        self.box = low, high = problem.ball.box(problem.n_features)
        self.ended = {
            "up": self.movable[np.isfinite(high)[self.movable]],
            "down": self.movable[np.isfinite(low)[self.movable]],
        }
        self.groups = [group for group in self.moves.groups if np.isfinite(group.cost)]
        self.norm = problem.ball.norm
        self.columns = self._columns()
        self.n_local = self.columns["switch"].stop

    def _columns(self) -> dict[str, slice]:
        widths = {
            "a": self.problem.n_features,
            "d": int(self.problem.fit_intercept),
            "lam": 1,
            "up": len(self.ended["up"]),
            "down": len(self.ended["down"]),
            "part": len(self.movable) if self.norm == "linf" else 0,
            "top": len(self.groups),
            "switch": sum(len(group.columns) for group in self.groups),
        }
        ends = np.cumsum(list(widths.values())).tolist()
        return {v: slice(end - widths[v], end) for v, end in zip(widths, ends, strict=True)}

    def lift(self) -> Floats:
        """(P + 1, V): columns of v times (x, 1), such as high - x for up."""
        n_features, (low, high) = self.problem.n_features, self.box
        lift = np.zeros((n_features + 1, self.n_local))
        lift[:n_features, self.columns["a"]] = np.eye(n_features)
        lift[-1, self.columns["d"]] = 1.0
        for part, sign, ends in (("up", -1.0, high), ("down", 1.0, low)):
            features, columns = self.ended[part], self._numbers(part)
            lift[features, columns] = sign
            lift[-1, columns] = -sign * ends[features]
        for group, switches in self._switches():
            lift[group.columns, switches] = np.eye(len(group.columns))
        return lift

    def _numbers(self, part: str) -> Codes:
        return np.arange(self.columns[part].start, self.columns[part].stop)

    def _switches(self) -> Iterator[tuple[CategoricalGroup, slice]]:
        return switches_of(self.groups, self.columns["switch"].start)

    def signs(self) -> Floats:
        """lam, up, down and switch are nonnegative."""
        kept = [self.columns[part] for part in ("lam", "up", "down", "switch")]
        unit = np.eye(self.n_local)
        return -np.vstack([unit[columns] for columns in kept])

    def paid(self) -> Floats:
        """(a - up + down) / cost on the movable features."""
        rows = np.zeros((self.problem.n_features, self.n_local))
        rows[:, self.columns["a"]] = np.eye(len(rows))
        for part, sign in (("up", -1.0), ("down", 1.0)):
            rows[self.ended[part], self._numbers(part)] = sign
        return rows[self.movable] / self.cost[self.movable, None]

    def norm_sides(self) -> Floats:
        """Linear rows of the norm: lam >= |rest|, or part >= |rest| and lam >= sum part."""
        lam = np.zeros(self.n_local)
        lam[self.columns["lam"]] = 1.0
        if self.norm == "l1":
            return np.vstack([self.paid() - lam, -self.paid() - lam])
        if self.norm == "l2":
            return np.zeros((0, self.n_local))
        part = np.zeros((len(self.movable), self.n_local))
        part[:, self.columns["part"]] = np.eye(len(self.movable))
        total = part.sum(axis=0) - lam
        return np.vstack([self.paid() - part, -self.paid() - part, total])

    def cone(self) -> Floats:
        if self.norm != "l2":
            return np.zeros((0, self.n_local))
        lam = np.eye(self.n_local)[self.columns["lam"]]
        return np.vstack([lam, self.paid()])

    def switches(self) -> Floats:
        """switch_k >= mean a + top - a_k - lam cost, and top >= a_k - mean a.

        These are two rows per category.  One row for every two categories would say the
        same, but there would be too many if a feature has hundreds of categories.
        """
        blocks = [np.zeros((0, self.n_local))]
        for number, (group, switches) in enumerate(self._switches()):
            size = len(group.columns)
            entering, leaving = np.zeros((2, size, self.n_local))
            entering[:, group.columns] = np.eye(size) - 1.0 / size
            entering[:, self.columns["top"].start + number] = -1.0
            leaving[:, switches] = -np.eye(size)
            leaving[:, self.columns["lam"]] = -group.cost
            blocks += [leaving - entering, entering]
        return np.vstack(blocks)

    def shifts(self) -> Floats:
        """Each group's columns against the intercept; without one, against a group."""
        groups, n_shared = self.moves.groups, self.columns["lam"].start
        ones = np.zeros((len(groups), n_shared))
        for one, group in zip(ones, groups, strict=True):
            one[group.columns] = 1.0
        intercept = np.eye(n_shared)[self.columns["d"]]
        ones = np.vstack([ones, intercept])
        return np.asarray(ones[:-1] - ones[-1:])

    def start(self) -> Floats:
        """A strictly feasible v with a = 0 and lam = 1."""
        start = np.zeros(self.n_local)
        start[self.columns["lam"]] = 1.0
        room = self.middle @ self.lift()
        small = 0.25 / (1 + len(self.movable))
        for part, features in self.ended.items():
            columns = self.columns[part]
            start[columns] = np.minimum(
                1 / (1 + room[columns]), small * self.cost[features]
            )
        start[self.columns["part"]] = 2 * small
        costs = np.array([group.cost for group in self.groups])
        start[self.columns["top"]] = 0.1 * (1.0 + costs)
        start[self.columns["switch"]] = 1.0
        return start


def add_local(total: Floats, gram: Floats, plus: slice, minus: slice, own: Codes) -> None:
    """Add the matrix of a pair's local variables to the matrix of all variables.

    The first local variables are differences of the classes ``plus`` and ``minus``.
    """
    n = plus.stop - plus.start
    shared, mixed, rest = gram[:n, :n], gram[:n, n:], gram[n:, n:]
    total[plus, plus] += shared
    total[minus, minus] += shared
    total[plus, minus] -= shared
    total[minus, plus] -= shared
    total[plus, own] += mixed
    total[minus, own] -= mixed
    total[own, plus] += mixed.T
    total[own, minus] -= mixed.T
    total[np.ix_(own, own)] += rest
