r"""The l1 norm in the first-order method: coefficients in a box.

Adding one vector to all rows of M changes no score, so "every column of M has a range of
at most lam" may be replaced by |M_dc| <= lam / 2.  A proximal step about M_k is then

    V = M_k - t_d G,    M = clip(V, -lam / 2, lam / 2),

and lam solves  radius - spent - pressure(lam) + (lam - centre) / step = 0, where
pressure(lam) = 1/2 sum (|V_dc| - lam / 2)_+ / t_d.  Only V (T, C) is kept.

The polar is exact: sigma(G) = 1/2 sum |G|.
"""

from __future__ import annotations

import numpy as np

from ....arrays import Codes, Floats
from ..hinge_rows import LAM, compiled, helper
from .tables import TableBlock, newton_price

# The box holds after every settling of the price: often, but rows should take the time.
PRICES_AN_EPOCH = 4
NEWTON_STEPS = 4


class BoxBlock(TableBlock):
    """Coefficients of the touchable columns under the l1 norm."""

    rarity = 0.5
    boxed = True

    def sweep(self, order: Codes, tol: float, least_weight: float) -> None:
        """One epoch over the rows, in parts after which the price is settled."""
        settle_price(self.table, self.steps, self.price)
        pace = max(1, len(order) // PRICES_AN_EPOCH)
        for part in np.array_split(order, max(1, len(order) // pace)):
            self.sweep_rows(part, tol)
            settle_price(self.table, self.steps, self.price)

    def point(self) -> Floats:
        """M, the table V clipped to the box."""
        half = self.price[LAM] / 2
        return np.clip(self.table, -half, half)

    def polar(self, gradient: Floats) -> float:
        """sigma(G), G given as (T, C)."""
        return 0.5 * float(np.abs(gradient).sum())

    def own_gradient(self, gradient: Floats) -> Floats:
        """The part of G that the box carries."""
        half = self.price[LAM] / 2 * (1 - 1e-9)
        held = (np.abs(self.coef) >= half) & (gradient * self.coef < 0)
        return np.where(held, gradient, 0.0)

    def flow(self) -> None:
        """The certificate needs none."""


@helper
def box_pressure(table, steps, half):  # type: ignore[no-untyped-def]
    """1/2 sum (|V| - half)_+ / t, and how fast it falls with lam = 2 half."""
    pressure = 0.0
    rate = 0.0
    for d in range(len(table)):
        beyond = 0.0
        count = 0
        for c in range(table.shape[1]):
            excess = abs(table[d, c]) - half
            if excess > 0:
                beyond += excess
                count += 1
        pressure += beyond / steps[d]
        rate += count / steps[d]
    return 0.5 * pressure, 0.25 * rate


@compiled
def settle_price(table, steps, price):  # type: ignore[no-untyped-def]
    """lam for the present V."""
    for _ in range(NEWTON_STEPS):
        before = price[LAM]
        pressure, rate = box_pressure(table, steps, before / 2)
        newton_price(pressure, rate, price)
        if abs(price[LAM] - before) <= 1e-6 * before:
            break
