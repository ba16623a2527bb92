"""The cheapest movement of a row that changes a linear score by a given amount.

Minimises || cost t || subject to steepness . t >= gap and 0 <= t <= reach, for every row
of ``reach`` (N, D) and ``gap`` (N,).  ``steepness`` and ``cost`` are (D,), positive and
finite; entries of ``reach`` may be infinite.  A row that no movement takes so far gets the
movement that takes it farthest.

l1 buys features by steepness / cost, best first, each to the end of its reach.  The others
raise all features together, t_d = min(reach_d, s rate_d / steepness_d), with rate_d =
steepness_d / cost_d for linf and its square for l2; the gain as a function of s is
piecewise linear with a kink where a feature reaches its end.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ...arrays import Floats


def _before(table: Floats) -> Floats:
    """Sum of the entries before each entry, row by row."""
    sums = np.zeros_like(table)
    np.cumsum(table[:, :-1], axis=1, out=sums[:, 1:])
    return sums


def _l1_steps(steepness: Floats, reach: Floats, cost: Floats, gap: Floats) -> Floats:
    order = np.argsort(-steepness / cost, kind="stable")
    most = steepness[order] * reach[:, order]
    step = np.empty_like(reach)
    gained = np.clip(gap[:, None] - _before(most), 0.0, most)
    step[:, order] = gained / steepness[order]
    return np.minimum(step, reach)


def _together(
    steepness: Floats, reach: Floats, cost: Floats, gap: Floats, power: int
) -> Floats:
    rate, most = (steepness / cost) ** power, steepness * reach
    ends = most / rate
    order = np.argsort(ends, kind="stable")
    ends, ended = (np.take_along_axis(part, order, axis=1) for part in (ends, most))
    moving = np.cumsum(rate[order][:, ::-1], axis=1)[:, ::-1]
    ended = _before(ended)
    enough = ended + ends * moving >= gap[:, None]
    last = np.where(enough.any(axis=1), enough.argmax(axis=1), len(cost) - 1)[:, None]
    missing = gap - np.take_along_axis(ended, last, axis=1)[:, 0]
    common = missing / np.take_along_axis(moving, last, axis=1)[:, 0]
    return np.minimum(reach, np.maximum(common, 0.0)[:, None] * (rate / steepness))


def _l2_steps(steepness: Floats, reach: Floats, cost: Floats, gap: Floats) -> Floats:
    return _together(steepness, reach, cost, gap, power=2)


def _linf_steps(steepness: Floats, reach: Floats, cost: Floats, gap: Floats) -> Floats:
    return _together(steepness, reach, cost, gap, power=1)


NEAREST_STEPS: dict[str, Callable[[Floats, Floats, Floats, Floats], Floats]] = {
    "l1": _l1_steps,
    "l2": _l2_steps,
    "linf": _linf_steps,
}
