"""What the rows of samples are made of: one class, one kind of rows, or one sample."""

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
    """A strictly feasible s, h at z = 0 and multipliers that meet the row sums."""
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


@kernel
def add_wants(
    kind: Count,
    goal: Vector,
    inverse: Vector,
    want: Table,
    own: Vector,
) -> None:
    """Add the multipliers that the goal asks for to what s and h want."""
    n: Count
    target: Real
    if kind == 0:
        for n in range(goal.shape[0]):
            own[n] += goal[n] * inverse[n]
            want[0, n] += goal[n] * inverse[n]
    elif kind == 1:
        for n in range(goal.shape[0]):
            want[1, n] += goal[n] * inverse[n]
    else:
        for n in range(goal.shape[0]):
            target = goal[n] * inverse[n]
            want[0, n] += target
            want[1, n] -= target


@kernel
def solve_local(
    local: Table,
    want: Table,
    s: Vector,
    h: Vector,
) -> None:
    n: Count
    for n in range(s.shape[0]):
        s[n] = local[0, n] * want[0, n] + local[1, n] * want[1, n]
        h[n] = local[1, n] * want[0, n] + local[2, n] * want[1, n]


@kernel
def add_local(
    local: Table,
    want: Table,
    s: Vector,
    h: Vector,
) -> None:
    n: Count
    for n in range(s.shape[0]):
        s[n] += local[0, n] * want[0, n] + local[1, n] * want[1, n]
        h[n] += local[1, n] * want[0, n] + local[2, n] * want[1, n]


@kernel
def find_mult_steps(
    d_mult: Vector,
    goal: Vector,
    inverse: Vector,
    mult: Vector,
    spring: Vector,
    change: Vector,
) -> None:
    n: Count
    for n in range(goal.shape[0]):
        d_mult[n] = goal[n] * inverse[n] - mult[n] - spring[n] * change[n]


@kernel
def keep_worst(worst: Vector, change: Vector, inverse: Vector) -> None:
    """The largest shares of what is there that a whole step would take away."""
    n: Count
    ratio: Real
    for n in range(change.shape[0]):
        ratio = -change[n] * inverse[n]
        worst[n] = ratio if ratio > worst[n] else worst[n]
