"""The price of the box of the l1 norm: see ``first_order.norms.l1``."""

from __future__ import annotations

import cython
from cython.cimports.libc.math import fabs

from wdrsvm.solvers.first_order.settings import FIRST_ORDER

from ...runtime.kernel_names import Count, ReadTable, ReadVector, Real, inner
from .records import Price
from .tables import newton_step

NEWTON_STEPS = cython.declare(Count, FIRST_ORDER.max_price_steps)
PRICE_TOL = cython.declare(Real, FIRST_ORDER.price_tol)


@inner
def _settle_once(table: ReadTable, steps: ReadVector, price: Price) -> None:
    """A Newton step with the pressure 1/2 sum (|V| - lam / 2)_+ / t and its fall."""
    d: Count
    c: Count
    excess: Real
    beyond: Real
    count: Real
    half: Real = price.lam / 2
    pressure: Real = 0.0
    rate: Real = 0.0
    for d in range(table.shape[0]):
        beyond = 0.0
        count = 0.0
        for c in range(table.shape[1]):
            excess = fabs(table[d, c]) - half
            beyond += excess if excess > 0 else 0.0
            count += 1.0 if excess > 0 else 0.0
        pressure += beyond / steps[d]
        rate += count / steps[d]
    newton_step(0.5 * pressure, 0.25 * rate, price)


def settle_price(table: ReadTable, steps: ReadVector, price: Price):
    """lam for the present V."""
    _: Count
    before: Real
    with cython.nogil:
        for _ in range(NEWTON_STEPS):
            before = price.lam
            _settle_once(table, steps, price)
            if fabs(price.lam - before) <= PRICE_TOL * before:
                break
