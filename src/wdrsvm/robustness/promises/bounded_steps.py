"""The cheapest way to another class for rows in a box, or with categorical features.

The adversary switches a set S of categorical features and moves the numeric ones by the
cheapest step that gains what is still missing.  If there are few sets, all are tried.
Otherwise the cost is replaced by a lower bound: no movement gains more per unit of cost
than the best single feature.
"""

from __future__ import annotations

from itertools import product
from typing import NamedTuple

import numpy as np

from ...arrays import Codes, Floats
from ...problem.norms import NORMS
from ...problem.problem import RobustProblem
from .nearest_steps import NEAREST_STEPS

# With more categorical features, there are too many sets of switches to try.
MAX_SWITCHES = 6
# A gain that misses the gap by this share misses it by rounding.
GAIN_ROUNDING = 1e-12


class Way(NamedTuple):
    """For each row the cost of the way to another class, and its movement (N, P).

    The cost is inf where there is no way; the movement has no meaning there.
    """

    cost: Floats
    step: Floats


class BoundedSteps:
    """Ways to other classes for the rows of a problem with a bounded ball."""

    def __init__(self, problem: RobustProblem) -> None:
        self.problem = problem
        self.moves = problem.moves
        self.groups = [group for group in self.moves.groups if np.isfinite(group.cost)]

    @property
    def is_exact(self) -> bool:
        """Whether all sets of switches are tried."""
        return len(self.groups) <= MAX_SWITCHES

    def costs(self, coef: Floats, leads: Floats) -> Floats:
        """The least cost of losing the label, (N,); ``leads`` (C, N) over each class."""
        best = np.full(leads.shape[1], np.inf)
        for rows, own, rival in self._pairs(len(coef)):
            slope, gap = coef[rival] - coef[own], leads[rival, rows]
            costs = self.way(slope, gap, rows).cost if self.is_exact else None
            if costs is None:
                costs = self._least_costs(slope, gap, rows)
            best[rows] = np.minimum(best[rows], costs)
        return best

    def steps(self, coef: Floats, leads: Floats, rows: Codes) -> Floats:
        """The movements of some rows to their nearest other class, (len(rows), P)."""
        cost = np.full(len(rows), np.inf)
        step = np.zeros((len(rows), coef.shape[1]))
        for some, own, rival in self._pairs(len(coef), rows):
            way = self.way(coef[rival] - coef[own], leads[rival, rows[some]], rows[some])
            better = way.cost < cost[some]
            cost[some[better]], step[some[better]] = way.cost[better], way.step[better]
        return step

    def _pairs(
        self, n_classes: int, rows: Codes | None = None
    ) -> list[tuple[Codes, int, int]]:
        """Positions of the rows of each label, the label and each of its rivals."""
        y = self.problem.y if rows is None else self.problem.y[rows]
        return [
            (np.flatnonzero(y == own), own, rival)
            for own, rival in product(np.unique(y).tolist(), range(n_classes))
            if own != rival
        ]

    def way(self, slope: Floats, gap: Floats, rows: Codes) -> Way:
        """The cheapest way to gain ``gap`` along ``slope``."""
        best = Way(np.full(len(rows), np.inf), np.zeros((len(rows), len(slope))))
        switches = [self._switch(index, slope, rows) for index in range(len(self.groups))]
        for chosen in product((False, True), repeat=len(switches)):
            used = [each for each, is_used in zip(switches, chosen, strict=True) if is_used]
            paid = sum((switch.cost for switch in used), start=np.zeros(len(rows)))
            gained = sum((switch.step @ slope for switch in used), start=0.0)
            way = self._numeric(slope, gap - gained, rows)
            better = way.cost + paid < best.cost
            best.cost[better] = (way.cost + paid)[better]
            best.step[better] = way.step[better]
            for switch in used:
                best.step[better] += switch.step[better]
        return best

    def _switch(self, index: int, slope: Floats, rows: Codes) -> Way:
        """The best category of one feature."""
        group = self.groups[index]
        now = self.moves.rows[np.ix_(rows, group.columns)]
        step = np.zeros((len(rows), len(slope)))
        unit = np.zeros(len(group.columns))
        unit[slope[group.columns].argmax()] = 1.0
        step[:, group.columns] = unit - now
        return Way(np.full(len(rows), group.cost), step)

    def _numeric(self, slope: Floats, gap: Floats, rows: Codes) -> Way:
        used = np.isfinite(self.moves.cost) & (slope != 0)
        step = np.zeros((len(rows), len(slope)))
        missing = np.maximum(gap, 0.0)
        gained = np.zeros(len(rows))
        if used.any():
            up, down = self.moves.room
            reach = np.where(slope > 0, up[rows], down[rows])[:, used]
            steepness, cost = np.abs(slope[used]), self.moves.cost[used]
            nearest = NEAREST_STEPS[self.problem.ball.norm]
            moved = nearest(steepness, reach, cost, missing)
            step[:, used], gained = np.sign(slope[used]) * moved, moved @ steepness
        price = self.moves.move_cost(step)
        return Way(np.where(gained >= missing * (1 - GAIN_ROUNDING), price, np.inf), step)

    def _least_costs(self, slope: Floats, gap: Floats, rows: Codes) -> Floats:
        """A lower bound: the gap over the best gain per cost of any single feature."""
        movable = np.isfinite(self.moves.cost)
        norm = NORMS[self.problem.ball.norm]
        numeric = norm.dual_of_rows(slope[movable] / self.moves.cost[movable])
        rate: Floats = np.full(len(rows), float(numeric))
        for index in range(len(self.groups)):
            switch = self._switch(index, slope, rows)
            rate = np.maximum(rate, switch.step @ slope / switch.cost)
        missing = np.maximum(gap, 0.0)
        out = np.where(missing > 0, np.inf, 0.0)
        return np.divide(missing, rate, out=out, where=rate > 0)
