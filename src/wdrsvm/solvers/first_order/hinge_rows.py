r"""The rows of the first-order method: one sample's multipliers at a time, compiled.

Row n holds masses alpha_j (true label), phi_c and beta_j (flip to c, won by j), see
``problem.certificate``.  Given its scores z and the price lam, a unit of mass is worth

    label_j = z_j + [j != y]  (less z_y),    winner_j = z_j,    flip_c = 1 - z_c - lam k_c

and a flipped unit is worth winner_j + flip_c.  Moving mass along a direction v of
classes changes the scores by -(q A + r I) v a unit: A (C, C) is the metric of the norm,
q and r are the row's curvatures.  The best pair of places is balanced exactly, then the
next, until no move gains more than ``tol``.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from ...arrays import Codes, Floats
from ..compiling import cached_njit

_OPTIONS: dict[str, Any] = {
    "nogil": True,
    "error_model": "numpy",
    # Infinities stand for what cannot be, so they must keep their meaning.
    "fastmath": {"reassoc", "contract", "arcp", "nsz"},
}
compiled: Any = cached_njit(**_OPTIONS)
# For what kernels call: code from the cache would not be inlined into new kernels.
helper: Any = njit(**_OPTIONS)

# Places in the record of the price lam, which the kernels read and write, and of the loss.
LAM, SPENT, PRESSURE, CENTRE, STEP, RADIUS, RESPONSE, TEMPERATURE, MARGIN = range(9)
# A price falls at most to this share of its centre before the centre is moved.
LOWEST_SHARE = 0.1
# A row that is not settled by then is visited again in the next epoch.
MAX_MOVES = 40
# The moves of mass: within labels, winners or flips, and between labels and flips.
STAY, LABEL, WINNER, FLIP, TURN, RETURN = range(6)


class Design(NamedTuple):
    """A CSR matrix as the kernels see it.

    A dense one has no ``indices``: its rows have all columns in their order, and tables
    that it is multiplied with keep each class's column together.
    """

    indptr: NDArray[np.integer[Any]]
    indices: NDArray[np.integer[Any]]
    data: Floats


class Rows(NamedTuple):
    """All samples: touchable and free columns, labels, weights, flip costs (N or 0, C),
    and the curvatures q and r of each row (N,)."""

    touch: Design
    free: Design
    y: Codes
    weight: Floats
    cost: Floats
    touch_curvature: Floats
    free_curvature: Floats


class Duals(NamedTuple):
    """alpha (N, C); phi and beta (N, C), or (0, C) if no label can be flipped.

    Of a smooth loss: the points u, the labels' masses Q and the slopes g, all (N, C)."""

    alpha: Floats
    phi: Floats
    beta: Floats


class FreeTable(NamedTuple):
    """Coefficients (E, C) of the columns outside the norm, and their prox steps (E,)."""

    coef: Floats
    steps: Floats


@helper
def add_product(design, n, table, out):  # type: ignore[no-untyped-def]
    """out += row n of the design times the table."""
    if len(design.indices) == 0:
        x = design.data[design.indptr[n] : design.indptr[n + 1]]
        for c in range(len(out)):
            total = 0.0
            for d in range(len(x)):
                total += x[d] * table[d, c]
            out[c] += total
        return
    for k in range(design.indptr[n], design.indptr[n + 1]):
        x = design.data[k]
        line = table[design.indices[k]]
        for c in range(len(out)):
            out[c] += x * line[c]


@helper
def add_outer(design, n, table, change):  # type: ignore[no-untyped-def]
    """table += (row n of the design) change'."""
    if len(design.indices) == 0:
        x = design.data[design.indptr[n] : design.indptr[n + 1]]
        for c in range(len(change)):
            for d in range(len(x)):
                table[d, c] += x[d] * change[c]
        return
    for k in range(design.indptr[n], design.indptr[n + 1]):
        x = design.data[k]
        line = table[design.indices[k]]
        for c in range(len(change)):
            line[c] += x * change[c]


@helper
def descend(design, n, table, steps, change):  # type: ignore[no-untyped-def]
    """table -= steps * (row n of the design) change'."""
    for k in range(design.indptr[n], design.indptr[n + 1]):
        column = design.indices[k]
        x = steps[column] * design.data[k]
        line = table[column]
        for c in range(len(change)):
            line[c] -= x * change[c]


@helper
def bounded(lam, price):  # type: ignore[no-untyped-def]
    """lam, kept from falling too far at a time."""
    return max(lam, LOWEST_SHARE * price[CENTRE])


@helper
def settle_labels(alpha, scores, y, q, metric, r, tol, change):  # type: ignore[no-untyped-def]
    """Balance a row without flips: its mass moves between labels only.

    ``change`` receives the move of the slopes g.  Whether there was one.
    """
    n_classes = len(scores)
    change[:] = 0.0
    for move in range(MAX_MOVES):
        best, worst, top, bottom = 0, 0, -np.inf, np.inf
        for j in range(n_classes):
            value = scores[j] + (1.0 if j != y else 0.0)
            if value > top:
                top, best = value, j
            if alpha[j] > 0 and value < bottom:
                bottom, worst = value, j
        if not top - bottom > tol:
            return move > 0
        up, down = metric[best], metric[worst]
        stiffness = q * (up[best] - up[worst] - down[best] + down[worst]) + 2 * r
        step = alpha[worst]
        if stiffness * step > top - bottom:
            step = (top - bottom) / stiffness
        alpha[worst] -= step
        alpha[best] += step
        change[worst] -= step
        change[best] += step
        for j in range(n_classes):
            scores[j] -= q * step * (up[j] - down[j])
        scores[worst] += r * step
        scores[best] -= r * step
    return True


@helper
def _extremes(values, mass):  # type: ignore[no-untyped-def]
    """The best place, and the worst that holds mass (-1 if none does)."""
    best, worst = 0, -1
    for j in range(len(values)):
        if values[j] > values[best]:
            best = j
        if mass[j] > 0 and (worst < 0 or values[j] < values[worst]):
            worst = j
    return best, worst


@helper
def _best_move(label, winner, flip, places, y, tol):  # type: ignore[no-untyped-def]
    """The move that gains most, and its gain.

    ``places`` are the best and worst of labels, winners and flips, in that order.
    """
    b1, b0, i1, i0, c1, c0 = places
    kind, gain = STAY, tol
    own = winner[y]
    flipped = i0 >= 0 and c0 >= 0
    if b0 >= 0 and label[b1] - label[b0] > gain:
        kind, gain = LABEL, label[b1] - label[b0]
    if b0 >= 0 and winner[i1] + flip[c1] - label[b0] + own > gain:
        kind, gain = TURN, winner[i1] + flip[c1] - label[b0] + own
    if flipped and winner[i1] - winner[i0] > gain:
        kind, gain = WINNER, winner[i1] - winner[i0]
    if flipped and flip[c1] - flip[c0] > gain:
        kind, gain = FLIP, flip[c1] - flip[c0]
    if flipped and label[b1] - own - winner[i0] - flip[c0] > gain:
        kind, gain = RETURN, label[b1] - own - winner[i0] - flip[c0]
    return kind, gain


@helper
def _direction(kind, places, y, alpha, phi, beta, cost):  # type: ignore[no-untyped-def]
    """Slopes that rise and fall with a move, its price a unit, and the mass there is."""
    b1, b0, i1, i0, c1, c0 = places
    if kind == LABEL:
        return (b1, b0, 0, 0), 0.0, alpha[b0]
    if kind == WINNER:
        return (i1, i0, 0, 0), 0.0, beta[i0]
    if kind == FLIP:
        return (c0, c1, 0, 0), cost[c1] - cost[c0], phi[c0]
    if kind == TURN:
        return (i1, c1, y, b0), cost[c1], alpha[b0]
    return (b1, y, c0, i0), -cost[c0], min(phi[c0], beta[i0])


@helper
def _commit(kind, places, step, alpha, phi, beta):  # type: ignore[no-untyped-def]
    """Move the mass."""
    b1, b0, i1, i0, c1, c0 = places
    if kind == LABEL or kind == TURN:
        alpha[b0] -= step
    if kind == LABEL or kind == RETURN:
        alpha[b1] += step
    if kind == WINNER or kind == RETURN:
        beta[i0] -= step
    if kind == WINNER or kind == TURN:
        beta[i1] += step
    if kind == FLIP or kind == RETURN:
        phi[c0] -= step
    if kind == FLIP or kind == TURN:
        phi[c1] += step


@helper
def settle_flips(  # type: ignore[no-untyped-def]
    alpha, phi, beta, cost, scores, y, price, q, metric, r, tol, change
):
    """Balance a row whose label can be flipped; the price follows what is spent.

    ``change`` receives the move of the slopes g.  Whether there was one.
    """
    n_classes = len(scores)
    label, flip = np.empty(n_classes), np.empty(n_classes)
    fall = np.empty(n_classes)
    change[:] = 0.0
    for move in range(MAX_MOVES):
        for j in range(n_classes):
            label[j] = scores[j] + (1.0 if j != y else 0.0)
            priced = price[LAM] * cost[j] if cost[j] < np.inf else np.inf
            flip[j] = 1.0 - scores[j] - priced
        b1, b0 = _extremes(label, alpha)
        i1, i0 = _extremes(scores, beta)
        c1, c0 = _extremes(flip, phi)
        places = (b1, b0, i1, i0, c1, c0)
        kind, gain = _best_move(label, scores, flip, places, y, tol)
        if kind == STAY:
            return move > 0
        ends, unit_cost, mass = _direction(kind, places, y, alpha, phi, beta, cost)
        stiffness = _stiffness(ends, q, metric, r, fall)
        stiffness += price[RESPONSE] * unit_cost * unit_cost
        step = mass if stiffness * mass <= gain else gain / stiffness
        _commit(kind, places, step, alpha, phi, beta)
        spend(step * unit_cost, price)
        _shift(ends, step, change)
        for j in range(n_classes):
            scores[j] -= step * fall[j]
    return True


@helper
def spend(amount, price):  # type: ignore[no-untyped-def]
    price[SPENT] += amount
    price[LAM] = bounded(price[LAM] + price[RESPONSE] * amount, price)


@helper
def _shift(ends, step, change):  # type: ignore[no-untyped-def]
    """change += step v, for the direction v with the given ends."""
    change[ends[0]] += step
    change[ends[1]] -= step
    change[ends[2]] += step
    change[ends[3]] -= step


@helper
def _stiffness(ends, q, metric, r, fall):  # type: ignore[no-untyped-def]
    """v' (q A + r I) v; ``fall`` receives (q A + r I) v."""
    up, down = metric[ends[0]], metric[ends[1]]
    up2, down2 = metric[ends[2]], metric[ends[3]]
    for j in range(len(fall)):
        fall[j] = q * (up[j] - down[j] + up2[j] - down2[j])
    _shift(ends, r, fall)
    return fall[ends[0]] - fall[ends[1]] + fall[ends[2]] - fall[ends[3]]
