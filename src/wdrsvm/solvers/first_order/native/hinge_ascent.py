r"""Dual coordinate ascent for hinge losses: the multipliers of one row at a time.

Row n has masses alpha_j (true label), phi_c and beta_j (flip to c, won by j), see
``problem.certificate``.  Given its scores z and the price lam, the values of a unit of mass
are

    label_j = z_j + [j != y] - z_y,    winner_j = z_j,    flip_c = 1 - z_c - lam k_c,

and winner_j + flip_c for a flipped unit.  A unit that moves along a direction v of classes
changes the scores by -(q A + r I) v.  A (C, C) is the metric of the norm, q and r are the
row's curvatures.  The move with the largest gain is made until its gain is zero, then the
next move, until no move gains more than ``tol``.
"""

from __future__ import annotations

import cython

from wdrsvm.solvers.first_order.settings import FIRST_ORDER

from ...runtime.kernel_names import (
    Codes,
    Count,
    Flag,
    ReadEitherTable,
    ReadTable,
    Real,
    Table,
    Vector,
    inner,
    kernel,
)
from .records import Price, RowWork, Samples

LOWEST_SHARE = cython.declare(Real, FIRST_ORDER.lowest_price_share)
MAX_MOVES = cython.declare(Count, FIRST_ORDER.max_moves)
INFINITE = cython.declare(Real, float("inf"))
# The moves of mass: within labels, winners or flips, and between labels and flips.
STAY = cython.declare(Count, 0)
LABEL = cython.declare(Count, 1)
WINNER = cython.declare(Count, 2)
FLIP = cython.declare(Count, 3)
TURN = cython.declare(Count, 4)
RETURN = cython.declare(Count, 5)


@inner
def bounded(lam: Real, price: Price) -> Real:
    """lam, or the lowest price that one epoch allows."""
    lowest: Real = LOWEST_SHARE * price.centre
    return lam if lam > lowest else lowest


@inner
def spend(amount: Real, price: Price) -> None:
    price.spent += amount
    price.lam = bounded(price.lam + price.response * amount, price)


@inner
def clear(vector: Vector) -> None:
    j: Count
    for j in range(vector.shape[0]):
        vector[j] = 0.0


@inner
def moving_mass(
    metric: ReadEitherTable,
    up: Count,
    down: Count,
    q: Real,
    r: Real,
    mass: Real,
    gain: Real,
) -> Real:
    """How much of the mass of one class moves up to another: what is best, if not all."""
    stiffness: Real = metric[up, up] - metric[up, down]
    stiffness += metric[down, down] - metric[down, up]
    stiffness = q * stiffness + 2 * r
    return gain / stiffness if stiffness * mass > gain else mass


@kernel
def settle_labels(
    samples: Samples,
    n: Count,
    metric: ReadTable,
    tol: Real,
    alpha: Table,
    scores: Vector,
    change: Vector,
) -> Flag:
    """Settle a row without flips: its mass moves between labels only.

    ``change`` receives the change of the slopes g.  Returns whether there is one.
    """
    move: Count
    j: Count
    best: Count
    worst: Count
    top: Real
    bottom: Real
    value: Real
    step: Real
    q: Real = samples.touch_curvature[n]
    r: Real = samples.free_curvature[n]
    y: Count = samples.y[n]
    clear(change)
    for move in range(MAX_MOVES):
        best = worst = 0
        top = -INFINITE
        bottom = INFINITE
        for j in range(scores.shape[0]):
            value = scores[j] + (1.0 if j != y else 0.0)
            if value > top:
                top = value
                best = j
            if alpha[n, j] > 0 and value < bottom:
                bottom = value
                worst = j
        if not top - bottom > tol:
            return move > 0
        step = moving_mass(metric, best, worst, q, r, alpha[n, worst], top - bottom)
        alpha[n, worst] -= step
        alpha[n, best] += step
        change[worst] -= step
        change[best] += step
        for j in range(scores.shape[0]):
            scores[j] -= q * step * (metric[best, j] - metric[worst, j])
        scores[worst] += r * step
        scores[best] -= r * step
    return True


@inner
def _place(values: Vector, mass: Table, n: Count, places: Codes, at: Count) -> None:
    """The best place, and the worst that holds mass (-1 if none does)."""
    j: Count
    best: Count = 0
    worst: Count = -1
    for j in range(values.shape[0]):
        if values[j] > values[best]:
            best = j
        if mass[n, j] > 0 and (worst < 0 or values[j] < values[worst]):
            worst = j
    places[at] = best
    places[at + 1] = worst


@inner
def _best_move(work: RowWork, y: Count, tol: Real) -> Count:
    """The move with the largest gain, which ``gain`` receives."""
    kind: Count = STAY
    gain: Real = tol
    now: Real
    own: Real = work.scores[y]
    best_label: Real = work.label[work.places[0]]
    best_flipped: Real = work.scores[work.places[2]] + work.flip[work.places[4]]
    worst: Real
    if work.places[1] >= 0:
        worst = work.label[work.places[1]]
        now = best_label - worst
        if now > gain:
            kind = LABEL
            gain = now
        now = best_flipped - worst + own
        if now > gain:
            kind = TURN
            gain = now
    if work.places[3] >= 0 and work.places[5] >= 0:
        now = work.scores[work.places[2]] - work.scores[work.places[3]]
        if now > gain:
            kind = WINNER
            gain = now
        now = work.flip[work.places[4]] - work.flip[work.places[5]]
        if now > gain:
            kind = FLIP
            gain = now
        worst = work.scores[work.places[3]] + work.flip[work.places[5]]
        now = best_label - own - worst
        if now > gain:
            kind = RETURN
            gain = now
    work.gain = gain
    return kind


@inner
def _set_ends(work: RowWork, up: Count, down: Count, up2: Count, down2: Count) -> None:
    work.ends[0] = up
    work.ends[1] = down
    work.ends[2] = up2
    work.ends[3] = down2


@inner
def _direct(kind: Count, samples: Samples, n: Count, work: RowWork) -> None:
    """The ends of a move, its cost per unit, and the mass that can move."""
    y: Count = samples.y[n]
    b1: Count = work.places[0]
    b0: Count = work.places[1]
    i1: Count = work.places[2]
    i0: Count = work.places[3]
    c1: Count = work.places[4]
    c0: Count = work.places[5]
    work.unit_cost = 0.0
    if kind == LABEL:
        _set_ends(work, b1, b0, 0, 0)
        work.mass = samples.alpha[n, b0]
    elif kind == WINNER:
        _set_ends(work, i1, i0, 0, 0)
        work.mass = samples.beta[n, i0]
    elif kind == FLIP:
        _set_ends(work, c0, c1, 0, 0)
        work.unit_cost = samples.cost[n, c1] - samples.cost[n, c0]
        work.mass = samples.phi[n, c0]
    elif kind == TURN:
        _set_ends(work, i1, c1, y, b0)
        work.unit_cost = samples.cost[n, c1]
        work.mass = samples.alpha[n, b0]
    else:
        _set_ends(work, b1, y, c0, i0)
        work.unit_cost = -samples.cost[n, c0]
        work.mass = samples.phi[n, c0]
        if samples.beta[n, i0] < work.mass:
            work.mass = samples.beta[n, i0]


@inner
def _commit(kind: Count, samples: Samples, n: Count, step: Real, places: Codes) -> None:
    """Move the mass."""
    if kind == LABEL or kind == TURN:
        samples.alpha[n, places[1]] -= step
    if kind == LABEL or kind == RETURN:
        samples.alpha[n, places[0]] += step
    if kind == WINNER or kind == RETURN:
        samples.beta[n, places[3]] -= step
    if kind == WINNER or kind == TURN:
        samples.beta[n, places[2]] += step
    if kind == FLIP or kind == RETURN:
        samples.phi[n, places[5]] -= step
    if kind == FLIP or kind == TURN:
        samples.phi[n, places[4]] += step


@inner
def _shift(ends: Codes, step: Real, change: Vector) -> None:
    """change += step v, for the direction v with the given ends."""
    change[ends[0]] += step
    change[ends[1]] -= step
    change[ends[2]] += step
    change[ends[3]] -= step


@inner
def _stiffness(ends: Codes, q: Real, metric: ReadTable, r: Real, fall: Vector) -> Real:
    """v' (q A + r I) v; ``fall`` receives (q A + r I) v."""
    j: Count
    up: Count = ends[0]
    down: Count = ends[1]
    up2: Count = ends[2]
    down2: Count = ends[3]
    for j in range(fall.shape[0]):
        fall[j] = q * (metric[up, j] - metric[down, j] + metric[up2, j] - metric[down2, j])
    _shift(ends, r, fall)
    return fall[up] - fall[down] + fall[up2] - fall[down2]


@inner
def _value_places(samples: Samples, n: Count, price: Price, work: RowWork) -> None:
    """The values of labels and flips, and the places of the largest and the least."""
    j: Count
    cost: Real
    for j in range(work.scores.shape[0]):
        work.label[j] = work.scores[j] + (1.0 if j != samples.y[n] else 0.0)
        cost = samples.cost[n, j]
        if cost < INFINITE:
            cost = price.lam * cost
        work.flip[j] = 1.0 - work.scores[j] - cost
    _place(work.label, samples.alpha, n, work.places, 0)
    _place(work.scores, samples.beta, n, work.places, 2)
    _place(work.flip, samples.phi, n, work.places, 4)


@kernel
def settle_flips(
    samples: Samples, n: Count, price: Price, metric: ReadTable, tol: Real, work: RowWork
) -> Flag:
    """Settle a row whose label can be flipped; the price changes with the spending.

    ``change`` receives the change of the slopes g.  Returns whether there is one.
    """
    move: Count
    j: Count
    kind: Count
    stiffness: Real
    step: Real
    q: Real = samples.touch_curvature[n]
    r: Real = samples.free_curvature[n]
    clear(work.change)
    for move in range(MAX_MOVES):
        _value_places(samples, n, price, work)
        kind = _best_move(work, samples.y[n], tol)
        if kind == STAY:
            return move > 0
        _direct(kind, samples, n, work)
        stiffness = _stiffness(work.ends, q, metric, r, work.fall)
        stiffness += price.response * work.unit_cost * work.unit_cost
        step = work.mass
        if stiffness * step > work.gain:
            step = work.gain / stiffness
        _commit(kind, samples, n, step, work.places)
        spend(step * work.unit_cost, price)
        _shift(work.ends, step, work.change)
        for j in range(work.scores.shape[0]):
            work.scores[j] -= step * work.fall[j]
    return True
