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
from numpy.typing import NDArray

from .first_order_rows import (
    CENTRE,
    LAM,
    PRESSURE,
    RADIUS,
    RESPONSE,
    SPENT,
    STEP,
    Duals,
    Floats,
    FreeTable,
    Rows,
    add_product,
    bounded,
    compiled,
    descend,
    helper,
    settle_flips,
    settle_labels,
)
from .first_order_steps import column_steps

# How much larger the steps of rare columns are: steps ~ (column mass) ^ -RARITY.
RARITY = 0.5
PRICES_AN_EPOCH = 4
NEWTON_STEPS = 4
MAX_GROWTH = 10.0


class BoxBlock:
    """Coefficients of the touchable columns under the l1 norm."""

    def __init__(
        self, rows: Rows, duals: Duals, free: FreeTable, price: Floats, coef: Floats
    ):
        self.rows, self.duals, self.free, self.price = rows, duals, free, price
        self.steps, curvature = column_steps(rows.touch, rows.weight, len(coef), RARITY)
        rows.touch_curvature[:] = curvature
        self.coef, self.table = coef, coef.copy()
        self.pace = max(1, len(rows.y) // PRICES_AN_EPOCH)

    @property
    def stiffness(self) -> float:
        """Mean curvature of a row."""
        return float(self.rows.touch_curvature.mean())

    def sweep(self, order: NDArray[np.intp], tol: float, least_weight: float) -> None:
        """One epoch over the rows."""
        settle_price(self.table, self.steps, self.price)
        for part in np.array_split(order, max(1, len(order) // self.pace)):
            sweep_rows(
                part,
                self.rows,
                self.duals,
                self.free,
                self.table,
                self.steps,
                self.price,
                True,
                tol,
            )
            settle_price(self.table, self.steps, self.price)

    def recentre(self) -> None:
        """Make the present M the centre of the next proximal step."""
        half = self.price[LAM] / 2
        coef = np.clip(self.table, -half, half)
        self.table += coef - self.coef
        self.coef = coef

    def soften(self, factor: float) -> None:
        """Longer proximal steps: G stays what it is."""
        self.steps *= factor
        self.rows.touch_curvature[:] *= factor
        self.table += (factor - 1) * (self.table - self.coef)

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
def newton_price(pressure, rate, price):  # type: ignore[no-untyped-def]
    """One Newton step on lam for the pressure found at the present one."""
    price[PRESSURE] = pressure
    price[RESPONSE] = 1.0 / (rate + 1.0 / price[STEP])
    excess = price[RADIUS] - price[SPENT] - pressure
    excess += (price[LAM] - price[CENTRE]) / price[STEP]
    lam = min(price[LAM] - price[RESPONSE] * excess, MAX_GROWTH * price[LAM])
    price[LAM] = bounded(lam, price)


@compiled
def settle_price(table, steps, price):  # type: ignore[no-untyped-def]
    """lam for the present V."""
    for _ in range(NEWTON_STEPS):
        before = price[LAM]
        pressure, rate = box_pressure(table, steps, before / 2)
        newton_price(pressure, rate, price)
        if abs(price[LAM] - before) <= 1e-6 * before:
            break


@helper
def _add_clipped(design, n, table, half, out):  # type: ignore[no-untyped-def]
    """out += row n of the design times the clipped table."""
    for k in range(design.indptr[n], design.indptr[n + 1]):
        x = design.data[k]
        line = table[design.indices[k]]
        for c in range(len(out)):
            out[c] += x * min(max(line[c], -half), half)


@compiled
def sweep_rows(order, rows, duals, free, table, steps, price, boxed, tol):  # type: ignore[no-untyped-def]
    """Dual coordinate ascent over the rows; scores are those of the clipped table."""
    n_classes = table.shape[1]
    metric = np.eye(n_classes)
    scores, change = np.empty(n_classes), np.empty(n_classes)
    alpha, phi, beta = duals
    touch, fixed, y, _, cost, q, r = rows
    coef, free_steps = free
    for n in order:
        scores[:] = 0.0
        if boxed:
            _add_clipped(touch, n, table, price[LAM] / 2, scores)
        else:
            add_product(touch, n, table, scores)
        add_product(fixed, n, coef, scores)
        if len(cost):
            moved = settle_flips(
                alpha[n], phi[n], beta[n], cost[n], scores, y[n],
                price, q[n], metric, r[n], tol, change,
            )  # fmt: skip
        else:
            moved = settle_labels(
                alpha[n], scores, y[n], q[n], metric, r[n], tol, change
            )  # fmt: skip
        if moved:
            descend(touch, n, table, steps, change)
            descend(fixed, n, coef, free_steps, change)
