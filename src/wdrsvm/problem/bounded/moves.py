"""The best move of each row in the box, for each norm.

For every row of ``reach`` (N, P), the moves t maximise

    steepness . t - lam || cost t ||    over    0 <= t <= reach,

where steepness and cost are positive, of shape (P,).  A feature of infinite reach moves
only as far as the bounded features make it worthwhile.  ``worst_case.py`` accounts for
unlimited moves.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ...arrays import Floats


def _l1_move(steepness: Floats, reach: Floats, cost: Floats, lam: float) -> Floats:
    """Each feature moves to its end if this pays, else not at all."""
    return np.where((steepness > lam * cost) & np.isfinite(reach), reach, 0.0)


def _linf_move(steepness: Floats, reach: Floats, cost: Floats, lam: float) -> Floats:
    """All features move up to a common cost, as long as those still moving pay lam."""
    ends = np.sort(reach * cost)
    order = np.argsort(reach * cost)
    rates = (steepness / cost)[order]
    still = np.cumsum(rates[:, ::-1], axis=1)[:, ::-1]
    pays = (still > lam) & np.isfinite(ends)
    common = np.where(pays, ends, 0.0).max(axis=1)
    return np.asarray(np.minimum(reach, common[:, None] / cost))


def _l2_move(steepness: Floats, reach: Floats, cost: Floats, lam: float) -> Floats:
    """t_d = min(reach_d, tau a_d / cost_d^2) with lam tau = ||cost t||."""
    slope, ways = steepness / cost, reach * cost
    ends = ways / slope
    order = np.argsort(ends)
    sorted_ends = np.take_along_axis(ends, order, axis=1)
    paid = np.take_along_axis(np.where(np.isfinite(ways), ways, 0.0), order, axis=1)
    stopped, square = np.cumsum(paid**2, axis=1), slope[order] ** 2
    moving = square.sum(axis=1, keepdims=True) - np.cumsum(square, axis=1)
    stopped = np.hstack([np.zeros((len(reach), 1)), stopped])
    moving = np.hstack([square.sum(axis=1, keepdims=True), np.maximum(moving, 0.0)])
    # After k features have stopped, tau^2 (lam^2 - moving) = stopped.
    spare = lam**2 - moving
    tau = np.sqrt(np.divide(stopped, spare, out=np.zeros_like(spare), where=spare > 0))
    following = np.hstack([sorted_ends, np.full((len(reach), 1), np.inf)])
    holds = (spare > 0) & (tau <= following)
    first = holds.argmax(axis=1)
    # If no tau solves the equation, all features of finite reach move to their ends.
    farthest = np.where(np.isfinite(sorted_ends), sorted_ends, 0.0).max(axis=1)
    found = np.where(holds.any(axis=1), tau[np.arange(len(tau)), first], farthest)
    return np.asarray(np.minimum(reach, found[:, None] * slope / cost))


BestMove = Callable[[Floats, Floats, Floats, float], Floats]
BEST_MOVES: dict[str, BestMove] = {"l1": _l1_move, "l2": _l2_move, "linf": _linf_move}
