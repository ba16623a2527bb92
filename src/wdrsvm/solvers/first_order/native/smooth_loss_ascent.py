r"""Dual coordinate ascent for smooth losses: the tangents of one row at a time.

A row is settled when its point u is settled (``smooth_point``), and when all labels with
mass have the largest value l(u, c) - lam k_c.  Mass moves from labels of lower value to the
label of largest value; u and the price lam change with it.
"""

from __future__ import annotations

import cython

from wdrsvm.solvers.first_order.settings import FIRST_ORDER

from ...runtime.kernel_names import (
    Count,
    Flag,
    ReadTable,
    Real,
    Vector,
    inner,
    kernel,
)
from .hinge_ascent import INFINITE, settle_flips, settle_labels, spend
from .records import Price, RowWork, Samples
from .smooth_point import (
    copy,
    fill_tangent,
    fill_winners,
    settle_point,
    solve_system,
    times,
)

MAX_TRANSFERS = cython.declare(Count, FIRST_ORDER.max_transfers)
FINER = cython.declare(Real, FIRST_ORDER.residual_share)


@kernel
def _value_labels(samples: Samples, n: Count, price: Price, work: RowWork) -> None:
    """The label of largest value, the label with mass of least value, their difference."""
    c: Count
    worth: Real
    same: Real = 0.0
    top: Real = -INFINITE
    bottom: Real = INFINITE
    y: Count = samples.y[n]
    work.places[0] = work.places[1] = y
    if price.margin == 0:
        same = fill_winners(work.u, y, price, work.p) + work.u[y]
    for c in range(work.u.shape[0]):
        if c == y or samples.cost[n, c] < INFINITE:
            worth = same - work.u[c]
            if price.margin != 0:
                worth = fill_winners(work.u, c, price, work.p)
            if c != y:
                worth -= price.lam * samples.cost[n, c]
            if worth > top:
                top = worth
                work.places[0] = c
            if work.masses[c] > 0 and worth < bottom:
                bottom = worth
                work.places[1] = c
    work.gain = top - bottom


@kernel
def _transfer_stiffness(
    metric: ReadTable, q: Real, r: Real, price: Price, work: RowWork
) -> Real:
    """How fast the gain of a transfer falls as u follows."""
    j: Count
    stiffness: Real = price.response * work.unit_cost * work.unit_cost
    best: Count = work.places[0]
    worst: Count = work.places[1]
    fill_winners(work.u, best, price, work.p)
    fill_winners(work.u, worst, price, work.other)
    for j in range(work.p.shape[0]):
        work.p[j] -= work.other[j]
    work.p[best] -= 1.0
    work.p[worst] += 1.0
    times(metric, q, r, work, work.p, work.other)
    solve_system(q, r, price, work, work.other)
    for j in range(work.p.shape[0]):
        stiffness += work.p[j] * work.other[j]
    return stiffness


@inner
def _flip_cost(samples: Samples, n: Count, c: Count) -> Real:
    return samples.cost[n, c] if c != samples.y[n] else 0.0


@kernel
def _transfer(
    samples: Samples, n: Count, price: Price, metric: ReadTable, tol: Real, work: RowWork
) -> None:
    """Move mass between labels until all labels with mass have the largest value."""
    _: Count
    best: Count
    worst: Count
    giver: Count = -1
    taker: Count = -1
    taken: Real = 0.0
    promised: Real = 0.0
    step: Real
    stiffness: Real
    q: Real = samples.touch_curvature[n]
    r: Real = samples.free_curvature[n]
    for _ in range(MAX_TRANSFERS):
        settle_point(metric, q, r, FINER * tol, price, work)
        if samples.cost.shape[0] == 0:
            break
        _value_labels(samples, n, price, work)
        if not work.gain > tol:
            break
        best = work.places[0]
        worst = work.places[1]
        work.unit_cost = _flip_cost(samples, n, best) - _flip_cost(samples, n, worst)
        stiffness = _transfer_stiffness(metric, q, r, price, work)
        step = work.masses[worst]
        if stiffness * step > work.gain:
            step = work.gain / stiffness
        if giver == best and taker == worst:
            # Too much was moved: the gain changed its sign on the way.
            step = taken * work.gain / (work.gain + promised)
        giver = worst
        taker = best
        taken = step
        promised = work.gain
        work.masses[worst] -= step
        work.masses[best] += step
        spend(step * work.unit_cost, price)


@kernel
def settle_tangent(
    samples: Samples, n: Count, price: Price, metric: ReadTable, tol: Real, work: RowWork
) -> Flag:
    """Settle a row; ``change`` receives the change of its slopes.  Returns whether any."""
    j: Count
    moved: Flag = False
    for j in range(work.u.shape[0]):
        work.u[j] = work.scores[j]
        work.masses[j] = samples.phi[n, j]
        work.before[j] = samples.beta[n, j]
    _transfer(samples, n, price, metric, tol, work)
    fill_tangent(work.u, work.masses, price, work.p, work.slopes)
    for j in range(work.u.shape[0]):
        work.change[j] = work.slopes[j] - work.before[j]
        samples.alpha[n, j] = work.u[j]
        samples.phi[n, j] = work.masses[j]
        samples.beta[n, j] = work.slopes[j]
        moved = moved or work.change[j] != 0
    return moved


@inner
def settle(
    samples: Samples, n: Count, price: Price, metric: ReadTable, tol: Real, work: RowWork
) -> Flag:
    """Settle row n, with flips where there are any (``cost`` is empty without them)."""
    if price.temperature > 0:
        return settle_tangent(samples, n, price, metric, tol, work)
    if samples.cost.shape[0] > 0:
        return settle_flips(samples, n, price, metric, tol, work)
    return settle_labels(samples, n, metric, tol, samples.alpha, work.scores, work.change)


def settle_row(
    samples: Samples,
    n: Count,
    price: Price,
    metric: ReadTable,
    tol: Real,
    scores: Vector,
    change: Vector,
    plain: Flag = False,
):
    """``settle`` for one row: from its scores to those afterwards, and to the change."""
    work: RowWork = RowWork(scores.shape[0], plain)
    moved: Flag
    copy(scores, work.scores)
    moved = settle(samples, n, price, metric, tol, work)
    copy(work.scores, scores)
    copy(work.change, change)
    return bool(moved)
