r"""The point of one row of a smooth loss, given the masses of its labels.

A row has a point u, masses Q of the labels and its slopes g = sum_c Q_c (p_c(u) - e_c),
the tangents of ``problem.certificate.smooth``.  Moving g by v changes the scores by -K v,
with K = q A + r I as in ``hinge_ascent``.  The point is settled when it is the scores that
the row's own move leaves,

    u = z - K (g(u, Q) - g_before).

Newton's method finds it, with the curvature W = sum_c Q_c p_c' / tau of the loss.

Without a margin, or with mass on one label only, all p_c are one p, and W is diagonal minus
rank one: h = p sum(Q) / tau on the diagonal, and  h h' tau / sum(Q).  If the metric is the
unit matrix, too, Newton's system has a closed form.
"""

from __future__ import annotations

import cython
from cython.cimports.libc.math import exp, log, sqrt

from wdrsvm.solvers.first_order.settings import FIRST_ORDER

from ...runtime.blas import solve
from ...runtime.kernel_names import (
    Count,
    ReadTable,
    Real,
    Table,
    Vector,
    inner,
    kernel,
)
from .hinge_ascent import INFINITE
from .records import Price, RowWork

MAX_NEWTON_STEPS = cython.declare(Count, FIRST_ORDER.max_newton_steps)
MAX_HALVINGS = cython.declare(Count, FIRST_ORDER.max_halvings)


@inner
def copy(source: Vector, target: Vector) -> None:
    j: Count
    for j in range(target.shape[0]):
        target[j] = source[j]


@kernel
def fill_winners(u: Vector, c: Count, price: Price, p: Vector) -> Real:
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


@inner
def _common_label(masses: Vector, price: Price) -> Count:
    """A label whose p is that of every label with mass, or -1."""
    c: Count
    found: Count = -1
    for c in range(masses.shape[0]):
        if masses[c] > 0:
            if found >= 0 and price.margin != 0:
                return -1
            found = c
    return found


@inner
def _sum(values: Vector) -> Real:
    j: Count
    total: Real = 0.0
    for j in range(values.shape[0]):
        total += values[j]
    return total


@kernel
def fill_tangent(
    u: Vector, masses: Vector, price: Price, p: Vector, slopes: Vector
) -> None:
    """slopes = g(u, Q)."""
    c: Count = _common_label(masses, price)
    j: Count
    total: Real
    if c >= 0:
        total = _sum(masses)
        fill_winners(u, c, price, p)
        for j in range(u.shape[0]):
            slopes[j] = total * p[j] - masses[j]
        return
    for j in range(u.shape[0]):
        slopes[j] = 0.0
    for c in range(u.shape[0]):
        if masses[c] > 0:
            fill_winners(u, c, price, p)
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
            fill_winners(u, c, price, p)
            for i in range(u.shape[0]):
                held = masses[c] * p[i] / price.temperature
                for j in range(u.shape[0]):
                    out[i, j] -= held * p[j]
                out[i, i] += held


@inner
def times(
    metric: ReadTable, q: Real, r: Real, work: RowWork, v: Vector, out: Vector
) -> None:
    """out = K v."""
    i: Count
    j: Count
    total: Real
    if work.plain:
        for i in range(v.shape[0]):
            out[i] = (q + r) * v[i]
        return
    for i in range(v.shape[0]):
        total = 0.0
        for j in range(v.shape[0]):
            total += metric[i, j] * v[j]
        out[i] = q * total + r * v[i]


@kernel
def _fill_heights(u: Vector, c: Count, price: Price, work: RowWork) -> None:
    """The diagonal h of a curvature that is diagonal minus rank one."""
    j: Count
    fill_winners(u, c, price, work.p)
    work.total = _sum(work.masses) / price.temperature
    for j in range(u.shape[0]):
        work.heights[j] = work.total * work.p[j]


@kernel
def _fill_thin_system(metric: ReadTable, q: Real, r: Real, work: RowWork) -> None:
    """system = I + K W for a curvature that is diagonal minus rank one."""
    i: Count
    j: Count
    times(metric, q, r, work, work.heights, work.moved)
    for i in range(work.u.shape[0]):
        for j in range(work.u.shape[0]):
            work.system[i, j] = q * metric[i, j] - work.moved[i] / work.total
            work.system[i, j] *= work.heights[j]
        work.system[i, i] += 1.0 + r * work.heights[i]


@inner
def _solve_plain(stiffness: Real, work: RowWork, rhs: Vector) -> None:
    """Replace ``rhs`` by the solution of (I + k W) x = rhs, for the number k."""
    j: Count
    above: Real = 0.0
    below: Real = 0.0
    for j in range(rhs.shape[0]):
        rhs[j] /= 1.0 + stiffness * work.heights[j]
        above += work.heights[j] * rhs[j]
        below += work.heights[j] / (1.0 + stiffness * work.heights[j])
    for j in range(rhs.shape[0]):
        rhs[j] += (
            above
            / below
            * stiffness
            * work.heights[j]
            / (1.0 + stiffness * work.heights[j])
        )


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


@kernel
def _prepare(
    u: Vector, metric: ReadTable, q: Real, r: Real, price: Price, work: RowWork
) -> None:
    """Newton's system I + K W at u, or what its closed form needs."""
    c: Count = _common_label(work.masses, price)
    if c < 0:
        _curvature(u, work.masses, price, work.p, work.curvature)
        _fill_system(metric, q, r, work.curvature, work.system)
        return
    _fill_heights(u, c, price, work)
    if not work.plain:
        _fill_thin_system(metric, q, r, work)


@inner
def solve_system(q: Real, r: Real, price: Price, work: RowWork, rhs: Vector) -> Count:
    """Replace ``rhs`` by the solution, and keep the system."""
    i: Count
    j: Count
    if work.plain and _common_label(work.masses, price) >= 0:
        _solve_plain(q + r, work, rhs)
        return 0
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
    fill_tangent(u, work.masses, price, work.p, work.slopes)
    for j in range(u.shape[0]):
        work.slopes[j] -= work.before[j]
    times(metric, q, r, work, work.slopes, work.moved)
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
def settle_point(
    metric: ReadTable, q: Real, r: Real, tol: Real, price: Price, work: RowWork
) -> None:
    """Newton's method for u; ``system`` is the last I + K W."""
    _: Count
    start: Real
    error: Real = _residual(work.u, metric, q, r, price, work)
    for _ in range(MAX_NEWTON_STEPS):
        _prepare(work.u, metric, q, r, price, work)
        if error <= tol:
            break
        copy(work.residual, work.other)
        if solve_system(q, r, price, work, work.other) != 0:
            break
        start = error
        error = _halve(metric, q, r, start, price, work)
        if not error < start:
            break
        copy(work.trial, work.u)
