"""Points of an error curve: the adversary makes the cheapest rows wrong first."""

from __future__ import annotations

import math

import numpy as np

from ....arrays import Floats

# Fewer rows than this are sorted as a whole.
FEW_ROWS = 4096


def breakpoints(cost: Floats, weight: Floats) -> tuple[Floats, Floats]:
    """Budgets and errors when the cheapest rows are bought one after the other."""
    if weight.min() == weight.max():
        cost, weight = np.sort(cost), np.ones(len(cost))
    else:
        order = np.argsort(cost, kind="stable")
        cost, weight = cost[order], weight[order]
    free, finite = np.searchsorted(cost, 0.0, "right"), np.searchsorted(cost, np.inf)
    mass = np.cumsum(weight)
    spent = np.cumsum(weight[free:finite] * cost[free:finite]) / mass[-1]
    first = mass[free - 1] if free else 0.0
    errors = np.append(first, mass[free:finite]) / mass[-1]
    return np.append(0.0, spent), errors


def error_at(cost: Floats, weight: Floats, radius: float) -> float:
    """The error at one radius; rows of equal weight are not sorted.

    The median cost halves such rows.  Either the cheaper half is bought as a whole, or
    none of the dearer half is bought.  The search goes on in the other half.
    """
    if weight.min() < weight.max():
        return float(np.interp(radius, *breakpoints(cost, weight)))
    n_rows, bought, budget = len(cost), 0, radius * len(cost)
    while len(cost) > FEW_ROWS:
        middle = len(cost) // 2
        cost = np.partition(cost, middle)
        price = float(cost[:middle].sum())
        if price <= budget:
            bought, budget, cost = bought + middle, budget - price, cost[middle:]
        else:
            cost = cost[:middle]
    share = len(cost) / n_rows
    last = np.interp(budget / len(cost), *breakpoints(cost, np.ones(len(cost))))
    return bought / n_rows + share * float(last)


def expected_losses(costs: Floats, lam: float) -> Floats:
    """max(0, 1 - lam c), and 0 where c is infinite."""
    losable = np.isfinite(costs)
    return np.maximum(1.0 - lam * np.where(losable, costs, 0.0), 0.0) * losable


def slope_at(radii: Floats, errors: Floats, radius: float) -> float:
    """The slope of a concave curve of straight pieces, to the left of a radius > 0."""
    end = int(np.searchsorted(radii, radius))
    if end == len(radii):
        return 0.0
    return float((errors[end] - errors[end - 1]) / (radii[end] - radii[end - 1]))


def sampling_margin(confidence: float, n_rows: int) -> float:
    """How far the curve of the source can lie above that of a sample, at any radius.

    E max(0, 1 - lam c) is an average over t <= 1 / lam of P(c <= t).  A sample's share
    of c <= t is below that by at most sqrt(log(1 / delta) / 2n) for all t at once, with
    probability 1 - delta >= 1/2 (Dvoretzky, Kiefer, Wolfowitz; Massart's constant).  The
    margin is the one for a single lam fixed beforehand, but holds for all lam at once.
    """
    return math.sqrt(-math.log1p(-confidence) / (2 * n_rows))


def raised(radii: Floats, errors: Floats, margin: float) -> tuple[Floats, Floats]:
    """A curve that lies higher by a margin, and ends where it is 1."""
    level = 1.0 - margin
    if errors[0] >= level:
        return np.zeros(1), np.ones(1)
    below = errors < level
    if below.all():
        return radii, errors + margin
    full = float(np.interp(level, errors, radii))
    return np.append(radii[below], full), np.append(errors[below] + margin, 1.0)
