r"""Starts for the interior point: near a known classifier, or on a similar problem's path.

A solution itself is a bad start, because it lies on the boundary, where steps are short.  A
good start lies in the interior, with a gap of the size of the difference between the two
problems.  Slacks must be exact, because the method keeps points primal feasible.
Multipliers only have to be positive.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...arrays import Flags, Floats
from ...problem import RobustProblem, lipschitz
from ...problem.certificate.gap import allowed_gap
from ..result import Start
from .point import Iterate, ScaledData
from .settings import INTERIOR_POINT


class PathPoint(NamedTuple):
    """A point on the path to a solution, and its relative gap."""

    gap: float
    coef: Floats
    lam: float
    rows: tuple[Floats, Floats, Floats, Floats]
    cone: tuple[Floats, Floats]


class PathMemory:
    """Points of the last run, from which a similar problem may start."""

    def __init__(self) -> None:
        self.points: list[PathPoint] = []

    def look(self, at: Iterate, gap: float) -> None:
        if INTERIOR_POINT.narrowest <= gap <= INTERIOR_POINT.widest:
            copies = at.rows.arrays(), at.cone.rows()
            self.points.append(PathPoint(gap, at.coef, at.lam, *copies))

    def nearest(self, gap: float) -> PathPoint | None:
        """The point whose gap has the ratio nearest to 1 with the given gap."""
        if not self.points:
            return None
        return min(self.points, key=lambda point: abs(np.log(point.gap / gap)))


def taken_over(data: ScaledData, norm: str, point: PathPoint) -> Iterate | None:
    """The point of a similar problem, made a point of the problem of ``data``.

    The similar problem has the same rows, but another radius or other flip costs.  If it
    has other possible flips, the result is None.
    """
    iterate = Iterate(data, norm)
    exists, (kept, mult, s, h) = iterate.rows.existing, point.rows
    if not np.array_equal(exists, mult > 0):
        return None
    iterate.put(point.coef, point.lam)
    iterate.cone.put_rows(*point.cone)
    slack = _slacks(iterate, point.coef, s, h)
    lack = np.where(exists, INTERIOR_POINT.kept_slack * kept - slack, 0.0)
    lift = lack[::2].max(axis=(0, 1), initial=0.0)  # h, and with it the rows 1, stays
    slack[::2] += np.where(exists[::2], lift, 0.0)
    iterate.rows.put(slack, mult, s + lift, h)
    return iterate


def placed(data: ScaledData, problem: RobustProblem, start: Start) -> Iterate | None:
    """A point in the interior near a classifier; None for a constant one without lam."""
    iterate, scaling = Iterate(data, problem.norm), data.scaling
    coef = scaling.scaled(start.coef, start.intercept)
    touchable = coef[:, : data.n_touchable]
    if problem.norm == "l1":  # the gauge in which its box holds
        touchable -= (touchable.max(axis=0) + touchable.min(axis=0)) / 2
    steepest = lipschitz(start.coef, problem.norm, problem.attainable_feature_cost())
    lam = scaling.unit * max(start.lam, steepest) * (1 + INTERIOR_POINT.inside)
    if not lam > 0:
        return None
    iterate.put(coef, lam)
    least_h, exists = (coef @ data.columns).max(axis=0), iterate.rows.existing
    slack = _slacks(iterate, coef, np.zeros_like(least_h), least_h)
    loss = np.where(exists, -slack, -np.inf)[::2].max(axis=(0, 1))
    value = (data.radius * lam + float(data.weight @ loss)) / data.mass
    gap = allowed_gap(INTERIOR_POINT.inside, value)
    centre = gap * data.mass / iterate.degree
    inside = gap + centre / data.weight
    h, s = least_h + inside / 2, loss + inside + inside / 2
    slack = _slacks(iterate, coef, s, h)
    mult = _central_multipliers(slack, exists, data.weight, centre)
    iterate.rows.put(slack, mult, s, h)
    iterate.cone.place(touchable, lam, centre)
    return iterate


def _slacks(at: Iterate, coef: Floats, s: Floats, h: Floats) -> Floats:
    """Slacks (kinds, C, N) of the samples' rows; 1 for rows that do not exist."""
    data, exists, n = at.data, at.rows.existing, np.arange(len(s))
    z = coef @ data.columns
    slack = np.empty(exists.shape)
    slack[0] = s - z + z[data.y, n] - 1.0
    slack[0, data.y, n] = s
    if len(slack) == 3:
        slack[1] = h - z
        slack[2] = s - h + z - 1.0 + at.lam * np.where(exists[2], data.kappa.T, 0.0)
    return np.where(exists, slack, 1.0)


def _central_multipliers(
    slack: Floats, exists: Flags, weight: Floats, centre: float
) -> Floats:
    """Multipliers near the centre with the right sums in every sample."""
    mult = np.where(exists, centre / slack, 0.0)
    mult[::2] *= weight / mult[::2].sum(axis=(0, 1))
    if len(mult) == 3:
        flipped, winning = mult[2].sum(axis=0), mult[1].sum(axis=0)
        none = np.zeros_like(flipped)
        mult[1] *= np.divide(flipped, winning, out=none, where=winning > 0)
    return mult
