r"""How fast the lead of one class over another can fall, for each pair of classes.

The rate of classes i and j is the dual norm of M_i - M_j.  ``power`` names the dual norm:
1 for the sum of absolute values, 2 for the Euclidean norm, 0 for the maximum.
"""

from __future__ import annotations

import cython
from cython.cimports.libc.math import fabs, sqrt

from ...runtime.kernel_names import Count, Real, Table, kernel

# Rates below this share of the largest one are rounding.
LEAST_RATE = cython.declare(Real, 1e-9)


@kernel
def _rate(coef: Table, i: Count, j: Count, power: Count) -> Real:
    p: Count
    size: Real
    rate: Real = 0.0
    for p in range(coef.shape[1]):
        size = fabs(coef[i, p] - coef[j, p])
        if power == 0:
            rate = size if size > rate else rate
        else:
            rate += size if power == 1 else size * size
    return sqrt(rate) if power == 2 else rate


@kernel
def fill_rates(coef: Table, power: Count, rates: Table) -> None:
    """The rates (C, C); 1 where two classes do not differ."""
    i: Count
    j: Count
    largest: Real = 0.0
    for i in range(coef.shape[0]):
        for j in range(i):
            rates[i, j] = _rate(coef, i, j, power)
            largest = rates[i, j] if rates[i, j] > largest else largest
    for i in range(coef.shape[0]):
        rates[i, i] = 1.0
        for j in range(i):
            if not rates[i, j] > LEAST_RATE * largest:
                rates[i, j] = 1.0
            rates[j, i] = rates[i, j]


@kernel
def _add_largest(coef: Table, i: Count, j: Count, pull: Real, slopes: Table) -> None:
    """The slope of the largest entry of M_i - M_j; equal entries share it."""
    p: Count
    largest: Real = _rate(coef, i, j, 0)
    shared: Real = 0.0
    if largest == 0:
        return
    for p in range(coef.shape[1]):
        shared += 1.0 if fabs(coef[i, p] - coef[j, p]) == largest else 0.0
    pull /= shared
    for p in range(coef.shape[1]):
        if fabs(coef[i, p] - coef[j, p]) == largest:
            slopes[i, p] += pull if coef[i, p] > coef[j, p] else -pull
            slopes[j, p] -= pull if coef[i, p] > coef[j, p] else -pull


@kernel
def _add_pair(
    coef: Table, i: Count, j: Count, power: Count, pull: Real, slopes: Table
) -> None:
    """``pull`` is the slope by the rate, over the rate itself for the Euclidean norm."""
    p: Count
    step: Real
    if power == 0:
        _add_largest(coef, i, j, pull, slopes)
        return
    for p in range(coef.shape[1]):
        step = coef[i, p] - coef[j, p]
        if power == 1:
            step = (1.0 if step > 0 else 0.0) - (1.0 if step < 0 else 0.0)
        slopes[i, p] += pull * step
        slopes[j, p] -= pull * step


@kernel
def add_rate_slopes(
    coef: Table, rates: Table, by_rate: Table, power: Count, slopes: Table
) -> None:
    """Add the slopes (C, P) by coefficients of a value whose slopes by rates are known."""
    i: Count
    j: Count
    pull: Real
    for i in range(coef.shape[0]):
        for j in range(i):
            pull = by_rate[i, j] + by_rate[j, i]
            if power == 2:
                pull /= rates[i, j]
            _add_pair(coef, i, j, power, pull, slopes)
