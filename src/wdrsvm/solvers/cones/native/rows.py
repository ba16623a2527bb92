"""Rows of a primal-dual method: slacks, multipliers and the steps of both.

The ``goal`` of a step has the products slack * multiplier that the step shall reach.
Linearised, ``mult' = goal / slack - (mult / slack) * change of slack``.  A row with
multiplier 0 does not exist.  All arrays in this file are flat.
"""

from __future__ import annotations

import cython
from cython.cimports.libc.math import log

from wdrsvm.solvers.cones.settings import CONES

from ...runtime.kernel_names import (
    Count,
    Real,
    Vector,
    inner,
    kernel,
)

CENTRAL = cython.declare(Real, CONES.central)
# Rows that do not exist have multiplier 0 and change 0.  Dividing by TINY gives 0 without a
# branch.
TINY = cython.declare(Real, 2.2250738585072014e-308)
# Comparisons run side by side in this many lanes.
LANES = cython.declare(Count, 32)


@kernel
def dot(left: Vector, right: Vector) -> Real:
    i: Count
    total: Real = 0.0
    for i in range(left.shape[0]):
        total += left[i] * right[i]
    return total


@kernel
def dot_after(
    slack: Vector,
    mult: Vector,
    d_slack: Vector,
    d_mult: Vector,
    primal: Real,
    dual: Real,
) -> Real:
    """Complementarity after steps of these lengths."""
    i: Count
    total: Real = 0.0
    for i in range(slack.shape[0]):
        total += (slack[i] + primal * d_slack[i]) * (mult[i] + dual * d_mult[i])
    return total


@kernel
def move(value: Vector, change: Vector, length: Real) -> None:
    i: Count
    for i in range(value.shape[0]):
        value[i] += length * change[i]


@kernel
def invert(value: Vector, inverse: Vector) -> None:
    i: Count
    for i in range(value.shape[0]):
        inverse[i] = 1.0 / (value[i] + TINY)


@kernel
def times(left: Vector, right: Vector, out: Vector) -> None:
    i: Count
    for i in range(left.shape[0]):
        out[i] = left[i] * right[i]


@kernel
def fill(out: Vector, value: Real) -> None:
    i: Count
    for i in range(out.shape[0]):
        out[i] = value


@kernel
def second_order_goal(
    goal: Vector,
    exists: Vector,
    d_slack: Vector,
    d_mult: Vector,
    centre: Real,
) -> None:
    """Set the goal: the centre minus the second-order term of a predicted step."""
    i: Count
    for i in range(goal.shape[0]):
        goal[i] = centre * exists[i] - d_slack[i] * d_mult[i]


@inner
def pull_of(after: Real, centre: Real) -> Real:
    """The correction of a product that would be far from the centre (Gondzio)."""
    wanted: Real = after if after > centre / CENTRAL else centre / CENTRAL
    wanted = wanted if wanted < centre * CENTRAL else centre * CENTRAL
    wanted -= after
    return wanted if wanted > -CENTRAL * centre else -CENTRAL * centre


@kernel
def pull_goal(
    goal: Vector,
    exists: Vector,
    slack: Vector,
    mult: Vector,
    d_slack: Vector,
    d_mult: Vector,
    centre: Real,
    primal: Real,
    dual: Real,
) -> None:
    i: Count
    after: Real
    for i in range(goal.shape[0]):
        after = (slack[i] + primal * d_slack[i]) * (mult[i] + dual * d_mult[i])
        goal[i] += exists[i] * pull_of(after, centre)


@kernel
def find_mult_step(
    d_mult: Vector,
    goal: Vector,
    inverse: Vector,
    mult: Vector,
    d_slack: Vector,
) -> None:
    i: Count
    for i in range(goal.shape[0]):
        d_mult[i] = (goal[i] - mult[i] * d_slack[i]) * inverse[i] - mult[i]


@kernel
def longest(change: Vector, inverse: Vector, lanes: Vector) -> Real:
    """Largest t with value + t change >= 0, over entries that exist."""
    begin: Count = 0
    lane: Count
    ratio: Real
    size: Count = change.shape[0]
    fill(lanes, 0.0)
    while begin < size:
        for lane in range(min(LANES, size - begin)):
            ratio = -change[begin + lane] * inverse[begin + lane]
            lanes[lane] = ratio if ratio > lanes[lane] else lanes[lane]
        begin += LANES
    return length_of(lanes)


@kernel
def length_of(lanes: Vector) -> Real:
    lane: Count
    worst: Real = 0.0
    for lane in range(lanes.shape[0]):
        worst = max(worst, lanes[lane])
    return 1.0 / worst if worst > 0 else NO_END


# Longer than any step.
NO_END = cython.declare(Real, float("inf"))


@kernel
def log_barrier(slack: Vector, d_slack: Vector, length: Real) -> Real:
    """-sum log slack after a primal step."""
    i: Count
    total: Real = 0.0
    for i in range(slack.shape[0]):
        total -= log(slack[i] + length * d_slack[i])
    return total
