r"""The curvature of one sample's springs.

``cones/native/curvature.py`` has the same formula for vectors that run over all samples.
The Newton methods need the curvature of few, scattered samples as one small block each,
which this loop fills without copies.

With springs (a, b, f), their sums A, B, F and e_c = z_c + k_c lam it is the curvature of

    1/2 sum_ij { (a_i a_j / A + b_i b_j / B) (z_i - z_j)^2 + f_i f_j / F (e_i - e_j)^2 }
    + series (mean_a z - mean_b z - z_y + mean_f e)^2.

This is a sum of squares, so that no digits cancel near the boundary.
"""

from __future__ import annotations

from ...runtime.kernel_names import Count, Cube, ReadTable, Real, Table, Vector, kernel


@kernel
def fill_curvature(
    curvature: Cube,
    n: Count,
    spring: Table,
    sums: Vector,
    cost: ReadTable,
    row: Count,
    label: Count,
    series: Real,
    scratch: Table,
) -> None:
    """Fill block n in (z, lam); ``series`` is the last square's stiffness.

    ``spring`` has the shape (3, C).  ``scratch`` has the shape (2, C + 1) or is wider, and
    is at least 3 wide.  The costs of the flips are the row ``row`` of ``cost``.
    """
    lam: Count = spring.shape[1]
    i: Count
    j: Count
    k: Count
    tie: Real
    for j in range(lam + 1):
        scratch[1, j] = 0.0
    for k in range(3):
        scratch[0, k] = 1.0 / sums[k] if sums[k] > 0 else 0.0
    if series > 0:
        _series_gap(spring, cost, row, label, scratch)
    for i in range(lam):
        curvature[n, i, i] = series * scratch[1, i] * scratch[1, i]
        curvature[n, i, lam] = series * scratch[1, i] * scratch[1, lam]
        for j in range(i):
            tie = scratch[0, 0] * spring[0, i] * spring[0, j]
            tie += scratch[0, 1] * spring[1, i] * spring[1, j]
            tie += scratch[0, 2] * spring[2, i] * spring[2, j]
            curvature[n, i, i] += tie
            curvature[n, j, j] += tie
            curvature[n, i, j] = series * scratch[1, i] * scratch[1, j] - tie
            curvature[n, j, i] = curvature[n, i, j]
    curvature[n, lam, lam] = series * scratch[1, lam] * scratch[1, lam]
    if scratch[0, 2] > 0:
        _add_price_spread(curvature, n, spring, scratch[0, 2], cost, row)
    for i in range(lam):
        curvature[n, lam, i] = curvature[n, i, lam]


@kernel
def _add_price_spread(
    curvature: Cube,
    n: Count,
    spring: Table,
    inverse: Real,
    cost: ReadTable,
    row: Count,
) -> None:
    """The lam part of the flips' Laplacian; it is zero if all flips cost the same."""
    lam: Count = spring.shape[1]
    i: Count
    j: Count
    tie: Real
    spread: Real
    for i in range(lam):
        if not spring[2, i] > 0:
            continue
        for j in range(i):
            if spring[2, j] > 0 and cost[row, i] != cost[row, j]:
                tie = inverse * spring[2, i] * spring[2, j]
                spread = cost[row, i] - cost[row, j]
                curvature[n, i, lam] += tie * spread
                curvature[n, j, lam] -= tie * spread
                curvature[n, lam, lam] += tie * spread * spread


@kernel
def _series_gap(
    spring: Table,
    cost: ReadTable,
    row: Count,
    label: Count,
    scratch: Table,
) -> None:
    """mean_a z - mean_b z - z_y + mean_f (z + k lam) as a vector in (z, lam)."""
    lam: Count = spring.shape[1]
    j: Count
    for j in range(lam):
        scratch[1, j] = scratch[0, 0] * spring[0, j] - scratch[0, 1] * spring[1, j]
        if spring[2, j] > 0:
            scratch[1, j] += scratch[0, 2] * spring[2, j]
            scratch[1, lam] += scratch[0, 2] * spring[2, j] * cost[row, j]
    scratch[1, label] -= 1.0
