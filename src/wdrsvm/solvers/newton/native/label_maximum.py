r"""The smoothed maximum over labels, for one sample of a smooth loss.

At a temperature above 0 the loss l(z, c) of a label c has one gradient,

    p_c - e_c,      p_cj = softmax_j((z_j + margin [j != c]) / temperature),

and only the maximum of a_c = l(z, c) - lam k_c, over the labels that the adversary may
give, has kinks.  If there are several such labels, the maximum is replaced by

    min over s of  s - mu sum_c log(s - a_c).

Its slopes mu / (s - a_c) sum to 1.  Times w_n, they are the label masses Q_c of the tangent
multipliers (``problem.certificate.smooth``).  Unlike logsumexp it is a barrier, so that
Newton steps stay useful while mu falls to 0.
"""

from __future__ import annotations

import cython
import numpy as np
from cython.cimports.libc.math import exp, log

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

# Newton's method converges to rounding in fewer steps.
MAX_ROOT_STEPS = cython.declare(Count, 60)
ROOT_TOL = cython.declare(Real, 1e-14)
# A label so many mu below the highest has no softmax weight in floating point.
FAR = cython.declare(Real, 40.0)
# Smaller masses and springs hardly change the curvature.
LEAST_MASS = cython.declare(Real, 1e-9)
NEVER = cython.declare(Real, float("inf"))


@cython.cclass
class LabelRow:
    """One sample's labels at its scores z.

    ``worth`` (C,) are the a_c, -inf for a label that cannot be given.  ``powers`` (C,) are
    exp((z_j - z_top) / temperature).  ``rest`` (C,) are their sums with the margin of each
    label, in O(C).  The sum of the top label is relative to its largest term, because the
    other terms may vanish beside its power.  ``below`` (C,) is the distance of each label
    from the highest, in units of mu.  ``mass`` (C,) are the slopes of the maximum.
    ``bound`` is an upper bound of it, ``value`` is the smoothed maximum.
    """

    mu: Real
    barrier: Flag
    temperature: Real
    margin: Real
    damp: Real
    top: Count
    second: Real
    bound: Real
    value: Real
    powers: Vector
    rest: Vector
    worth: Vector
    below: Vector
    mass: Vector

    def __init__(self, n_classes, mu, barrier, temperature, margin):
        self.mu, self.barrier = mu, barrier
        self.temperature, self.margin = temperature, margin
        self.damp = exp(-self.margin / self.temperature)
        self.powers, self.rest = np.empty(n_classes), np.empty(n_classes)
        self.worth, self.mass = np.empty(n_classes), np.empty(n_classes)
        self.below = np.empty(n_classes)


@inner
def _is_given(label: Count, cost: ReadTable, k: Count, c: Count) -> Flag:
    """Whether the adversary may give label c."""
    return c == label or cost[k, c] < NEVER


@inner
def _label_power(
    z: ReadTable, n: Count, j: Count, c: Count, peak: Real, row: LabelRow
) -> Real:
    added: Real = row.margin if j != c else 0.0
    return exp((z[n, j] + added - peak) / row.temperature)


@inner
def _own_peak(z: ReadTable, n: Count, row: LabelRow) -> Real:
    """The largest term of the top class's own sum."""
    rival: Real = row.second + row.margin
    return z[n, row.top] if z[n, row.top] > rival else rival


@kernel
def _fill_powers(z: ReadTable, n: Count, row: LabelRow) -> Real:
    """The top class, the score of the second, and the powers; returns their sum."""
    j: Count
    top: Count = 0
    total: Real = 0.0
    for j in range(1, z.shape[1]):
        if z[n, j] > z[n, top]:
            top = j
    row.top = top
    row.second = -NEVER
    for j in range(z.shape[1]):
        row.powers[j] = exp((z[n, j] - z[n, top]) / row.temperature)
        total += row.powers[j]
        if j != top and z[n, j] > row.second:
            row.second = z[n, j]
    return total


@kernel
def _look(
    z: ReadTable,
    n: Count,
    label: Count,
    cost: ReadTable,
    k: Count,
    lam: Real,
    row: LabelRow,
) -> None:
    """Fill the row with sample n's labels, whose flip costs are row k of ``cost``."""
    c: Count
    j: Count
    peak: Real
    total: Real = _fill_powers(z, n, row)
    for c in range(z.shape[1]):
        row.worth[c] = -NEVER
        if not _is_given(label, cost, k, c):
            continue
        if c == row.top and row.margin > 0:
            peak = _own_peak(z, n, row)
            row.rest[c] = 0.0
            for j in range(z.shape[1]):
                row.rest[c] += _label_power(z, n, j, c, peak, row)
            row.worth[c] = row.temperature * log(row.rest[c]) + peak - z[n, c]
        else:
            row.rest[c] = total - row.powers[c] * (1.0 - row.damp)
            row.worth[c] = row.temperature * log(row.rest[c]) + row.margin
            row.worth[c] += z[n, row.top] - z[n, c]
        if c != label:
            row.worth[c] -= lam * cost[k, c]


@kernel
def _fill_winners(
    z: ReadTable, n: Count, c: Count, row: LabelRow, p: Table, at: Count
) -> None:
    """p (C,) of label c, into row ``at`` of a table."""
    j: Count
    peak: Real
    if c == row.top and row.margin > 0:
        peak = _own_peak(z, n, row)
        for j in range(z.shape[1]):
            p[at, j] = _label_power(z, n, j, c, peak, row) / row.rest[c]
        return
    for j in range(z.shape[1]):
        p[at, j] = row.powers[j] / row.rest[c]
    p[at, c] *= row.damp


@kernel
def _soft_maximum(row: LabelRow) -> None:
    """An upper bound of the maximum and the smoothed value, and its slopes ``mass``."""
    c: Count
    n_labels: Count = 0
    highest: Real = -NEVER
    total: Real = 0.0
    for c in range(row.worth.shape[0]):
        if row.worth[c] > -NEVER:
            n_labels += 1
            if row.worth[c] > highest:
                highest = row.worth[c]
    for c in range(row.worth.shape[0]):
        row.below[c] = (highest - row.worth[c]) / row.mu
    if row.barrier and n_labels > 1:
        _log_barrier(row, highest)
        return
    for c in range(row.worth.shape[0]):
        row.mass[c] = exp(-row.below[c]) if row.below[c] < FAR else 0.0
        total += row.mass[c]
    for c in range(row.worth.shape[0]):
        row.mass[c] /= total
    row.bound = row.value = highest + row.mu * log(total)


@kernel
def _log_barrier(row: LabelRow, highest: Real) -> None:
    """The same by  min over s of  s - mu sum_c log(s - a_c)."""
    c: Count
    rise: Real = _barrier_root(row)
    total: Real = 0.0
    logs: Real = 0.0
    for c in range(row.worth.shape[0]):
        row.mass[c] = 1.0 / (rise + row.below[c])
        total += row.mass[c]
        if row.mass[c] > 0:
            # -mu log(s - a_c) is mu log(mass_c), up to a constant.
            logs += log(row.mass[c])
    for c in range(row.worth.shape[0]):
        row.mass[c] /= total
    row.bound = highest + row.mu * rise
    row.value = highest + row.mu * (rise + logs)


@kernel
def _barrier_root(row: LabelRow) -> Real:
    """t = (s - highest) / mu with  sum_c 1 / (t + (highest - a_c) / mu) = 1.

    The sum is convex and falls with t, so that Newton's method climbs from 1 to the root.
    A label that cannot be given is infinitely far below and adds nothing.
    """
    c: Count
    _step: Count
    t: Real = 1.0
    excess: Real
    slope: Real
    part: Real
    for _step in range(MAX_ROOT_STEPS):
        excess = -1.0
        slope = 0.0
        for c in range(row.worth.shape[0]):
            part = 1.0 / (t + row.below[c])
            excess += part
            slope += part * part
        t += excess / slope
        if excess <= ROOT_TOL:
            break
    return t


@inner
def _spring(row: LabelRow, c: Count) -> Real:
    """How stiffly the maximum holds label c."""
    return row.mass[c] * (row.mass[c] if row.barrier else 1.0) / row.mu
