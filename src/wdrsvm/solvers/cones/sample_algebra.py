"""What the rows of samples are made of: one class, one kind of rows, or one sample."""

import cython


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def start_sample(
    n: cython.Py_ssize_t,
    label: cython.Py_ssize_t,
    weight: cython.double,
    lam: cython.double,
    price: cython.double[:, ::1],
    exists: cython.double[:, :, ::1],
    slack: cython.double[:, :, ::1],
    mult: cython.double[:, :, ::1],
    s: cython.double[::1],
    h: cython.double[::1],
) -> cython.void:
    """A strictly feasible s, h at z = 0 and multipliers that meet the row sums."""
    j: cython.Py_ssize_t
    total: cython.double = 0.0
    flipped: cython.double = 0.0
    share: cython.double
    n_classes: cython.Py_ssize_t = price.shape[0]
    has_flips: cython.bint = exists.shape[0] == 3 and exists[1, 0, n] > 0
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


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def add_wants(
    kind: cython.Py_ssize_t,
    goal: cython.double[::1],
    inverse: cython.double[::1],
    want: cython.double[:, ::1],
    own: cython.double[::1],
) -> cython.void:
    """Add the multipliers that the goal asks for to what s and h want."""
    n: cython.Py_ssize_t
    target: cython.double
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


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def solve_local(
    local: cython.double[:, ::1],
    want: cython.double[:, ::1],
    s: cython.double[::1],
    h: cython.double[::1],
) -> cython.void:
    n: cython.Py_ssize_t
    for n in range(s.shape[0]):
        s[n] = local[0, n] * want[0, n] + local[1, n] * want[1, n]
        h[n] = local[1, n] * want[0, n] + local[2, n] * want[1, n]


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def add_local(
    local: cython.double[:, ::1],
    want: cython.double[:, ::1],
    s: cython.double[::1],
    h: cython.double[::1],
) -> cython.void:
    n: cython.Py_ssize_t
    for n in range(s.shape[0]):
        s[n] += local[0, n] * want[0, n] + local[1, n] * want[1, n]
        h[n] += local[1, n] * want[0, n] + local[2, n] * want[1, n]


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def find_mult_steps(
    d_mult: cython.double[::1],
    goal: cython.double[::1],
    inverse: cython.double[::1],
    mult: cython.double[::1],
    spring: cython.double[::1],
    change: cython.double[::1],
) -> cython.void:
    n: cython.Py_ssize_t
    for n in range(goal.shape[0]):
        d_mult[n] = goal[n] * inverse[n] - mult[n] - spring[n] * change[n]


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def keep_worst(
    worst: cython.double[::1], change: cython.double[::1], inverse: cython.double[::1]
) -> cython.void:
    """The largest shares of what is there that a whole step would take away."""
    n: cython.Py_ssize_t
    ratio: cython.double
    for n in range(change.shape[0]):
        ratio = -change[n] * inverse[n]
        worst[n] = ratio if ratio > worst[n] else worst[n]
