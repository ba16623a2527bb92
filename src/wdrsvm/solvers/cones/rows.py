"""Rows of a primal-dual method: slacks, multipliers and the steps of both.

A step aims at a ``goal``, the products slack * multiplier wanted after it.  Linearised,
``mult' = goal / slack - (mult / slack) * change of slack``.  Rows with multiplier 0 do not
exist.  All arrays are flat here.
"""

import cython
from cython.cimports.libc.math import log

# Products within this factor of the centre are central enough (Gondzio).
CENTRAL = cython.declare(cython.double, 10.0)
# Rows that do not exist have multiplier 0 and change 0: 0 / TINY is 0, with no branch.
TINY = cython.declare(cython.double, 2.2250738585072014e-308)
# Comparisons run side by side in this many lanes.
LANES = cython.declare(cython.Py_ssize_t, 32)


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def dot(left: cython.double[::1], right: cython.double[::1]) -> cython.double:
    i: cython.Py_ssize_t
    total: cython.double = 0.0
    for i in range(left.shape[0]):
        total += left[i] * right[i]
    return total


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def dot_after(
    slack: cython.double[::1],
    mult: cython.double[::1],
    d_slack: cython.double[::1],
    d_mult: cython.double[::1],
    primal: cython.double,
    dual: cython.double,
) -> cython.double:
    """Complementarity after steps of these lengths."""
    i: cython.Py_ssize_t
    total: cython.double = 0.0
    for i in range(slack.shape[0]):
        total += (slack[i] + primal * d_slack[i]) * (mult[i] + dual * d_mult[i])
    return total


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def move(
    value: cython.double[::1], change: cython.double[::1], length: cython.double
) -> cython.void:
    i: cython.Py_ssize_t
    for i in range(value.shape[0]):
        value[i] += length * change[i]


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def invert(value: cython.double[::1], inverse: cython.double[::1]) -> cython.void:
    i: cython.Py_ssize_t
    for i in range(value.shape[0]):
        inverse[i] = 1.0 / (value[i] + TINY)


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def times(
    left: cython.double[::1], right: cython.double[::1], out: cython.double[::1]
) -> cython.void:
    i: cython.Py_ssize_t
    for i in range(left.shape[0]):
        out[i] = left[i] * right[i]


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def fill(out: cython.double[::1], value: cython.double) -> cython.void:
    i: cython.Py_ssize_t
    for i in range(out.shape[0]):
        out[i] = value


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def second_order_goal(
    goal: cython.double[::1],
    exists: cython.double[::1],
    d_slack: cython.double[::1],
    d_mult: cython.double[::1],
    centre: cython.double,
) -> cython.void:
    """The centre everywhere, less the second-order term of a predicted step."""
    i: cython.Py_ssize_t
    for i in range(goal.shape[0]):
        goal[i] = centre * exists[i] - d_slack[i] * d_mult[i]


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def pull_goal(
    goal: cython.double[::1],
    exists: cython.double[::1],
    slack: cython.double[::1],
    mult: cython.double[::1],
    d_slack: cython.double[::1],
    d_mult: cython.double[::1],
    centre: cython.double,
    primal: cython.double,
    dual: cython.double,
) -> cython.void:
    """Gondzio's correction: pull products that would lie far from the centre."""
    i: cython.Py_ssize_t
    after: cython.double
    wanted: cython.double
    low: cython.double = centre / CENTRAL
    high: cython.double = centre * CENTRAL
    for i in range(goal.shape[0]):
        after = (slack[i] + primal * d_slack[i]) * (mult[i] + dual * d_mult[i])
        wanted = low if after < low else after
        wanted = high if wanted > high else wanted
        after = wanted - after
        after = -high if after < -high else after
        goal[i] += exists[i] * after


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def find_mult_step(
    d_mult: cython.double[::1],
    goal: cython.double[::1],
    inverse: cython.double[::1],
    mult: cython.double[::1],
    d_slack: cython.double[::1],
) -> cython.void:
    i: cython.Py_ssize_t
    for i in range(goal.shape[0]):
        d_mult[i] = (goal[i] - mult[i] * d_slack[i]) * inverse[i] - mult[i]


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def longest(
    change: cython.double[::1], inverse: cython.double[::1], lanes: cython.double[::1]
) -> cython.double:
    """Largest t with value + t change >= 0, over entries that exist."""
    begin: cython.Py_ssize_t = 0
    lane: cython.Py_ssize_t
    ratio: cython.double
    size: cython.Py_ssize_t = change.shape[0]
    fill(lanes, 0.0)
    while begin < size:
        for lane in range(min(LANES, size - begin)):
            ratio = -change[begin + lane] * inverse[begin + lane]
            lanes[lane] = ratio if ratio > lanes[lane] else lanes[lane]
        begin += LANES
    return length_of(lanes)


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def length_of(lanes: cython.double[::1]) -> cython.double:
    lane: cython.Py_ssize_t
    worst: cython.double = 0.0
    for lane in range(lanes.shape[0]):
        worst = max(worst, lanes[lane])
    return 1.0 / worst if worst > 0 else NO_END


# Longer than any step.
NO_END = cython.declare(cython.double, float("inf"))


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def log_barrier(
    slack: cython.double[::1], d_slack: cython.double[::1], length: cython.double
) -> cython.double:
    """-sum log slack after a primal step."""
    i: cython.Py_ssize_t
    total: cython.double = 0.0
    for i in range(slack.shape[0]):
        total -= log(slack[i] + length * d_slack[i])
    return total
