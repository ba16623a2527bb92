"""The adversary's budget for labels: a fractional knapsack.

Item (n, c) changes the label of row n to c at the cost k[n, c] and with the gain
l(z_n, c) - l(z_n, y_n).  For each row, only the items on the upper concave envelope of gain
against cost are useful.  Items are bought in the order of gain per cost, best first, as
long as they pay more than moving features.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..arrays import Codes, Floats
from ..rows.along_rows import row_maxima


class Flips(NamedTuple):
    """Useful label flips: for each row, the upper concave envelope of gain against cost.

    ``gain`` and ``cost`` are increments over the row's previous flip.
    """

    row: Codes
    label: Codes
    cost: Floats
    gain: Floats

    @property
    def rate(self) -> Floats:
        return self.gain / self.cost


_NO_ROWS, _NO_COSTS = np.empty(0, dtype=np.intp), np.empty(0)
NO_FLIPS = Flips(_NO_ROWS, _NO_ROWS, _NO_COSTS, _NO_COSTS)


class FlipChoices(NamedTuple):
    """Loss and label of each row after all free flips, and the flips that are not free."""

    loss: Floats
    label: Codes
    flips: Flips


class Purchase(NamedTuple):
    """The flips that a budget buys, best first; the last one may be bought in part.

    ``share`` is the part of each row's mass that is flipped.  ``left`` is the budget that
    remains for moving features.  ``gain`` is the increase of the risk by flips and moves.
    ``rate`` is the increase of the risk by the last unit of the budget.
    """

    flips: Codes
    share: Floats
    left: float
    gain: float
    rate: float


def flip_envelope(losses: Floats, y: Codes, cost: Floats) -> FlipChoices:
    """Losses and labels after all free flips, and the flips that are not free.

    Goes up the concave envelope of loss against cost, for all rows at once.  There are at
    most C - 1 steps, and one step if all flips have the same cost.
    """
    kept, given = _after_free_flips(losses, y, cost)
    possible = np.isfinite(cost)
    # A row is done when it has the largest loss that a possible flip leads to.
    reached = np.where(possible, losses, -np.inf)
    top = row_maxima(reached)
    rows = np.flatnonzero(top > kept)
    if (price := _one_price(cost[possible])) is not None:
        label = reached[rows].argmax(axis=1)
        gain = top[rows] - kept[rows]
        return FlipChoices(kept, given, Flips(rows, label, np.full(len(rows), price), gain))
    height, spent = kept.copy(), np.zeros(len(y))
    steps = [NO_FLIPS]
    while len(rows):
        gain = losses[rows] - height[rows, None]
        extra = cost[rows] - spent[rows, None]
        pays = (gain > 0) & (extra > 0) & np.isfinite(extra)
        rate = np.divide(gain, extra, out=np.full_like(gain, -np.inf), where=pays)
        best_rate = row_maxima(rate)
        # Among equal rates take the most expensive flip, which includes the cheaper ones.
        label = np.where(rate == best_rate[:, None], extra, -np.inf).argmax(axis=1)
        going = np.flatnonzero(best_rate > 0)
        rows, label = rows[going], label[going]
        steps.append(Flips(rows, label, extra[going, label], gain[going, label]))
        height[rows], spent[rows] = losses[rows, label], cost[rows, label]
        rows = rows[top[rows] > height[rows]]
    flips = Flips(*(np.concatenate(part) for part in zip(*steps, strict=True)))
    return FlipChoices(kept, given, flips)


def _one_price(prices: Floats) -> float | None:
    """The price of all flips, if it is the same positive one for all; else None."""
    price = float(prices.max(initial=0.0))
    return price if price > 0 and (prices == price).all() else None


def _after_free_flips(losses: Floats, y: Codes, cost: Floats) -> tuple[Floats, Codes]:
    """Loss and label of each row after free flips, which most problems do not have."""
    rows, costless = np.arange(len(y)), cost == 0
    own = losses[rows, y]
    if not costless.any():
        return own, y
    free = np.where(costless, losses, -np.inf)
    free[rows, y] = own
    kept = row_maxima(free)
    return kept, np.where(kept > own, free.argmax(axis=1), y)


def spend(flips: Flips, mass: Floats, budget: float, move_rate: float) -> Purchase:
    """Buy flips while they pay more than moving; the rest of the budget moves features."""
    if not len(flips.row):
        return Purchase(_NO_ROWS, _NO_COSTS, budget, budget * move_rate, move_rate)
    cost, gain, rate = mass * flips.cost, mass * flips.gain, flips.rate
    worthwhile = np.flatnonzero((rate > move_rate) & (cost > 0))
    order = worthwhile[np.argsort(-rate[worthwhile], kind="stable")]
    running = np.cumsum(cost[order])
    n_whole = int(np.searchsorted(running, budget, side="right"))
    gained = float(gain[order[:n_whole]].sum())
    left = budget - (float(running[n_whole - 1]) if n_whole else 0.0)
    share = np.ones(len(order))
    if n_whole == len(order):
        return Purchase(order, share, left, gained + left * move_rate, move_rate)
    share[n_whole] = left / cost[order[n_whole]]
    last = slice(n_whole + 1)
    last_rate = float(rate[order[n_whole]])
    return Purchase(order[last], share[last], 0.0, gained + left * last_rate, last_rate)
