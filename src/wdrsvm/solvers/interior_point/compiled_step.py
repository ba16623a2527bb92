r"""One iteration of the interior point in one compiled call, for boxes and l2 cones.

On small problems most of an iteration is the cost of calling its many small steps from
Python.  Here they call each other.  The algebra is that of ``sample_rows``, ``norm_cones``
and ``second_order``; the order of the steps is that of ``primal_dual``.

The norm's slacks and multipliers are (2, C, T) for a box, (1, K, 1 + T) for cones;
``signs`` (K, C) are the combinations of the classes' coefficients in the cones, and empty
for a box.

The first fit of all waits for this to be compiled.  Functions that are called once are
therefore inlined, and arrays are filled by loops: an assignment to a slice brings along the
text of its error message, seconds of compiling.
"""

from __future__ import annotations

import numpy as np

from ..cones.complementarity import _pulled_goal, _second_order_goal
from ..cones.normal_system import cholesky, fix_gauge, solve, to_unit_diagonal
from ..cones.polyhedral import _box_rhs, _box_step, add_box_curvature
from ..cones.sample_rows import (
    compiled,
    eliminate,
    inlined,
    longest_step,
    reduced_rhs,
    step_rows,
    weighted_gram,
)
from ..cones.second_order import (
    _longest,
    _scaled,
    _scaling_point,
    add_cone_curvature,
    cone_goal,
    cone_rhs,
    cone_step,
)


@compiled
def _quotients(above, below):  # type: ignore[no-untyped-def]
    out = np.empty(above.shape)
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
    out = np.empty(value.shape)
    flat, a, b = out.ravel(), value.ravel(), change.ravel()
    for i in range(len(flat)):
        flat[i] = a[i] + length * b[i]
    return out


@inlined
def _normal_matrix(X, y, kappa, signs, fixes_gauge, shape, spring, c_slack, c_mult):  # type: ignore[no-untyped-def]
    """The normal matrix, what elimination leaves, and the frame (w, b, W y) of cones."""
    n_classes, n_columns = shape
    n_touchable = c_slack.shape[2]
    curvature, sums = eliminate(spring, kappa, y)
    matrix = weighted_gram(curvature, X)
    w, size = np.empty((1, 1)), np.empty(1)
    scaled = w
    if len(signs) == 0:
        add_box_curvature(matrix, c_slack, c_mult, n_columns)
    else:
        n_touchable -= 1
        w, size = _scaling_point(c_slack[0], c_mult[0])
        scaled = _scaled(c_mult[0], w, size, 1.0)
        add_cone_curvature(matrix, w, size, signs, n_columns)
    fix_gauge(matrix, n_classes, n_columns, n_touchable if fixes_gauge else 0)
    return matrix, sums, (w, size, scaled)


@inlined
def _cone_rhs(goal, slack, frame, signs):  # type: ignore[no-untyped-def]
    if len(signs) == 0:
        return _box_rhs(goal, slack)
    w, size, scaled = frame
    return cone_rhs(goal[0], w, size, scaled, signs)


@inlined
def _cone_step(goal, slack, mult, frame, signs, d_coef, d_lam):  # type: ignore[no-untyped-def]
    if len(signs) == 0:
        return _box_step(goal, slack, mult, d_coef, d_lam)
    w, size, scaled = frame
    d_slack, d_mult = cone_step(goal[0], mult[0], w, size, scaled, signs, d_coef, d_lam)
    return d_slack.reshape(slack.shape), d_mult.reshape(mult.shape)


@inlined
def _cone_lengths(slack, mult, d_slack, d_mult, signs):  # type: ignore[no-untyped-def]
    if len(signs) == 0:
        return longest_step(slack, d_slack), longest_step(mult, d_mult)
    return _longest(slack[0], d_slack[0]), _longest(mult[0], d_mult[0])


@inlined
def _cone_goal(centre, d_slack, d_mult, mult, frame, signs):  # type: ignore[no-untyped-def]
    if len(signs) == 0:
        return _second_order_goal(centre, d_slack, d_mult, mult)
    goal = cone_goal(centre, d_slack[0], d_mult[0], frame[0], frame[1])
    return goal.reshape(mult.shape)


@compiled
def iterate(  # type: ignore[no-untyped-def]
    X, y, kappa, weight, radius, linear, signs, fixes_gauge, degree, settings,
    coef, lam, s, h, slack, mult, c_slack, c_mult,
):  # fmt: skip
    """A predictor-corrector step with one centrality corrector.

    Returns the new (coef, lam, s, h, slack, mult, c_slack, c_mult) and both lengths.
    """
    step_share, longer = settings
    is_box = len(signs) == 0
    spring = _quotients(mult, slack)
    matrix, sums, frame = _normal_matrix(
        X, y, kappa, signs, fixes_gauge, coef.shape, spring, c_slack, c_mult
    )
    scale = to_unit_diagonal(matrix)
    system = matrix, cholesky(matrix), scale
    data = X, y, kappa, weight, radius, linear, signs
    point = slack, mult, c_slack, c_mult, spring, sums, frame

    now = _dot(slack, mult) + _dot(c_slack, c_mult)
    goal, c_goal = np.zeros(mult.shape), np.zeros(c_mult.shape)
    centre, reach = 0.0, 0.0
    # A prediction, its correction, and one towards the centre if that leads farther.  One
    # call in a loop: three would be compiled three times.
    for attempt in range(3):
        trial = _direct(data, point, system, (goal, c_goal))
        capped = min(1.0, trial[2][0]) + min(1.0, trial[2][1])
        if attempt == 2 and not capped >= reach + longer / 8:
            break
        local, steps, lengths = trial
        d_slack, d_mult, dc_slack, dc_mult = steps
        reach = capped
        if attempt == 0:
            p, q = min(1.0, lengths[0]), min(1.0, lengths[1])
            reached = _dot_after(slack, mult, d_slack, d_mult, p, q)
            reached += _dot_after(c_slack, c_mult, dc_slack, dc_mult, p, q)
            centre = min(reached / now, 1.0) ** 3 * now / degree
            goal = _second_order_goal(centre, d_slack, d_mult, mult)
            c_goal = _cone_goal(centre, dc_slack, dc_mult, c_mult, frame, signs)
        elif attempt == 1 and reach < 2.0:
            p = min(1.0, (1 + longer) * (lengths[0] + longer))
            q = min(1.0, (1 + longer) * (lengths[1] + longer))
            goal = _pulled_goal(goal, slack, mult, d_slack, d_mult, centre, p, q)
            if is_box:
                c_goal = _pulled_goal(
                    c_goal, c_slack, c_mult, dc_slack, dc_mult, centre, p, q
                )  # fmt: skip
        else:
            break
    d_coef, d_lam, d_s, d_h = local
    p, q = min(1.0, step_share * lengths[0]), min(1.0, step_share * lengths[1])
    return (
        _moved(coef, d_coef, p), lam + p * d_lam, _moved(s, d_s, p), _moved(h, d_h, p),
        _moved(slack, d_slack, p), _moved(mult, d_mult, q),
        _moved(c_slack, dc_slack, p), _moved(c_mult, dc_mult, q), p, q,
    )  # fmt: skip


@inlined
def _direct(data, point, system, goals):  # type: ignore[no-untyped-def]
    """The Newton direction towards the goals: the steps of (coef, lam, s, h), of slacks
    and multipliers, and how far they can go."""
    X, y, kappa, weight, radius, linear, signs = data
    slack, mult, c_slack, c_mult, spring, sums, frame = point
    matrix, factor, scale = system
    goal, c_goal = goals
    n_classes, n_columns = linear.shape
    n_touchable = c_slack.shape[2] - (0 if len(signs) == 0 else 1)
    target = _quotients(goal, slack)
    rhs, rhs_lam, local = reduced_rhs(target, spring, sums, kappa, y, weight)
    on_cone, cone_lam = _cone_rhs(c_goal, c_slack, frame, signs)
    on_coef = np.dot(rhs.T, X)
    whole = np.empty(n_classes * n_columns + 1)
    for i in range(n_classes):
        for d in range(n_columns):
            pull = on_cone[i, d] if d < n_touchable else 0.0
            whole[i * n_columns + d] = on_coef[i, d] - linear[i, d] + pull
    whole[-1] = rhs_lam + cone_lam - radius
    solution = solve(matrix, factor, scale, whole)
    d_coef, d_lam = solution[:-1].copy().reshape(n_classes, n_columns), solution[-1]
    d_slack, d_mult, d_s, d_h = step_rows(
        np.dot(X, d_coef.T), d_lam, local, target, slack, mult, spring, sums, kappa, y
    )
    moved = np.ascontiguousarray(d_coef[:, :n_touchable])
    dc_slack, dc_mult = _cone_step(c_goal, c_slack, c_mult, frame, signs, moved, d_lam)
    primal, dual = _cone_lengths(c_slack, c_mult, dc_slack, dc_mult, signs)
    primal = min(primal, longest_step(slack, d_slack))
    dual = min(dual, longest_step(mult, d_mult))
    steps = d_slack, d_mult, dc_slack, dc_mult
    return (d_coef, d_lam, d_s, d_h), steps, (primal, dual)
