r"""What the l1 and the linf norm share in the first-order method: a table V by columns.

A proximal step about the centre M_k has a step size t_d for each column,

    V = M_k - t_d (G + what the norm's own multipliers add),

and M is V, clipped if the norm is a box.  V moves with every row that is settled.
"""

from __future__ import annotations

import numpy as np

from ....arrays import Codes, Floats
from ..hinge_rows import (
    CENTRE,
    LAM,
    PRESSURE,
    RADIUS,
    RESPONSE,
    SPENT,
    STEP,
    Duals,
    FreeTable,
    Rows,
    add_product,
    bounded,
    compiled,
    descend,
    helper,
)
from ..smooth_loss_rows import settle
from ..step_sizes import column_steps

# A Newton step may raise the price by this factor at most.
MAX_GROWTH = 10.0


class TableBlock:
    """Coefficients M (T, C), the centre of the next step, and the table V (T, C).

    ``rarity`` says how much larger the steps of rare columns are, t_d ~ (column mass)
    ^ -rarity; ``boxed`` whether scores are those of the clipped table.
    """

    rarity: float
    boxed: bool

    def __init__(
        self, rows: Rows, duals: Duals, free: FreeTable, price: Floats, coef: Floats
    ):
        self.rows, self.duals, self.free, self.price = rows, duals, free, price
        self.steps, curvature = column_steps(
            rows.touch, rows.weight, len(coef), self.rarity
        )
        rows.touch_curvature[:] = curvature
        self.coef, self.table = coef, coef.copy()

    @property
    def stiffness(self) -> float:
        """Mean curvature of a row."""
        return float(self.rows.touch_curvature.mean())

    def sweep_rows(self, order: Codes, tol: float) -> None:
        """Settle the given rows."""
        state = self.rows, self.duals, self.free, self.table, self.steps, self.price
        sweep_rows(order, *state, self.boxed, tol)

    def point(self) -> Floats:
        """M at the present V."""
        return self.table.copy()

    def recentre(self) -> None:
        """Make the present M the centre of the next proximal step."""
        coef = self.point()
        self.table += coef - self.coef
        self.coef = coef

    def soften(self, factor: float) -> None:
        """Longer proximal steps: G stays what it is."""
        self.steps *= factor
        self.rows.touch_curvature[:] *= factor
        self.table += (factor - 1) * (self.table - self.coef)


@compiled
def newton_price(pressure, rate, price):  # type: ignore[no-untyped-def]
    """One Newton step on lam for the pressure found at the present one."""
    price[PRESSURE] = pressure
    price[RESPONSE] = 1.0 / (rate + 1.0 / price[STEP])
    excess = price[RADIUS] - price[SPENT] - pressure
    excess += (price[LAM] - price[CENTRE]) / price[STEP]
    lam = min(price[LAM] - price[RESPONSE] * excess, MAX_GROWTH * price[LAM])
    price[LAM] = bounded(lam, price)


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
        if settle(n, alpha, phi, beta, cost, scores, y, price, q, metric, r, tol, change):
            descend(touch, n, table, steps, change)
            descend(fixed, n, coef, free_steps, change)
