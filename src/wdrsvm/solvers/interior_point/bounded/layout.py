r"""The training problem of a bounded ball, by pairs of classes.

Every ordered pair (winner j, label c) has the same local variables

    v = (a, d, lam, own),   a = M_j - M_c (P),   d = b_j - b_c,   own:

    up, down    parts >= 0 of a whose effect the finite ends of the box limit
    part        absolute values of the rest (a - up + down) / cost (linf only)
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

from dataclasses import dataclass

import numpy as np

from ....arrays import Codes, Floats
from ....problem import RobustProblem


@dataclass(frozen=True, eq=False)
class BoundedLayout:
    """The matrices of the program, which all pairs share.

    These are ``design`` (N, V), ``sides`` (S, V) and ``cone`` (0 or 1 + T, V).  ``start``
    (V,) is strictly feasible, with a = 0.  ``columns`` names the parts of v.  ``toll``
    (K, N) has k[n, c] of each pair, which is inf if the flip is impossible.  The last rows
    of ``sides`` belong to the groups of categories.  ``ended`` has the features of up and
    down.
    """

    design: Floats
    sides: Floats
    cone: Floats
    start: Floats
    columns: dict[str, slice]
    winner: Codes
    label: Codes
    toll: Floats
    group_sizes: list[int]
    ended: dict[str, Codes]

    @classmethod
    def of(cls, problem: RobustProblem) -> BoundedLayout:
        rows = _LocalRows(problem)
        winner, label = problem.moves.pairs
        price = problem.label_price()
        return cls(
            design=rows.design(),
            sides=np.vstack([rows.signs(), rows.norm_sides(), rows.switches()]),
            cone=rows.cone(),
            start=rows.start(),
            columns=rows.columns,
            winner=winner,
            label=label,
            toll=price[:, label].T.copy(),
            group_sizes=[len(group.columns) for group in rows.groups],
            ended=rows.ended,
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
        return int(self.design.shape[1] - self.columns["lam"].stop)

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
        """Multipliers (K, S) of the sides, as one array (K, from, to) per group."""
        found, end = [], mult.shape[1]
        for size in reversed(self.group_sizes):
            rows = mult[:, end - size * (size - 1) : end]
            square = np.zeros((len(mult), size, size))
            square[:, ~np.eye(size, dtype=bool)] = rows
            found.append(square)
            end -= size * (size - 1)
        return found[::-1]


class _LocalRows:
    """Builds the blocks of a layout."""

    def __init__(self, problem: RobustProblem):
        self.problem, self.moves = problem, problem.moves
        self.cost = self.moves.cost
        self.movable = np.flatnonzero(np.isfinite(self.cost))
        low, high = problem.ball.box(problem.n_features)
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
            "switch": sum(len(group.columns) for group in self.groups),
        }
        ends = np.cumsum(list(widths.values())).tolist()
        return {v: slice(end - widths[v], end) for v, end in zip(widths, ends, strict=True)}

    def design(self) -> Floats:
        up, down = self.moves.room
        switch = [self.moves.rows[:, group.columns] for group in self.groups]
        rows = np.zeros((self.problem.n_rows, self.n_local))
        rows[:, self.columns["a"]] = self.moves.rows
        rows[:, self.columns["d"]] = 1.0
        rows[:, self.columns["up"]] = up[:, self.ended["up"]]
        rows[:, self.columns["down"]] = down[:, self.ended["down"]]
        rows[:, self.columns["switch"]] = np.hstack([rows[:, :0], *switch])
        return rows

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
            columns = self.columns[part].start + np.arange(len(self.ended[part]))
            rows[self.ended[part], columns] = sign
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
        """switch_k >= a_k' - a_k - lam cost for every other category k'."""
        rows = []
        first = self.columns["switch"].start
        for group in self.groups:
            for k, column in enumerate(group.columns):
                for other in np.delete(group.columns, k):
                    row = np.zeros(self.n_local)
                    row[other], row[column] = 1.0, -1.0
                    row[self.columns["lam"]] = -group.cost
                    row[first + k] = -1.0
                    rows.append(row)
            first += len(group.columns)
        return np.array(rows).reshape(len(rows), self.n_local)

    def start(self) -> Floats:
        """A strictly feasible v with a = 0 and lam = 1."""
        start = np.zeros(self.n_local)
        start[self.columns["lam"]] = 1.0
        room = np.abs(self.design()).mean(axis=0)
        small = 0.25 / (1 + len(self.movable))
        for part, features in self.ended.items():
            columns = self.columns[part]
            start[columns] = np.minimum(
                1 / (1 + room[columns]), small * self.cost[features]
            )
        start[self.columns["part"]] = 2 * small
        start[self.columns["switch"]] = 1.0
        return start
