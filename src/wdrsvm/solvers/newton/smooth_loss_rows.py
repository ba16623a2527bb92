r"""Samples of a smooth loss: compiled per-sample algebra of the Newton method.

At a temperature above 0 the loss l(z, c) of a label c has one gradient,

    p_c - e_c,      p_cj = softmax_j((z_j + margin [j != c]) / temperature),

and only the maximum over the labels the adversary may give, of a_c = l(z, c) - lam k_c,
has kinks.  It is replaced by

    min over s of  s - mu sum_c log(s - a_c)        (nothing to replace if c = y alone),

whose slopes mu / (s - a_c) sum to 1: they are, times w_n, the label's mass Q_c in the
tangent multipliers (``problem.tangents``).  Unlike logsumexp it is a barrier, so that
Newton steps stay good while mu falls to 0.
"""

from __future__ import annotations

import numpy as np

from ..cones.sample_rows import compiled, inlined

MAX_ROOT_STEPS = 60
ROOT_TOL = 1e-14
# So many mu below the highest a label has no softmax weight.
FAR = 40.0
# Smaller masses and springs add nothing to the curvature.
NEGLIGIBLE = 1e-9


@inlined
def _losses_of_row(z, label, cost, lam, temperature, margin, powers, rest, a):  # type: ignore[no-untyped-def]
    """Fill a (C,), -inf for a label that cannot be given; returns the top class.

    ``powers`` are exp((z_j - z_top) / temperature) and ``rest`` (C,) their sums with each
    label's own margin, which costs O(C) in all.  The top one's sum is taken relative to
    the largest of its own terms: beside its power the others may be too small to count.
    """
    top = z.argmax()
    damp = np.exp(-margin / temperature)
    total, second = 0.0, -np.inf
    for j in range(len(z)):
        powers[j] = np.exp((z[j] - z[top]) / temperature)
        total += powers[j]
        if j != top:
            second = max(second, z[j])
    for c in range(len(z)):
        a[c] = -np.inf
        if c != label and not cost[c] < np.inf:
            continue
        rest[c] = total - powers[c] * (1.0 - damp)
        a[c] = margin + temperature * np.log(rest[c]) + z[top] - z[c]
        if c == top and margin > 0:
            peak = max(z[c], second + margin)
            rest[c] = 0.0
            for j in range(len(z)):
                rest[c] += _power(z, j, c, peak, temperature, margin)
            a[c] = temperature * np.log(rest[c]) + peak - z[c]
        if c != label:
            a[c] -= lam * cost[c]
    return top, second


@inlined
def _power(z, j, c, peak, temperature, margin):  # type: ignore[no-untyped-def]
    return np.exp((z[j] + (margin if j != c else 0.0) - peak) / temperature)


@inlined
def _fill_winners(z, c, top, second, temperature, margin, powers, rest, p):  # type: ignore[no-untyped-def]
    """p (C,) of label c."""
    if c == top and margin > 0:
        peak = max(z[c], second + margin)
        for j in range(len(z)):
            p[j] = _power(z, j, c, peak, temperature, margin) / rest[c]
        return
    for j in range(len(z)):
        p[j] = powers[j] / rest[c]
    p[c] *= np.exp(-margin / temperature)


@inlined
def _soft_maximum(a, mu, barrier, mass):  # type: ignore[no-untyped-def]
    """An upper bound of the maximum and the smoothed value; fills its slopes ``mass``."""
    highest, n_labels = -np.inf, 0
    for c in range(len(a)):
        if a[c] > -np.inf:
            n_labels += 1
            highest = max(highest, a[c])
    if barrier and n_labels > 1:
        return _log_barrier(a, highest, mu, mass)
    total = 0.0
    for c in range(len(a)):
        below = (highest - a[c]) / mu
        mass[c] = np.exp(-below) if below < FAR else 0.0
        total += mass[c]
    for c in range(len(a)):
        mass[c] /= total
    return highest + mu * np.log(total), highest + mu * np.log(total)


@inlined
def _log_barrier(a, highest, mu, mass):  # type: ignore[no-untyped-def]
    """The same by  min over s of  s - mu sum_c log(s - a_c)."""
    rise = _barrier_root(a, highest, mu)
    total, logs = 0.0, 0.0
    for c in range(len(a)):
        mass[c] = 0.0
        if a[c] > -np.inf:
            mass[c] = 1.0 / (rise + (highest - a[c]) / mu)
            # -mu log(s - a_c) is mu log(mass_c), up to a constant.
            logs += np.log(mass[c])
            total += mass[c]
    for c in range(len(a)):
        mass[c] /= total
    return highest + mu * rise, highest + mu * (rise + logs)


@inlined
def _barrier_root(a, highest, mu):  # type: ignore[no-untyped-def]
    """t = (s - highest) / mu with  sum_c 1 / (t + (highest - a_c) / mu) = 1.

    The sum is convex and falls with t, so that Newton's method climbs from 1 to the root.
    """
    t = 1.0
    for _ in range(MAX_ROOT_STEPS):
        excess, slope = -1.0, 0.0
        for c in range(len(a)):
            if a[c] > -np.inf:
                part = 1.0 / (t + (highest - a[c]) / mu)
                excess += part
                slope += part * part
        t += excess / slope
        if excess <= ROOT_TOL:
            break
    return t


@compiled
def soften_labels(  # type: ignore[no-untyped-def]
    scores, y, cost, cost_row, weight, lam, mu, barrier, temperature, margin
):
    """Merit, loss above the maximum, dual value, flip cost, slopes g (n, C), softness.

    The dual value is that of the tangents at the scores.
    """
    n_rows, n_classes = scores.shape
    slopes = np.zeros((n_rows, n_classes))
    softness = np.zeros((n_rows, 2))
    powers, a, mass = np.empty(n_classes), np.empty(n_classes), np.empty(n_classes)
    rest, p = np.empty(n_classes), np.empty(n_classes)
    merit, loss, dual, on_flips = 0.0, 0.0, 0.0, 0.0
    damp = np.exp(-margin / temperature)
    for n in range(n_rows):
        z, label, k = scores[n], y[n], cost[cost_row[n]]
        top, second = _losses_of_row(
            z, label, k, lam, temperature, margin, powers, rest, a
        )  # fmt: skip
        s, value = _soft_maximum(a, mu, barrier, mass)
        merit += weight[n] * value
        loss += weight[n] * s
        # Labels but the top one have winners in proportion to the powers.
        largest, spread = 0.0, 0.0
        for c in range(n_classes):
            if mass[c] > 0:
                held = weight[n] * mass[c]
                spring = (mass[c] if barrier else 1.0) * mass[c] / mu
                softness[n, 1] += spring * (1.0 - mass[c]) * temperature
                dual += held * a[c]
                if c != label:
                    dual += held * lam * k[c]
                    on_flips += held * k[c]
                slopes[n, c] -= held
                if c != top or margin == 0:
                    share = held / rest[c]
                    spread += share
                    slopes[n, c] -= share * powers[c] * (1.0 - damp)
                    largest = max(largest, mass[c] / rest[c])
                else:
                    _fill_winners(
                        z, c, top, second, temperature, margin, powers, rest, p
                    )  # fmt: skip
                    for j in range(n_classes):
                        slopes[n, j] += held * p[j]
                        largest = max(largest, mass[c] * p[j])
        for j in range(n_classes):
            slopes[n, j] += spread * powers[j]
        for j in range(n_classes):
            dual -= slopes[n, j] * z[j]
        softness[n, 0] = 1.0 - largest
    return merit, loss, dual, on_flips, slopes, softness


@inlined
def _add_winner_ties(block, p, stiffness):  # type: ignore[no-untyped-def]
    """block += stiffness (diag(p) - p p'), as ties between classes."""
    for i in range(len(p)):
        for j in range(i):
            tie = stiffness * p[i] * p[j]
            block[i, i] += tie
            block[j, j] += tie
            block[i, j] -= tie
            block[j, i] -= tie


@inlined
def _add_label_spread(block, p, spring, cost, label, slope, mean):  # type: ignore[no-untyped-def]
    """block += sum_c d_c (v_c - mean v)(v_c - mean v)', v_c = (p_c - e_c, -k_c)."""
    size = len(mean)
    total = 0.0
    mean[:] = 0.0
    for c in range(size - 1):
        if spring[c] > 0:
            total += spring[c]
            for j in range(size - 1):
                mean[j] += spring[c] * p[c, j]
            mean[c] -= spring[c]
            if c != label:
                mean[size - 1] -= spring[c] * cost[c]
    mean /= total
    for c in range(size - 1):
        if spring[c] > 0:
            for j in range(size - 1):
                slope[j] = p[c, j] - mean[j]
            slope[c] -= 1.0
            slope[size - 1] = -mean[size - 1] - (cost[c] if c != label else 0.0)
            for i in range(size):
                for j in range(size):
                    block[i, j] += spring[c] * slope[i] * slope[j]


@compiled
def label_curvature(  # type: ignore[no-untyped-def]
    scores, y, cost, cost_row, weight, lam, mu, barrier, temperature, margin
):
    """Curvature (n, C+1, C+1) of the smoothed losses in (z, lam)."""
    n_rows, n_classes = scores.shape
    curvature = np.zeros((n_rows, n_classes + 1, n_classes + 1))
    powers, a, mass = np.empty(n_classes), np.empty(n_classes), np.empty(n_classes)
    p = np.empty((n_classes, n_classes))
    spring, rest = np.empty(n_classes), np.empty(n_classes)
    slope, mean = np.empty(n_classes + 1), np.empty(n_classes + 1)
    for n in range(n_rows):
        z, k = scores[n], cost[cost_row[n]]
        top, second = _losses_of_row(
            z, y[n], k, lam, temperature, margin, powers, rest, a
        )  # fmt: skip
        _soft_maximum(a, mu, barrier, mass)
        n_labels = 0
        for c in range(n_classes):
            spring[c] = mass[c] * (mass[c] if barrier else 1.0) / mu
            if spring[c] > NEGLIGIBLE:
                n_labels += 1
                spring[c] *= weight[n]
            else:
                spring[c] = 0.0
            if mass[c] > NEGLIGIBLE or spring[c] > 0:
                _fill_winners(z, c, top, second, temperature, margin, powers, rest, p[c])
            if mass[c] > NEGLIGIBLE:
                _add_winner_ties(curvature[n], p[c], weight[n] * mass[c] / temperature)
        if n_labels > 1:
            _add_label_spread(curvature[n], p, spring, k, y[n], slope, mean)
    return curvature


@compiled
def label_masses(  # type: ignore[no-untyped-def]
    scores, y, cost, cost_row, weight, lam, mu, barrier, temperature, margin
):
    """The labels' masses Q (n, C)."""
    n_classes = scores.shape[1]
    masses = np.empty_like(scores)
    powers, rest, a = np.empty(n_classes), np.empty(n_classes), np.empty(n_classes)
    for n in range(len(scores)):
        k = cost[cost_row[n]]
        _losses_of_row(scores[n], y[n], k, lam, temperature, margin, powers, rest, a)
        _soft_maximum(a, mu, barrier, masses[n])
        for c in range(n_classes):
            masses[n, c] *= weight[n]
    return masses


@compiled
def active_tangents(  # type: ignore[no-untyped-def]
    scores, y, cost, cost_row, weight, lam, temperature, margin, slope
):
    """Slopes (n, C) of the samples' labels of largest loss, and what flips cost."""
    n_rows, n_classes = scores.shape
    powers, rest, a = np.empty(n_classes), np.empty(n_classes), np.empty(n_classes)
    p = np.empty(n_classes)
    spent = 0.0
    for n in range(n_rows):
        z, k = scores[n], cost[cost_row[n]]
        top, second = _losses_of_row(
            z, y[n], k, lam, temperature, margin, powers, rest, a
        )  # fmt: skip
        label = a.argmax()
        _fill_winners(z, label, top, second, temperature, margin, powers, rest, p)
        for j in range(n_classes):
            slope[n, j] = weight[n] * p[j]
        slope[n, label] -= weight[n]
        if label != y[n]:
            spent += weight[n] * k[label]
    return spent
