r"""Interior points to begin with: near a known classifier, or near a neighbour's path.

A solution itself is a bad beginning: it lies on the boundary, where steps are short.  A
point somewhat inside, whose gap is of the size of what has changed, is a good one.  Slacks
must be exact (the method keeps the primal feasible), multipliers only positive.
"""

from __future__ import annotations

import copy
from typing import NamedTuple

import numpy as np

from ...arrays import Flags, Floats
from ...problem import RobustProblem, lipschitz
from ..cones.complementarity import Rows
from ..cones.polyhedral import Cone
from ..result import Start
from .point import Iterate, ScaledData

# How far inside a classifier of another problem is placed, relative to its objective.
INSIDE = 0.3
# Relative gaps of the points of a path that are worth remembering.
WIDEST, NARROWEST = 0.6, 0.02
# Slacks keep at least this share when a neighbour's point is taken over.
KEPT_SLACK = 0.3


class PathPoint(NamedTuple):
    """A point on the way to a solution, and the relative gap it had."""

    gap: float
    coef: Floats
    lam: float
    s: Floats
    h: Floats
    rows: Rows
    cone: Cone


class PathMemory:
    """The points of the last run that a neighbour may begin with."""

    def __init__(self) -> None:
        self.points: list[PathPoint] = []

    def look(self, at: Iterate, gap: float) -> None:
        if NARROWEST <= gap <= WIDEST:
            # Steps replace arrays and change none: the objects alone need copies.
            rows, cone = copy.copy(at.rows), copy.copy(at.cone)
            self.points.append(PathPoint(gap, at.coef, at.lam, at.s, at.h, rows, cone))

    def nearest(self, gap: float) -> PathPoint | None:
        """The point whose gap is nearest, by ratio."""
        if not self.points:
            return None
        return min(self.points, key=lambda point: abs(np.log(point.gap / gap)))


def taken_over(data: ScaledData, norm: str, point: PathPoint) -> Iterate | None:
    """A neighbour's point in the problem of ``data``: the same rows and flips that exist,
    another radius or other flip costs.  None where flips exist that did not."""
    iterate = Iterate(data, norm)
    if not np.array_equal(iterate.rows.exists, point.rows.exists):
        return None
    iterate.coef, iterate.lam = point.coef, point.lam
    iterate.cone = copy.copy(point.cone)
    slack = _slacks(iterate, point.s, point.h)
    lack = np.where(iterate.rows.exists, KEPT_SLACK * point.rows.slack - slack, 0.0)
    lift = lack[::2].max(axis=(0, 2), initial=0.0)  # h, and with it the rows 1, stays
    iterate.s, iterate.h = point.s + lift, point.h
    slack[::2] += np.where(iterate.rows.exists[::2], lift[:, None], 0.0)
    iterate.rows = Rows(slack, point.rows.mult)
    return iterate


def placed(data: ScaledData, problem: RobustProblem, start: Start) -> Iterate | None:
    """A classifier, moved inside; None if nothing is known but a constant one."""
    iterate, scaling = Iterate(data, problem.norm), data.scaling
    coef = scaling.scaled(start.coef, start.intercept)
    touchable = coef[:, : data.n_touchable]
    if problem.norm == "l1":  # the gauge in which its box holds
        touchable -= (touchable.max(axis=0) + touchable.min(axis=0)) / 2
    steepest = lipschitz(start.coef, problem.norm, problem.attainable_feature_cost())
    lam = scaling.unit * max(start.lam, steepest)
    if not lam > 0:
        return None
    iterate.coef, iterate.lam = coef, lam * (1 + INSIDE)
    least_h = (data.X @ coef.T).max(axis=1)
    exists = iterate.rows.exists
    short = np.where(exists, -_slacks(iterate, np.zeros_like(least_h), least_h), -np.inf)
    loss = short[::2].max(axis=(0, 2))
    value = (data.radius * iterate.lam + float(data.weight @ loss)) / data.mass
    gap = INSIDE * max(value, 1e-2)
    centre = gap * data.mass / iterate.degree
    inside = gap + centre / data.weight
    iterate.h = least_h + inside / 2
    iterate.s = loss + inside + inside / 2
    slack = _slacks(iterate, iterate.s, iterate.h)
    iterate.rows = Rows(slack, _central_multipliers(slack, exists, data.weight, centre))
    iterate.cone.place(touchable, iterate.lam, centre)
    return iterate


def _slacks(at: Iterate, s: Floats, h: Floats) -> Floats:
    """Slacks (3, N, C) of the samples' rows, 1 where there is no row."""
    data, n = at.data, np.arange(len(s))
    z = data.X @ at.coef.T
    slack = np.empty_like(at.rows.slack)
    slack[0] = s[:, None] - z + z[n, data.y][:, None] - 1.0
    slack[0, n, data.y] = s
    slack[1] = h[:, None] - z
    price = at.lam * np.where(at.rows.exists[2], data.kappa, 0.0)
    slack[2] = (s - h)[:, None] + z - 1.0 + price
    return np.where(at.rows.exists, slack, 1.0)


def _central_multipliers(
    slack: Floats, exists: Flags, weight: Floats, centre: float
) -> Floats:
    """Multipliers near the centre with the right sums in every sample."""
    mult = np.where(exists, centre / slack, 0.0)
    share = weight / (mult[0].sum(axis=1) + mult[2].sum(axis=1))
    mult[::2] *= share[:, None]
    flipped, winning = mult[2].sum(axis=1), mult[1].sum(axis=1)
    mult[1] *= np.divide(flipped, winning, out=np.zeros_like(share), where=winning > 0)[
        :, None
    ]
    return mult
