r"""One iteration of the interior point in one compiled call, for boxes and l2 cones.

On small problems most of an iteration is the cost of calling its many small steps from
Python.  Here they call each other.  The algebra is that of ``sample_rows``, ``norm_cones``
and ``second_order``; the order of the steps is that of ``primal_dual``.

The norm's slacks and multipliers are (2, C, T) for a box, (1, K, 1 + T) for cones;
``signs`` (K, C) are the combinations of the classes' coefficients in the cones, and empty
for a box.
"""

from __future__ import annotations

import numpy as np

from .complementarity import _pulled_goal, _second_order_goal
from .norm_cones import _box_rhs, _box_step
from .normal_system import _to_unit_diagonal, fix_gauge
from .sample_rows import (
    compiled,
    eliminate,
    longest_step,
    reduced_rhs,
    step_rows,
    weighted_gram,
)
from .second_order import _longest, _product, _quotient, _scaled, _scaling_point

MAX_REFINEMENTS = 5
REFINED = 1e-13


@compiled
def _quotients(above, below):  # type: ignore[no-untyped-def]
    out = np.empty_like(above)
    flat, a, b = out.ravel(), above.ravel(), below.ravel()
    for i in range(len(flat)):
        flat[i] = a[i] / b[i]
    return out


@compiled
def _dot(left, right):  # type: ignore[no-untyped-def]
    total = 0.0
    a, b = left.ravel(), right.ravel()
    for i in range(len(a)):
        total += a[i] * b[i]
    return total


@compiled
def _dot_after(slack, mult, d_slack, d_mult, primal, dual):  # type: ignore[no-untyped-def]
    total = 0.0
    r, y, dr, dy = slack.ravel(), mult.ravel(), d_slack.ravel(), d_mult.ravel()
    for i in range(len(r)):
        total += (r[i] + primal * dr[i]) * (y[i] + dual * dy[i])
    return total


@compiled
def _moved(value, change, length):  # type: ignore[no-untyped-def]
    out = np.empty_like(value)
    flat, a, b = out.ravel(), value.ravel(), change.ravel()
    for i in range(len(flat)):
        flat[i] = a[i] + length * b[i]
    return out


@compiled
def _uniform_goal(centre, mult):  # type: ignore[no-untyped-def]
    out = np.zeros(mult.shape)
    flat, y = out.ravel(), mult.ravel()
    for i in range(len(flat)):
        if y[i] > 0:
            flat[i] = centre
    return out


@compiled
def _add_box(matrix, slack, mult, n_columns):  # type: ignore[no-untyped-def]
    _, n_classes, n_touchable = slack.shape
    lam = n_classes * n_columns
    for j in range(n_classes):
        for d in range(n_touchable):
            above, below = mult[0, j, d] / slack[0, j, d], mult[1, j, d] / slack[1, j, d]
            k = j * n_columns + d
            matrix[k, k] += above + below
            matrix[k, lam] += (above - below) / 2
            matrix[lam, k] += (above - below) / 2
            matrix[lam, lam] += (above + below) / 4


@compiled
def _add_cones(matrix, w, size, signs, n_columns):  # type: ignore[no-untyped-def]
    n_cones, n_classes = signs.shape
    n_touchable = w.shape[1] - 1
    lam = n_classes * n_columns
    for k in range(n_cones):
        stiff = 1.0 / (size[k] * size[k])
        head = w[k, 0]
        matrix[lam, lam] += stiff * (2 * head * head - 1)
        for i in range(n_classes):
            if signs[k, i] == 0.0:
                continue
            for d in range(n_touchable):
                row = i * n_columns + d
                coupling = -2 * head * stiff * w[k, d + 1] * signs[k, i]
                matrix[row, lam] += coupling
                matrix[lam, row] += coupling
                for j in range(n_classes):
                    if signs[k, j] == 0.0:
                        continue
                    both = signs[k, i] * signs[k, j] * stiff
                    matrix[row, j * n_columns + d] += both
                    bend = 2 * both * w[k, d + 1]
                    for e in range(n_touchable):
                        matrix[row, j * n_columns + e] += bend * w[k, e + 1]


@compiled
def _cholesky(matrix):  # type: ignore[no-untyped-def]
    """Lower factor of a matrix of unit diagonal, with a ridge as small as will do."""
    size, ridge = len(matrix), 1e-15
    factor = matrix
    while True:
        shifted = matrix.copy()
        for i in range(size):
            shifted[i, i] += ridge
        done = True
        try:
            factor = np.linalg.cholesky(shifted)
        except Exception:
            done = False
        if done:
            break
        ridge *= 100
    return factor


@compiled
def _substitute(factor, rhs):  # type: ignore[no-untyped-def]
    x = rhs.copy()
    for i in range(len(x)):
        x[i] = (x[i] - np.dot(factor[i, :i], x[:i])) / factor[i, i]
    for i in range(len(x) - 1, -1, -1):
        x[i] /= factor[i, i]
        for j in range(i):
            x[j] -= x[i] * factor[i, j]
    return x


@compiled
def _solve(matrix, factor, scale, rhs):  # type: ignore[no-untyped-def]
    """Solution, refined as long as that halves the residual."""
    scaled = rhs * scale
    solution = _substitute(factor, scaled)
    enough = REFINED * np.abs(scaled).max()
    error = np.inf
    for _ in range(MAX_REFINEMENTS):
        residual = scaled - np.dot(matrix, solution)
        previous, error = error, np.abs(residual).max()
        if error <= enough or not error < previous / 2:
            break
        solution += _substitute(factor, residual)
    return solution * scale


@compiled
def _cone_rhs(goal, slack, w, size, scaled, signs):  # type: ignore[no-untyped-def]
    """What the norm's goal puts on (M, lam)."""
    if len(signs) == 0:
        return _box_rhs(goal, slack)
    target = _scaled(_quotient(goal[0], scaled), w, 1 / size, -1.0)
    return np.dot(signs.T, np.ascontiguousarray(target[:, 1:])), target[:, 0].sum()


@compiled
def _cone_step(goal, slack, mult, w, size, scaled, signs, d_coef, d_lam):  # type: ignore[no-untyped-def]
    if len(signs) == 0:
        return _box_step(goal, slack, mult, d_coef, d_lam)
    target = _scaled(_quotient(goal[0], scaled), w, 1 / size, -1.0)
    d_slack = np.empty_like(slack)
    d_slack[0, :, 0] = d_lam
    d_slack[0, :, 1:] = np.dot(signs, d_coef)
    relaxed = _scaled(_scaled(d_slack[0], w, 1 / size, -1.0), w, 1 / size, -1.0)
    d_mult = np.empty_like(mult)
    d_mult[0] = target - mult[0] - relaxed
    return d_slack, d_mult


@compiled
def _cone_lengths(slack, mult, d_slack, d_mult, signs):  # type: ignore[no-untyped-def]
    if len(signs) == 0:
        return longest_step(slack, d_slack), longest_step(mult, d_mult)
    return _longest(slack[0], d_slack[0]), _longest(mult[0], d_mult[0])


@compiled
def _cone_goal(centre, d_slack, d_mult, mult, w, size, signs):  # type: ignore[no-untyped-def]
    """The centre everywhere, less the second-order term of a predicted step."""
    if len(signs) == 0:
        return _second_order_goal(centre, d_slack, d_mult, mult)
    goal = np.zeros(mult.shape)
    goal[0, :, 0] = centre
    over = _scaled(d_slack[0], w, 1 / size, -1.0)
    goal[0] -= _product(over, _scaled(d_mult[0], w, size, 1.0))
    return goal


@compiled
def iterate(  # type: ignore[no-untyped-def]
    X, y, kappa, weight, radius, linear, signs, fixes_gauge, degree, settings,
    coef, lam, s, h, slack, mult, c_slack, c_mult,
):  # fmt: skip
    """A predictor-corrector step with one centrality corrector.

    Returns the new (coef, lam, s, h, slack, mult, c_slack, c_mult) and both lengths.
    """
    step_share, longer = settings
    n_classes, n_columns = coef.shape
    is_box = len(signs) == 0
    n_touchable = c_slack.shape[2] - (0 if is_box else 1)
    spring = _quotients(mult, slack)
    curvature, sums = eliminate(spring, kappa, y)
    matrix = weighted_gram(curvature, X)
    w, size = np.empty((1, 1)), np.empty(1)
    scaled = w
    if is_box:
        _add_box(matrix, c_slack, c_mult, n_columns)
    else:
        w, size = _scaling_point(c_slack[0], c_mult[0])
        scaled = _scaled(c_mult[0], w, size, 1.0)
        _add_cones(matrix, w, size, signs, n_columns)
    fix_gauge(matrix, n_classes, n_columns, n_touchable if fixes_gauge else 0)
    scale = _to_unit_diagonal(matrix)
    factor = _cholesky(matrix)

    now = _dot(slack, mult) + _dot(c_slack, c_mult)
    goal, c_goal = np.zeros(mult.shape), np.zeros(c_mult.shape)
    d_coef, d_lam, d_s, d_h, d_slack, d_mult, dc_slack, dc_mult, primal, dual = _direct(
        X, y, kappa, weight, radius, linear, signs, coef, slack, mult, c_slack, c_mult,
        spring, sums, matrix, factor, scale, w, size, scaled, goal, c_goal,
    )  # fmt: skip
    p, q = min(1.0, primal), min(1.0, dual)
    reached = _dot_after(slack, mult, d_slack, d_mult, p, q)
    reached += _dot_after(c_slack, c_mult, dc_slack, dc_mult, p, q)
    centre = min(reached / now, 1.0) ** 3 * now / degree
    goal = _second_order_goal(centre, d_slack, d_mult, mult)
    c_goal = _cone_goal(centre, dc_slack, dc_mult, c_mult, w, size, signs)
    d_coef, d_lam, d_s, d_h, d_slack, d_mult, dc_slack, dc_mult, primal, dual = _direct(
        X, y, kappa, weight, radius, linear, signs, coef, slack, mult, c_slack, c_mult,
        spring, sums, matrix, factor, scale, w, size, scaled, goal, c_goal,
    )  # fmt: skip
    reach = min(1.0, primal) + min(1.0, dual)
    if reach < 2.0:
        p = min(1.0, (1 + longer) * (primal + longer))
        q = min(1.0, (1 + longer) * (dual + longer))
        goal = _pulled_goal(goal, slack, mult, d_slack, d_mult, centre, p, q)
        if is_box:
            c_goal = _pulled_goal(c_goal, c_slack, c_mult, dc_slack, dc_mult, centre, p, q)
        trial = _direct(
            X, y, kappa, weight, radius, linear, signs, coef, slack, mult, c_slack, c_mult,
            spring, sums, matrix, factor, scale, w, size, scaled, goal, c_goal,
        )  # fmt: skip
        if min(1.0, trial[8]) + min(1.0, trial[9]) >= reach + longer / 8:
            d_coef, d_lam, d_s, d_h, d_slack, d_mult, dc_slack, dc_mult, primal, dual = (
                trial
            )
    p, q = min(1.0, step_share * primal), min(1.0, step_share * dual)
    return (
        coef + p * d_coef, lam + p * d_lam, s + p * d_s, h + p * d_h,
        _moved(slack, d_slack, p), _moved(mult, d_mult, q),
        _moved(c_slack, dc_slack, p), _moved(c_mult, dc_mult, q), p, q,
    )  # fmt: skip


@compiled
def _direct(  # type: ignore[no-untyped-def]
    X, y, kappa, weight, radius, linear, signs, coef, slack, mult, c_slack, c_mult,
    spring, sums, matrix, factor, scale, w, size, scaled, goal, c_goal,
):  # fmt: skip
    """The Newton direction towards the goals, and how far it can go."""
    n_classes, n_columns = coef.shape
    n_touchable = c_slack.shape[2] - (0 if len(signs) == 0 else 1)
    target = _quotients(goal, slack)
    rhs, rhs_lam, local = reduced_rhs(target, spring, sums, kappa, y, weight)
    cone_rhs, cone_lam = _cone_rhs(c_goal, c_slack, w, size, scaled, signs)
    on_coef = np.dot(rhs.T, X) - linear
    whole = np.empty(n_classes * n_columns + 1)
    for j in range(n_classes):
        for d in range(n_columns):
            pull = cone_rhs[j, d] if d < n_touchable else 0.0
            whole[j * n_columns + d] = on_coef[j, d] + pull
    whole[-1] = rhs_lam + cone_lam - radius
    solution = _solve(matrix, factor, scale, whole)
    d_coef = solution[:-1].copy().reshape(n_classes, n_columns)
    d_lam = solution[-1]
    dz = np.dot(X, d_coef.T)
    d_slack, d_mult, d_s, d_h = step_rows(
        dz, d_lam, local, target, slack, mult, spring, sums, kappa, y
    )
    moved = np.ascontiguousarray(d_coef[:, :n_touchable])
    dc_slack, dc_mult = _cone_step(
        c_goal, c_slack, c_mult, w, size, scaled, signs, moved, d_lam
    )
    primal, dual = _cone_lengths(c_slack, c_mult, dc_slack, dc_mult, signs)
    primal = min(primal, longest_step(slack, d_slack))
    dual = min(dual, longest_step(mult, d_mult))
    return d_coef, d_lam, d_s, d_h, d_slack, d_mult, dc_slack, dc_mult, primal, dual
