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
from ....problem.norms import polar
from ..kernels import settle_price
from ..settings import FIRST_ORDER
from .tables import TableBlock


class BoxBlock(TableBlock):
    """Coefficients of the touchable columns under the l1 norm."""

    rarity = 0.5
    boxed = True

    def sweep(self, order: Codes, tol: float, least_weight: float) -> None:
        """One epoch over the rows, in parts after which the price is settled."""
        settle_price(self.table, self.steps, self.price)
        pace = max(1, len(order) // FIRST_ORDER.prices_per_epoch)
        for part in np.array_split(order, max(1, len(order) // pace)):
            self.sweep_rows(part, tol)
            settle_price(self.table, self.steps, self.price)

    def point(self) -> Floats:
        """M, the table V clipped to the box."""
        half = self.price.lam / 2
        return np.clip(self.table, -half, half)

    def polar(self, gradient: Floats, rtol: float = 0.0) -> float:
        """sigma(G), G given as (T, C)."""
        return polar(gradient.T, "l1", np.ones(len(gradient)))

    def own_gradient(self, gradient: Floats) -> Floats:
        """The part of G that the box carries."""
        half = self.price.lam / 2 * (1 - FIRST_ORDER.box_rounding)
        held = (np.abs(self.coef) >= half) & (gradient * self.coef < 0)
        return np.where(held, gradient, 0.0)

    def flow(self) -> None:
        """The certificate needs none."""
