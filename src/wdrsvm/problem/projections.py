r"""Exact projection on the set of (lam, M) with L(M) <= lam.

    project(lam', M')  =  argmin  (lam - lam')^2 + ||M - M'||_F^2
                          over    || (M_i - M_j) / c ||_*  <=  lam   for all i < j,

M has the shape (C, P), the feature costs c have the shape (P,).  A feature of infinite cost
does not change.  lam always solves  lam - lam' - e(lam) = 0  for a function e that is
decreasing, convex and piecewise linear.  The root is the largest of the roots of the linear
pieces.  Sorting the pieces finds it without a search.

``l1``  In the set, column d has a range of at most w = lam c_d.  The nearest such column
    clips the given column to an interval of length w.  The interval cuts off as much mass
    e_d(w) at the top as it adds at the bottom.  Then e(lam) = sum_d c_d e_d(lam c_d),
    because -e_d is the slope of half the squared distance.  All of this is O(PC log PC).

``l2``, ``linf``  Multipliers T_p (P,) of the pairs p = (i, j), with M = M' - div(T) / c,
    minimise  (lam' + sum_p ||T_p||)_+^2 / 2 + ||M' - div(T) / c||^2 / 2.  This is Dykstra's
    dual.  It is minimised over all pairs at once, by accelerated proximal steps with
    restarts.  The prox of the first term is again a root search, for lam.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from ..arrays import Codes, Floats
from .norms import incidence

MAX_ROUNDS = 20_000
RTOL = 1e-13
# The step size follows the least feature cost, and is far too small for much larger costs.
# If the ratio of the costs exceeds FAR_APART, ROUGH_ROUNDS rounds give a rough projection,
# and more rounds would hardly improve it.
FAR_APART, ROUGH_ROUNDS = 1e3, 200


class Projected(NamedTuple):
    """The nearest point of the set."""

    lam: float
    coef: Floats


# From lam', a target of the multipliers (pairs, P) and a step size to lam and multipliers.
Shrink = Callable[[float, Floats, float], tuple[float, Floats]]


def project(
    lam: float, coef: Floats, norm: str, feature_cost: Floats, rtol: float = RTOL
) -> Projected:
    """The point (lam, M) nearest to the given one with ||(M_i - M_j) / c||_* <= lam.

    Parameters
    ----------
    lam : float
        Any number; the projected lam is at least 0.
    coef : array of shape (C, P)
        Coefficients.
    norm : {"l1", "l2", "linf"}
        The transport norm; the constraint has its dual norm.
    feature_cost : array of shape (P,)
        Positive costs; infinite costs are allowed.
    rtol : float, default=1e-13
        For ``l2`` and ``linf``: the rounds end when the multipliers change by no more
        than this share of the coefficients.  ``l1`` needs no rounds.

    Returns
    -------
    Projected
        lam and coef; coef is a new array.

    Examples
    --------
    >>> import numpy as np
    >>> from wdrsvm.problem.projections import project
    >>> project(0.0, np.array([[3.0], [0.0]]), "l1", np.ones(1))
    Projected(lam=1.0, coef=array([[2.],
           [1.]]))
    """
    touchable = np.isfinite(feature_cost)
    if touchable.all():
        return _PROJECTIONS[norm](lam, coef, feature_cost, rtol)
    nearest = coef.copy()
    lam, nearest[:, touchable] = _PROJECTIONS[norm](
        lam, coef[:, touchable], feature_cost[touchable], rtol
    )
    return Projected(lam, nearest)


def _root(lam: float, begins: Floats, height: Floats, slope: Floats) -> float:
    """The least mu >= 0 with  mu - lam - e(mu) >= 0,  e a sum of decreasing functions.

    Each row of the arrays is one of these functions.  Below ``begins`` the function is
    height - slope mu, down to the ``begins`` of the next entry in the row.  Above the first
    ``begins`` it is 0.  A sum of one line per row never exceeds e.  Hence the root of this
    sum never exceeds the root of e.
    """
    order = np.argsort(-np.minimum.accumulate(begins, axis=1), axis=None, kind="stable")
    more, steeper = height.copy(), slope.copy()
    more[:, 1:] -= height[:, :-1]
    steeper[:, 1:] -= slope[:, :-1]
    sums, slopes = np.cumsum(more.ravel()[order]), np.cumsum(steeper.ravel()[order])
    return max(lam, float(((lam + sums) / (1.0 + slopes)).max(initial=0.0)))


class _Levels:
    """Rows of decreasing entries (n, k): running sums, and the mass above each entry."""

    def __init__(self, falling: Floats):
        self.sums = np.cumsum(falling, axis=1)
        self.mass = self.sums - np.arange(1, falling.shape[1] + 1) * falling

    def level(self, each: Codes, count: Codes, mass: Floats | float) -> Floats:
        """The common height of the ``count`` largest entries after ``mass`` is cut off."""
        return np.asarray((self.sums[each, count - 1] - mass) / count)


class ClippedColumns:
    """Columns to be clipped, and the mass that clipping to a given width cuts off.

    Cutting the mass e off the k largest entries leaves the top at (their sum - e) / k, up
    to the mass e at which the top reaches the next entry.  The bottom is analogous.  This
    gives 2C breakpoints of e.  Between them the width decreases linearly in e:
    e = share (spread - width),  where the spread is the distance of the two means.
    """

    def __init__(self, coef: Floats):
        n_classes, n_features = coef.shape
        rising = np.sort(coef.T)
        self.top, self.bottom = _Levels(rising[:, ::-1]), _Levels(-rising)
        mass = np.concatenate([self.top.mass, self.bottom.mass], axis=1)
        order = np.argsort(mass, kind="stable")
        # Number of entries that the top has reached at each breakpoint; the other
        # breakpoints so far belong to the bottom.
        n_cut = np.cumsum(order < n_classes, axis=1)
        n_filled = np.arange(1, 2 * n_classes + 1) - n_cut
        self.n_cut, self.n_filled = np.maximum(n_cut, 1), np.maximum(n_filled, 1)
        self.each = np.arange(n_features)
        self.share = 1.0 / (1.0 / self.n_cut + 1.0 / self.n_filled)
        rows = self.each[:, None]
        self.spread = self.top.level(rows, self.n_cut, 0.0)
        self.spread += self.bottom.level(rows, self.n_filled, 0.0)
        self.width = self.spread - mass[rows, order] / self.share

    def clipped(self, coef: Floats, width: Floats) -> Floats:
        """Each column clipped to an interval of its width; equal mass is cut and added."""
        last = np.maximum((self.width > width[:, None]).sum(axis=1) - 1, 0)
        place = self.each, last
        mass = np.maximum(self.share[place] * (self.spread[place] - width), 0.0)
        high = self.top.level(self.each, self.n_cut[place], mass)
        low = -self.bottom.level(self.each, self.n_filled[place], mass)
        untouched = mass == 0
        high[untouched], low[untouched] = np.inf, -np.inf
        return np.minimum(np.maximum(coef, low), high)


def _column_ranges(lam: float, coef: Floats, cost: Floats, rtol: float) -> Projected:
    """The projection for ``l1``: every column is clipped to an interval."""
    columns, c = ClippedColumns(coef), cost[:, None]
    slope = columns.share * c
    root = _root(lam, columns.width / c, slope * columns.spread, slope * c)
    return Projected(root, columns.clipped(coef, root * cost))


def _pair_cones(
    lam: float, coef: Floats, cost: Floats, rtol: float, shrink: Shrink
) -> Projected:
    """The projection for other norms: accelerated steps on the multipliers of the pairs."""
    pairs = incidence(len(coef))
    flow = ahead = np.zeros((len(pairs), len(cost)))
    # pairs' @ pairs is the Laplacian of the complete graph, whose norm is C.
    step = float((cost**2).min(initial=np.inf)) / len(coef)
    enough = rtol * step * (abs(lam) + float(np.abs(coef).max(initial=0.0)))
    momentum, root = 1.0, max(lam, 0.0)
    for _ in range(_most_rounds(cost) if flow.size else 0):
        at = coef - (pairs.T @ ahead) / cost
        root, moved = shrink(lam, ahead + step * (pairs @ at) / cost, step)
        change = moved - flow
        momentum = 1.0 if np.vdot(ahead - moved, change) > 0 else momentum
        faster = (1.0 + np.sqrt(1.0 + 4.0 * momentum**2)) / 2.0
        ahead, flow = moved + (momentum - 1.0) / faster * change, moved
        momentum = faster
        if np.abs(change).max() <= enough:
            break
    return Projected(root, coef - (pairs.T @ flow) / cost)


def _most_rounds(cost: Floats) -> int:
    return MAX_ROUNDS if cost.max() <= FAR_APART * cost.min() else ROUGH_ROUNDS


def _shrink_lengths(lam: float, target: Floats, step: float) -> tuple[float, Floats]:
    """argmin over T of step (lam + sum_p ||T_p||_2)_+^2 / 2 + ||T - target||^2 / 2.

    With mu the value in the brackets, each row of the target becomes shorter by step mu.
    """
    length = np.linalg.norm(target, axis=1, keepdims=True)
    mu = _root(lam, length, length, np.full_like(length, step))
    kept = np.maximum(length - step * mu, 0.0) / np.where(length > 0, length, 1.0)
    return mu, target * kept


def _shrink_largest(lam: float, target: Floats, step: float) -> tuple[float, Floats]:
    """The same with ||T_p||_inf: subtract from each row its projection on an l1 ball.

    The l1 ball has the radius step mu.  The result clips the entries of each row at the
    height at which the total cut is step mu.
    """
    levels = _Levels(-np.sort(-np.abs(target)))
    each, count = np.arange(len(target)), np.arange(target.shape[1], 0, -1)
    falling = levels.sums[:, ::-1]
    begins = np.hstack([falling[:, :1], levels.mass[:, :0:-1]])
    slope = np.broadcast_to(step / count, falling.shape)
    mu = _root(lam, begins, falling / count, slope)
    taken = np.maximum((levels.mass < step * mu).sum(axis=1), 1)
    height = np.maximum(levels.level(each, taken, step * mu), 0.0)[:, None]
    return mu, np.clip(target, -height, height)


def _lengths(lam: float, coef: Floats, cost: Floats, rtol: float) -> Projected:
    return _pair_cones(lam, coef, cost, rtol, _shrink_lengths)


def _largest(lam: float, coef: Floats, cost: Floats, rtol: float) -> Projected:
    return _pair_cones(lam, coef, cost, rtol, _shrink_largest)


_PROJECTIONS = {"l1": _column_ranges, "l2": _lengths, "linf": _largest}
