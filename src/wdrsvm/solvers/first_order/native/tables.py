"""Sweeps of the l1 and the linf norm over the rows: see ``first_order.norms.tables``."""

from __future__ import annotations

import cython
import numpy as np

from wdrsvm.solvers.first_order.settings import FIRST_ORDER

from ...runtime.kernel_names import (
    Count,
    Flag,
    ReadCodes,
    ReadTable,
    ReadVector,
    Real,
    Table,
    Vector,
    inner,
)
from .hinge_ascent import bounded, clear
from .products import add_product, descend
from .records import Price, RowWork, Samples, StoredRows
from .smooth_loss_ascent import settle

MAX_GROWTH = cython.declare(Real, FIRST_ORDER.max_price_growth)


@inner
def newton_step(pressure: Real, rate: Real, price: Price) -> None:
    lam: Real
    excess: Real
    price.pressure = pressure
    price.response = 1.0 / (rate + 1.0 / price.step)
    excess = price.radius - price.spent - pressure
    excess += (price.lam - price.centre) / price.step
    lam = price.lam - price.response * excess
    if lam > MAX_GROWTH * price.lam:
        lam = MAX_GROWTH * price.lam
    price.lam = bounded(lam, price)


def newton_price(pressure: Real, rate: Real, price: Price):
    """One Newton step on lam for the pressure found at the present one."""
    newton_step(pressure, rate, price)


@inner
def _add_clipped(
    design: StoredRows, n: Count, table: Table, half: Real, out: Vector
) -> None:
    """out += row n of the design times the clipped table."""
    k: Count
    c: Count
    column: Count
    x: Real
    value: Real
    for k in range(design.indptr[n], design.indptr[n + 1]):
        x = design.data[k]
        column = design.indices[k]
        for c in range(out.shape[0]):
            value = table[column, c]
            value = value if value > -half else -half
            value = value if value < half else half
            out[c] += x * value


def sweep_table(
    order: ReadCodes,
    samples: Samples,
    table: Table,
    steps: ReadVector,
    price: Price,
    boxed: Flag,
    tol: Real,
):
    """Dual coordinate ascent over the rows; scores are those of the clipped table."""
    k: Count
    n: Count
    metric: ReadTable = np.eye(table.shape[1])
    work: RowWork = RowWork(table.shape[1], plain=True)
    touch: StoredRows = samples.touch
    free: StoredRows = samples.free
    with cython.nogil:
        for k in range(order.shape[0]):
            n = order[k]
            clear(work.scores)
            if boxed:
                _add_clipped(touch, n, table, price.lam / 2, work.scores)
            else:
                add_product(touch, n, table, work.scores)
            add_product(free, n, samples.coef, work.scores)
            if settle(samples, n, price, metric, tol, work):
                descend(touch, n, table, steps, work.change)
                descend(free, n, samples.coef, samples.steps, work.change)
