"""The start of the rows of a sample."""

from __future__ import annotations

from ...runtime.kernel_names import (
    Count,
    Cube,
    Flag,
    Real,
    Table,
    Vector,
    kernel,
)


@kernel
def start_sample(
    n: Count,
    label: Count,
    weight: Real,
    lam: Real,
    price: Table,
    exists: Cube,
    slack: Cube,
    mult: Cube,
    s: Vector,
    h: Vector,
) -> None:
    """Set strictly feasible s, h at z = 0, and multipliers with the right sums."""
    j: Count
    total: Real = 0.0
    flipped: Real = 0.0
    share: Real
    n_classes: Count = price.shape[0]
    has_flips: Flag = exists.shape[0] == 3 and exists[1, 0, n] > 0
    h[n] = 1.0 if has_flips else 0.0
    s[n] = 1.0 + h[n] + n_classes / weight
    for j in range(n_classes):
        slack[0, j, n] = s[n] - (0.0 if j == label else 1.0)
        mult[0, j, n] = 1.0 / slack[0, j, n]
        total += mult[0, j, n]
        if has_flips and exists[2, j, n] > 0:
            slack[2, j, n] = s[n] - h[n] - 1.0 + lam * price[j, n]
            mult[2, j, n] = 1.0 / slack[2, j, n]
            flipped += mult[2, j, n]
    share = weight / (total + flipped)
    for j in range(n_classes):
        mult[0, j, n] *= share
        if has_flips:
            mult[2, j, n] *= share
            slack[1, j, n] = h[n]
            mult[1, j, n] = flipped * share / n_classes
