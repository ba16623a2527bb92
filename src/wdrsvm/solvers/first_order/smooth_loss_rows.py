r"""Rows of a smooth loss in the first-order method: one sample at a time, compiled.

A row holds a point u, masses Q of the labels and its slopes g = sum_c Q_c (p_c(u) - e_c),
the tangents of ``problem.tangents``.  Moving g by v changes the scores by -K v, with
K = q A + r I as in ``first_order_rows``.  A row is settled when u are the scores that its
own move leaves,

    u = z - K (g(u, Q) - g_before),

which Newton's method finds, the curvature of the loss being W = sum_c Q_c p_c' / tau, and
when no label that holds mass is worth less than another, l(u, c) - lam k_c: mass moves
between labels, and u and the price lam follow.
"""

from __future__ import annotations

import numpy as np

from .hinge_rows import (
    LAM,
    MARGIN,
    RESPONSE,
    TEMPERATURE,
    compiled,
    helper,
    settle_flips,
    settle_labels,
    spend,
)

MAX_NEWTON_STEPS = 30
MAX_HALVINGS = 20
MAX_TRANSFERS = 20
# Residuals are solved to this share of the tolerance of a row.
FINER = 0.1


@helper
def _winners(u, c, temperature, margin, p):  # type: ignore[no-untyped-def]
    """Fill p (C,) of label c; returns l(u, c)."""
    peak = -np.inf
    for j in range(len(u)):
        p[j] = u[j] + (margin if j != c else 0.0)
        peak = max(peak, p[j])
    total = 0.0
    for j in range(len(u)):
        p[j] = np.exp((p[j] - peak) / temperature)
        total += p[j]
    for j in range(len(u)):
        p[j] /= total
    return temperature * np.log(total) + peak - u[c]


@helper
def _tangent(u, masses, temperature, margin, p, slopes):  # type: ignore[no-untyped-def]
    """slopes = g(u, Q)."""
    slopes[:] = 0.0
    for c in range(len(u)):
        if masses[c] > 0:
            _winners(u, c, temperature, margin, p)
            for j in range(len(u)):
                slopes[j] += masses[c] * p[j]
            slopes[c] -= masses[c]


@helper
def _curvature(u, masses, temperature, margin, p, out):  # type: ignore[no-untyped-def]
    """out = W."""
    out[:] = 0.0
    for c in range(len(u)):
        if masses[c] > 0:
            _winners(u, c, temperature, margin, p)
            for i in range(len(u)):
                held = masses[c] * p[i] / temperature
                out[i, i] += held
                for j in range(len(u)):
                    out[i, j] -= held * p[j]


@helper
def _times(metric, q, r, v, out):  # type: ignore[no-untyped-def]
    """out = K v."""
    for i in range(len(v)):
        total = 0.0
        for j in range(len(v)):
            total += metric[i, j] * v[j]
        out[i] = q * total + r * v[i]


@helper
def _system(metric, q, r, curvature):  # type: ignore[no-untyped-def]
    """I + K W."""
    n_classes = len(metric)
    system = np.empty((n_classes, n_classes))
    for i in range(n_classes):
        for j in range(n_classes):
            total = r * curvature[i, j]
            for k in range(n_classes):
                total += q * metric[i, k] * curvature[k, j]
            system[i, j] = total + (1.0 if i == j else 0.0)
    return system


@helper
def _residual(u, z, masses, before, family, metric, q, r, work, out):  # type: ignore[no-untyped-def]
    """out = u - z + K (g(u, Q) - g_before); returns its length."""
    p, slopes, moved = work
    _tangent(u, masses, family[0], family[1], p, slopes)
    for j in range(len(u)):
        slopes[j] -= before[j]
    _times(metric, q, r, slopes, moved)
    square = 0.0
    for j in range(len(u)):
        out[j] = u[j] - z[j] + moved[j]
        square += out[j] * out[j]
    return np.sqrt(square)


@helper
def _settle_point(u, z, masses, before, family, metric, q, r, tol):  # type: ignore[no-untyped-def]
    """Newton's method for u; returns the last I + K W."""
    n_classes = len(u)
    p, slopes, moved = np.empty(n_classes), np.empty(n_classes), np.empty(n_classes)
    work = p, slopes, moved
    residual, trial = np.empty(n_classes), np.empty(n_classes)
    curvature = np.empty((n_classes, n_classes))
    error = _residual(u, z, masses, before, family, metric, q, r, work, residual)
    for _ in range(MAX_NEWTON_STEPS):
        _curvature(u, masses, family[0], family[1], p, curvature)
        system = _system(metric, q, r, curvature)
        if error <= tol:
            break
        step = np.linalg.solve(system, residual)
        length, start = 1.0, error
        for _ in range(MAX_HALVINGS):
            for j in range(n_classes):
                trial[j] = u[j] - length * step[j]
            error = _residual(
                trial, z, masses, before, family, metric, q, r, work, residual
            )
            if error < start:
                break
            length /= 2
        if not error < start:
            _residual(u, z, masses, before, family, metric, q, r, work, residual)
            break
        u[:] = trial
    return system


@helper
def _worth(u, cost, y, lam, masses, family, p):  # type: ignore[no-untyped-def]
    """The label worth most and the one worth least that holds mass, and the difference."""
    best, worst, top, bottom = y, y, -np.inf, np.inf
    for c in range(len(u)):
        if c == y or cost[c] < np.inf:
            worth = _winners(u, c, family[0], family[1], p)
            if c != y:
                worth -= lam * cost[c]
            if worth > top:
                top, best = worth, c
            if masses[c] > 0 and worth < bottom:
                bottom, worst = worth, c
    return best, worst, top - bottom


# Compiled on its own, or every kernel would have to compile it again.
@compiled
def settle_tangent(u, masses, slopes, cost, z, y, price, q, metric, r, tol, change):  # type: ignore[no-untyped-def]
    """Settle a row; ``cost`` (C,) is empty if no label can be flipped.

    ``change`` receives the move of the slopes g.  Whether there was one.
    """
    n_classes = len(u)
    family = price[TEMPERATURE], price[MARGIN]
    p, other = np.empty(n_classes), np.empty(n_classes)
    u[:] = z
    giver, taker, taken, promised = -1, -1, 0.0, 0.0
    for _ in range(MAX_TRANSFERS):
        system = _settle_point(u, z, masses, slopes, family, metric, q, r, FINER * tol)
        if len(cost) == 0:
            break
        best, worst, gain = _worth(u, cost, y, price[LAM], masses, family, p)
        if not gain > tol:
            break
        # The direction of g, and how fast the gain falls along it as u follows.
        _winners(u, best, family[0], family[1], p)
        _winners(u, worst, family[0], family[1], other)
        for j in range(n_classes):
            p[j] -= other[j]
        p[best] -= 1.0
        p[worst] += 1.0
        _times(metric, q, r, p, other)
        fall = np.linalg.solve(system, other)
        unit_cost = (cost[best] if best != y else 0.0) - (
            cost[worst] if worst != y else 0.0
        )
        stiffness = price[RESPONSE] * unit_cost * unit_cost
        for j in range(n_classes):
            stiffness += p[j] * fall[j]
        step = masses[worst] if stiffness * masses[worst] <= gain else gain / stiffness
        if giver == best and taker == worst:
            # Too much was moved: the gain changed its sign on the way.
            step = taken * gain / (gain + promised)
        giver, taker, taken, promised = worst, best, step, gain
        masses[worst] -= step
        masses[best] += step
        spend(step * unit_cost, price)
    _tangent(u, masses, family[0], family[1], p, change)
    moved = False
    for j in range(n_classes):
        slopes[j], change[j] = change[j], change[j] - slopes[j]
        moved = moved or change[j] != 0
    return moved


@helper
def settle(  # type: ignore[no-untyped-def]
    n, alpha, phi, beta, cost, scores, y, price, q, metric, r, tol, change
):
    """Settle row n, with flips where there are any (``cost`` is empty without them)."""
    if price[TEMPERATURE] > 0:
        flips = cost[n].copy() if len(cost) else np.empty(0)
        return settle_tangent(
            alpha[n], phi[n], beta[n], flips, scores, y[n],
            price, q[n], metric, r[n], tol, change,
        )  # fmt: skip
    if len(cost):
        return settle_flips(
            alpha[n], phi[n], beta[n], cost[n], scores, y[n],
            price, q[n], metric, r[n], tol, change,
        )  # fmt: skip
    return settle_labels(alpha[n], scores, y[n], q[n], metric, r[n], tol, change)
