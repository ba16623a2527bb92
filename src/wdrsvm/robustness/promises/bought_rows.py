"""The share of rows that a budget buys, the cheapest first.

Each row has a cost, at which the adversary makes the prediction wrong.  The error at a
budget is the share of the weight that the budget buys; the last row is bought in part.
"""

from __future__ import annotations

import numpy as np

from ...arrays import Floats

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
