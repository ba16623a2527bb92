r"""Dual coordinate ascent for smooth losses: the tangents of one row at a time.

A row has a point u, masses Q of the labels and its slopes g = sum_c Q_c (p_c(u) - e_c),
the tangents of ``problem.certificate.smooth``.  Moving g by v changes the scores by -K v,
with K = q A + r I as in ``hinge_ascent``.  A row is settled when u are the scores that its
own move leaves,

    u = z - K (g(u, Q) - g_before),

and when all labels with mass have the largest value l(u, c) - lam k_c.  Newton's method
finds u, with the curvature W = sum_c Q_c p_c' / tau of the loss.  Mass moves from labels of
lower value to the label of largest value; u and the price lam change with it.
"""

from __future__ import annotations

import cython
from cython.cimports.libc.math import exp, log, sqrt

from wdrsvm.solvers.first_order.settings import FIRST_ORDER

from ...runtime.blas import solve
from ...runtime.kernel_names import (
    Count,
    Flag,
    ReadTable,
    Real,
    Table,
    Vector,
    inner,
    kernel,
)
from .hinge_ascent import INFINITE, settle_flips, settle_labels, spend
from .records import Price, RowWork, Samples

MAX_NEWTON_STEPS = cython.declare(Count, FIRST_ORDER.max_newton_steps)
MAX_HALVINGS = cython.declare(Count, FIRST_ORDER.max_halvings)
MAX_TRANSFERS = cython.declare(Count, FIRST_ORDER.max_transfers)
FINER = cython.declare(Real, FIRST_ORDER.residual_share)


@inner
def copy(source: Vector, target: Vector) -> None:
    j: Count
    for j in range(target.shape[0]):
        target[j] = source[j]


@kernel
def _winners(u: Vector, c: Count, price: Price, p: Vector) -> Real:
    """Fill p (C,) of label c; returns l(u, c)."""
    j: Count
    peak: Real = -INFINITE
    total: Real = 0.0
    for j in range(u.shape[0]):
        p[j] = u[j] + (price.margin if j != c else 0.0)
        if p[j] > peak:
            peak = p[j]
    for j in range(u.shape[0]):
        p[j] = exp((p[j] - peak) / price.temperature)
        total += p[j]
    for j in range(u.shape[0]):
        p[j] /= total
    return price.temperature * log(total) + peak - u[c]


@kernel
def _tangent(u: Vector, masses: Vector, price: Price, p: Vector, slopes: Vector) -> None:
    """slopes = g(u, Q)."""
    c: Count
    j: Count
    for j in range(u.shape[0]):
        slopes[j] = 0.0
    for c in range(u.shape[0]):
        if masses[c] > 0:
            _winners(u, c, price, p)
            for j in range(u.shape[0]):
                slopes[j] += masses[c] * p[j]
            slopes[c] -= masses[c]


@kernel
def _curvature(u: Vector, masses: Vector, price: Price, p: Vector, out: Table) -> None:
    """out = W."""
    c: Count
    i: Count
    j: Count
    held: Real
    for i in range(u.shape[0]):
        for j in range(u.shape[0]):
            out[i, j] = 0.0
    for c in range(u.shape[0]):
        if masses[c] > 0:
            _winners(u, c, price, p)
            for i in range(u.shape[0]):
                held = masses[c] * p[i] / price.temperature
                for j in range(u.shape[0]):
                    out[i, j] -= held * p[j]
                out[i, i] += held


@inner
def _times(metric: ReadTable, q: Real, r: Real, v: Vector, out: Vector) -> None:
    """out = K v."""
    i: Count
    j: Count
    total: Real
    for i in range(v.shape[0]):
        total = 0.0
        for j in range(v.shape[0]):
            total += metric[i, j] * v[j]
        out[i] = q * total + r * v[i]


@kernel
def _fill_system(metric: ReadTable, q: Real, r: Real, curvature: Table, out: Table) -> None:
    """out = I + K W."""
    i: Count
    j: Count
    k: Count
    factor: Real
    for i in range(out.shape[0]):
        for j in range(out.shape[0]):
            out[i, j] = r * curvature[i, j]
        out[i, i] += 1.0
        for k in range(out.shape[0]):
            factor = q * metric[i, k]
            for j in range(out.shape[0]):
                out[i, j] += factor * curvature[k, j]


@inner
def _solve_system(work: RowWork, rhs: Vector) -> Count:
    """Replace ``rhs`` by the solution, and keep the system."""
    i: Count
    j: Count
    for i in range(work.system.shape[0]):
        for j in range(work.system.shape[0]):
            work.factors[i, j] = work.system[i, j]
    return solve(work.factors, rhs, work.pivots)


@kernel
def _residual(
    u: Vector, metric: ReadTable, q: Real, r: Real, price: Price, work: RowWork
) -> Real:
    """residual = u - z + K (g(u, Q) - g_before); returns its length."""
    j: Count
    square: Real = 0.0
    _tangent(u, work.masses, price, work.p, work.slopes)
    for j in range(u.shape[0]):
        work.slopes[j] -= work.before[j]
    _times(metric, q, r, work.slopes, work.moved)
    for j in range(u.shape[0]):
        work.residual[j] = u[j] - work.scores[j] + work.moved[j]
        square += work.residual[j] * work.residual[j]
    return sqrt(square)


@kernel
def _halve(
    metric: ReadTable, q: Real, r: Real, start: Real, price: Price, work: RowWork
) -> Real:
    """Go from u along the step in ``other`` as far as the error falls; returns it."""
    _: Count
    j: Count
    length: Real = 1.0
    error: Real = start
    for _ in range(MAX_HALVINGS):
        for j in range(work.u.shape[0]):
            work.trial[j] = work.u[j] - length * work.other[j]
        error = _residual(work.trial, metric, q, r, price, work)
        if error < start:
            break
        length /= 2
    return error


@kernel
def _settle_point(
    metric: ReadTable, q: Real, r: Real, tol: Real, price: Price, work: RowWork
) -> None:
    """Newton's method for u; ``system`` is the last I + K W."""
    _: Count
    start: Real
    error: Real = _residual(work.u, metric, q, r, price, work)
    for _ in range(MAX_NEWTON_STEPS):
        _curvature(work.u, work.masses, price, work.p, work.curvature)
        _fill_system(metric, q, r, work.curvature, work.system)
        if error <= tol:
            break
        copy(work.residual, work.other)
        if _solve_system(work, work.other) != 0:
            break
        start = error
        error = _halve(metric, q, r, start, price, work)
        if not error < start:
            break
        copy(work.trial, work.u)


@kernel
def _value_labels(samples: Samples, n: Count, price: Price, work: RowWork) -> None:
    """The label of largest value, the label with mass of least value, their difference."""
    c: Count
    worth: Real
    top: Real = -INFINITE
    bottom: Real = INFINITE
    y: Count = samples.y[n]
    work.places[0] = work.places[1] = y
    for c in range(work.u.shape[0]):
        if c == y or samples.cost[n, c] < INFINITE:
            worth = _winners(work.u, c, price, work.p)
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
    _winners(work.u, best, price, work.p)
    _winners(work.u, worst, price, work.other)
    for j in range(work.p.shape[0]):
        work.p[j] -= work.other[j]
    work.p[best] -= 1.0
    work.p[worst] += 1.0
    _times(metric, q, r, work.p, work.other)
    _solve_system(work, work.other)
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
        _settle_point(metric, q, r, FINER * tol, price, work)
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
    _tangent(work.u, work.masses, price, work.p, work.slopes)
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
):
    """``settle`` for one row: from its scores to those afterwards, and to the change."""
    work: RowWork = RowWork(scores.shape[0])
    moved: Flag
    copy(scores, work.scores)
    moved = settle(samples, n, price, metric, tol, work)
    copy(work.scores, scores)
    copy(work.change, change)
    return bool(moved)
