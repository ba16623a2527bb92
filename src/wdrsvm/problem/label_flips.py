"""How the adversary spends its budget on labels: a fractional knapsack.

Item (n, c) turns the label of row n into c at the cost k[n, c] and the gain
l(z_n, c) - l(z_n, y_n).  Of each row only the upper concave envelope of gain against cost
is ever bought.  Items are bought by gain per cost, best first, while they pay more than
moving features does.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..arrays import Codes, Floats
from ..rows.along_rows import row_maxima


class Flips(NamedTuple):
    """Label flips worth considering: per row, the upper concave envelope of gain
    against cost.  ``gain`` and ``cost`` are increments over the row's previous flip."""

    row: Codes
    label: Codes
    cost: Floats
    gain: Floats

    @property
    def rate(self) -> Floats:
        return self.gain / self.cost


class FlipChoices(NamedTuple):
    """Loss and label of each row after all free flips, and the flips that cost."""

    loss: Floats
    label: Codes
    flips: Flips


class Purchase(NamedTuple):
    """What a budget buys: flips, best first, the last one perhaps in part.

    ``share`` is the part of each row's mass that is flipped, ``left`` the budget that
    remains for moving features, ``gain`` what flips and movement add to the risk and
    ``rate`` what the last unit of budget adds.
    """

    flips: Codes
    share: Floats
    left: float
    gain: float
    rate: float


def flip_envelope(losses: Floats, y: Codes, cost: Floats) -> FlipChoices:
    """Losses and labels after all free flips, and the flips that cost something.

    Walks up each row's concave envelope of loss against cost, all rows at once; there
    are at most C - 1 steps, and one when the cost is the same for all flips.
    """
    rows = np.arange(len(y))
    own = losses[rows, y]
    free = np.where(cost == 0, losses, -np.inf)
    free[rows, y] = own
    kept = row_maxima(free)
    given = np.where(kept > own, free.argmax(axis=1), y)
    height, spent = kept.copy(), np.zeros(len(y))
    steps: list[Flips] = []
    while len(rows):
        gain = losses[rows] - height[rows, None]
        extra = cost[rows] - spent[rows, None]
        pays = (gain > 0) & (extra > 0) & np.isfinite(extra)
        rate = np.divide(gain, extra, out=np.full_like(gain, -np.inf), where=pays)
        best_rate = row_maxima(rate)
        # Of equal rates the dearest flip: it contains the cheaper ones.
        label = np.where(rate == best_rate[:, None], extra, -np.inf).argmax(axis=1)
        going = np.flatnonzero(best_rate > 0)
        rows, label = rows[going], label[going]
        steps.append(Flips(rows, label, extra[going, label], gain[going, label]))
        height[rows], spent[rows] = losses[rows, label], cost[rows, label]
    flips = Flips(*(np.concatenate(part) for part in zip(*steps, strict=True)))
    return FlipChoices(kept, given, flips)


def spend(flips: Flips, mass: Floats, budget: float, move_rate: float) -> Purchase:
    """Buy flips of the given masses while they pay more than moving; the rest moves."""
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
