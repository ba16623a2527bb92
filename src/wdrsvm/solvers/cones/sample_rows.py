r"""The rows of the samples in the interior point: compiled per-sample algebra.

Sample n has the local variables s, h and sees z = M x_n and lam through 3C - 1 rows

    0:  s - z_j + z_y - [j != y]      (j = y is s >= 0)        multipliers alpha_j
    1:  h - z_j                                                multipliers beta_j
    2:  s - h + z_c - 1 + lam k_c     (c != y, k_c finite)     multipliers phi_c

kept in arrays ``slack`` and ``mult`` of shape (3, N, C).  Rows that do not exist have
slack 1 and multiplier 0; a sample without any possible flip has only the rows 0.

With d = mult / slack = (a, b, f) and sums A, B, F, the quadratic form of a Newton step is
that of springs: minimised over s and h it is, with e_c = z_c + k_c lam,

    1/2 sum_ij { (a_i a_j / A + b_i b_j / B) (z_i - z_j)^2 + f_i f_j / F (e_i - e_j)^2 }
    + A B F / (AB + AF + BF) (mean_a z - mean_b z - z_y + mean_f e)^2:

sums of squares, so that nothing cancels however close to the boundary.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..compiling import cached_njit

compiled: Any = cached_njit(nogil=True, error_model="numpy")
# For the steps of an inner loop: passing views of arrays costs more than the steps do.
inlined: Any = cached_njit(nogil=True, error_model="numpy", inline="always")
# For reductions, whose order of operations must be free for them to be vectorised.
vectorised: Any = cached_njit(
    nogil=True, error_model="numpy", fastmath={"reassoc", "nsz", "nnan"}
)


@compiled
def start_rows(weight, kappa, y, lam):  # type: ignore[no-untyped-def]
    """Strictly feasible s, h at z = 0 and multipliers that meet the row sums."""
    n_rows, n_classes = kappa.shape
    slack = np.ones((3, n_rows, n_classes))
    mult = np.zeros((3, n_rows, n_classes))
    s = np.empty(n_rows)
    h = np.zeros(n_rows)
    for n in range(n_rows):
        has_flips = np.isfinite(kappa[n]).any()
        h[n] = 1.0 if has_flips else 0.0
        s[n] = 1.0 + h[n] + n_classes / weight[n]
        total = 0.0
        flipped = 0.0
        for j in range(n_classes):
            slack[0, n, j] = s[n] - (j != y[n])
            mult[0, n, j] = 1.0 / slack[0, n, j]
            total += mult[0, n, j]
            if np.isfinite(kappa[n, j]):
                slack[2, n, j] = s[n] - h[n] - 1.0 + lam * kappa[n, j]
                mult[2, n, j] = 1.0 / slack[2, n, j]
                total += mult[2, n, j]
                flipped += mult[2, n, j]
        share = weight[n] / total
        for j in range(n_classes):
            mult[0, n, j] *= share
            mult[2, n, j] *= share
            if has_flips:
                slack[1, n, j] = h[n]
                mult[1, n, j] = flipped * share / n_classes
    return slack, mult, s, h


@compiled
def eliminate(spring, kappa, y):  # type: ignore[no-untyped-def]
    """Curvature (N, C+1, C+1) in (z, lam) after s and h, and sums of springs (N, 3)."""
    _, n_rows, n_classes = spring.shape
    curvature = np.empty((n_rows, n_classes + 1, n_classes + 1))
    sums = np.zeros((n_rows, 3))
    scratch = np.empty((2, max(n_classes + 1, 3)))
    for n in range(n_rows):
        for k in range(3):
            for j in range(n_classes):
                sums[n, k] += spring[k, n, j]
        a, b, f = sums[n]
        series = a * b * f / (a * b + a * f + b * f) if f > 0 else 0.0
        fill_curvature(
            curvature[n], spring[:, n], sums[n], kappa[n], y[n], series, scratch
        )  # fmt: skip
    return curvature, sums


@compiled
def fill_curvature(block, spring, sums, kappa, label, series, scratch):  # type: ignore[no-untyped-def]
    """The springs' curvature in (z, lam); ``series`` is the last square's stiffness."""
    lam = len(kappa)
    inverse, gap = scratch
    gap[:] = 0.0
    for k in range(3):
        inverse[k] = 1.0 / sums[k] if sums[k] > 0 else 0.0
    if series > 0:
        _series_gap(gap, spring, inverse, kappa, label)
    for i in range(lam):
        block[i, i] = series * gap[i] * gap[i]
        block[i, lam] = series * gap[i] * gap[lam]
        for j in range(i):
            tie = inverse[0] * spring[0, i] * spring[0, j]
            tie += inverse[1] * spring[1, i] * spring[1, j]
            tie += inverse[2] * spring[2, i] * spring[2, j]
            block[i, i] += tie
            block[j, j] += tie
            block[i, j] = block[j, i] = series * gap[i] * gap[j] - tie
    block[lam, lam] = series * gap[lam] * gap[lam]
    if inverse[2] > 0:
        _add_price_spread(block, spring[2], inverse[2], kappa)
    for i in range(lam):
        block[lam, i] = block[i, lam]


@compiled
def _add_price_spread(block, spring, inverse, kappa):  # type: ignore[no-untyped-def]
    """The lam part of the flips' Laplacian: zero when all flips cost the same."""
    lam = len(spring)
    for i in range(lam):
        for j in range(i):
            if spring[i] > 0 and spring[j] > 0 and kappa[i] != kappa[j]:
                tie = inverse * spring[i] * spring[j]
                spread = kappa[i] - kappa[j]
                block[i, lam] += tie * spread
                block[j, lam] -= tie * spread
                block[lam, lam] += tie * spread * spread


@compiled
def _series_gap(gap, spring, inverse, kappa, label):  # type: ignore[no-untyped-def]
    """mean_a z - mean_b z - z_y + mean_f (z + k lam) as a vector in (z, lam)."""
    lam = len(kappa)
    for j in range(lam):
        gap[j] = inverse[0] * spring[0, j] - inverse[1] * spring[1, j]
        if spring[2, j] > 0:
            gap[j] += inverse[2] * spring[2, j]
            gap[lam] += inverse[2] * spring[2, j] * kappa[j]
    gap[label] -= 1.0


@compiled
def reduced_rhs(target, spring, sums, kappa, y, weight):  # type: ignore[no-untyped-def]
    """Right-hand side in (z, lam) after s and h, and the local part of their step.

    ``target`` holds the multipliers aimed at before the change of slacks is counted.
    """
    _, n_rows, n_classes = target.shape
    rhs = np.empty((n_rows, n_classes))
    rhs_lam = 0.0
    local = np.empty((n_rows, 2))
    for n in range(n_rows):
        believed, flipped, winning = 0.0, 0.0, 0.0
        for j in range(n_classes):
            believed += target[0, n, j]
            winning += target[1, n, j]
            flipped += target[2, n, j]
        s, h = _solve_local(sums[n], believed + flipped - weight[n], winning - flipped)
        local[n, 0], local[n, 1] = s, h
        for j in range(n_classes):
            on_label = target[0, n, j] - spring[0, n, j] * s
            on_winner = target[1, n, j] - spring[1, n, j] * h
            on_flip = target[2, n, j] - spring[2, n, j] * (s - h)
            rhs[n, j] = on_flip - on_label - on_winner
            if spring[2, n, j] > 0:
                rhs_lam += kappa[n, j] * on_flip
        rhs[n, y[n]] += believed - sums[n, 0] * s
    return rhs, rhs_lam, local


@compiled
def _solve_local(springs, want_s, want_h):  # type: ignore[no-untyped-def]
    a, b, f = springs
    if f == 0.0:
        return want_s / a, 0.0
    determinant = a * b + a * f + b * f
    s = ((b + f) * want_s + f * want_h) / determinant
    h = (f * want_s + (a + f) * want_h) / determinant
    return s, h


@compiled
def step_rows(dz, dlam, local, target, slack, mult, spring, sums, kappa, y):  # type: ignore[no-untyped-def]
    """Steps of slacks, multipliers, s and h that belong to a step of z and lam, and how
    far the slacks and the multipliers can go."""
    _, n_rows, n_classes = slack.shape
    d_slack = np.empty_like(slack)
    d_mult = np.empty_like(slack)
    d_s = np.empty(n_rows)
    d_h = np.empty(n_rows)
    for n in range(n_rows):
        pull_s, pull_h = -sums[n, 0] * dz[n, y[n]], 0.0
        for j in range(n_classes):
            pull_s += spring[0, n, j] * dz[n, j]
            pull_h += spring[1, n, j] * dz[n, j]
            if spring[2, n, j] > 0:
                flip = spring[2, n, j] * (dz[n, j] + kappa[n, j] * dlam)
                pull_s -= flip
                pull_h += flip
        s, h = _solve_local(sums[n], pull_s, pull_h)
        s += local[n, 0]
        h += local[n, 1]
        d_s[n], d_h[n] = s, h
        for j in range(n_classes):
            d_slack[0, n, j] = s - dz[n, j] + dz[n, y[n]]
            d_slack[1, n, j] = h - dz[n, j] if spring[1, n, j] > 0 else 0.0
            exists = spring[2, n, j] > 0
            d_slack[2, n, j] = s - h + dz[n, j] + kappa[n, j] * dlam if exists else 0.0
            for k in range(3):
                move = spring[k, n, j] * d_slack[k, n, j]
                d_mult[k, n, j] = target[k, n, j] - mult[k, n, j] - move
    return d_slack, d_mult, d_s, d_h


# Entries that do not exist have value 0 and change 0: 0 / tiny is 0, with no branch.
TINY = np.finfo(np.float64).tiny


@vectorised
def longest_step(value, change):  # type: ignore[no-untyped-def]
    """Largest t with value + t change >= 0, over entries that exist."""
    worst = 0.0
    values = value.ravel()
    changes = change.ravel()
    for i in range(len(values)):
        worst = max(worst, -changes[i] / (values[i] + TINY))
    return 1.0 / worst if worst > 0 else np.inf


@compiled
def weighted_gram(curvature, X):  # type: ignore[no-untyped-def]
    """sum_n curvature_n kron x_n x_n', shape (C Q + 1, C Q + 1), in lam's row and column
    sum_n curvature_n[:, lam] x_n; the lower triangle of blocks is mirrored."""
    n_rows, n_columns = X.shape
    n_classes = curvature.shape[1] - 1
    size = n_classes * n_columns
    gram = np.empty((size + 1, size + 1))
    corner = 0.0
    for n in range(n_rows):
        corner += curvature[n, n_classes, n_classes]
    gram[size, size] = corner
    transposed = np.ascontiguousarray(X.T)
    for i in range(n_classes):
        width = n_classes - i
        scaled = np.empty((n_rows, width * n_columns + 1))
        for n in range(n_rows):
            for j in range(width):
                factor = curvature[n, i, i + j]
                for d in range(n_columns):
                    scaled[n, j * n_columns + d] = factor * X[n, d]
            scaled[n, width * n_columns] = curvature[n, i, n_classes]
        block, first = np.dot(transposed, scaled), i * n_columns
        for d in range(n_columns):
            for k in range(block.shape[1]):
                gram[first + d, first + k] = gram[first + k, first + d] = block[d, k]
    return gram
