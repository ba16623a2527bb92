r"""The gain of every pair of classes as a linear function of the row.

At a given lam, with l1 transport or without finite ends, all rows of a pair (winner j,
label c) move in the same way: features whose slope pays more than lam go to their end,
and categories that pay more than lam their cost are left.  Therefore gain and cost are

    gain_k(x) = gain_slope_k . (x - centre) + gain_offset_k

and the same for the cost.  Rows are visited in blocks; a block needs two matrix products.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ...arrays import Codes, Floats

if TYPE_CHECKING:
    from ..problem import RobustProblem
    from .worst_case import BoundedMoves


class AffineGains(NamedTuple):
    """Gains minus lam cost, and costs, of all pairs (K, P) and (K,)."""

    gain_slope: Floats
    gain_offset: Floats
    cost_slope: Floats
    cost_offset: Floats


class PieceSums(NamedTuple):
    """Expected value of the best pieces and their expected cost, over some rows."""

    value: float
    cost: float


def affine_gains(moves: BoundedMoves, coef: Floats, lam: float) -> AffineGains:
    """The gains of all pairs of ``moves.pairs`` at a given lam."""
    winner, label = moves.pairs
    slope = coef[winner] - coef[label]
    cost = np.where(np.isfinite(moves.cost), moves.cost, 0.0)
    found = _to_the_ends(moves, slope - lam * cost, -slope - lam * cost, cost)
    return _with_switches(moves, slope, lam, found)


def limited_gains(
    moves: BoundedMoves, coef: Floats, lam: float, limited: Floats
) -> AffineGains:
    """The gains if the box limits the parts ``limited`` (K, P) of all slopes, and moves
    cost nothing."""
    winner, label = moves.pairs
    found = _to_the_ends(moves, limited, -limited, np.zeros(limited.shape[1]))
    return _with_switches(moves, coef[winner] - coef[label], lam, found)


def _to_the_ends(
    moves: BoundedMoves, upward: Floats, downward: Floats, cost: Floats
) -> AffineGains:
    """Gains of moves to an end of the box, whose positive net slopes (K, P) are given."""
    gain_slope, cost_slope = np.zeros_like(upward), np.zeros_like(upward)
    gain_offset, cost_offset = np.zeros(len(upward)), np.zeros(len(upward))
    low, high = moves.problem.ball.box(moves.problem.n_features)
    for sign, end, net in ((1.0, high, upward), (-1.0, low, downward)):
        ended = np.isfinite(moves.cost) & np.isfinite(end)
        excess = np.where(ended, np.maximum(net, 0.0), 0.0)
        room = sign * (np.where(ended, end, 0.0) - moves.problem.centre)
        gain_slope -= sign * excess
        gain_offset += excess @ room
        cost_slope -= sign * (excess > 0) * cost
        cost_offset += (excess > 0) @ (cost * room)
    return AffineGains(gain_slope, gain_offset, cost_slope, cost_offset)


def _with_switches(
    moves: BoundedMoves, slope: Floats, lam: float, gains: AffineGains
) -> AffineGains:
    """The gains with those of leaving categories, whose columns have had none."""
    gain_slope, gain_offset, cost_slope, cost_offset = gains
    for group in moves.groups:
        if np.isfinite(group.cost):
            values = slope[:, group.columns]
            gain = values.max(axis=1, keepdims=True) - values - lam * group.cost
            gain_slope[:, group.columns] = np.maximum(gain, 0.0)
            cost_slope[:, group.columns] = group.cost * (gain > 0)
            centre = moves.problem.centre[group.columns]
            gain_offset += gain_slope[:, group.columns] @ centre
            cost_offset += cost_slope[:, group.columns] @ centre
    return AffineGains(gain_slope, gain_offset, cost_slope, cost_offset)


class PairView(NamedTuple):
    """A classifier at a given lam, as the rows are told of it."""

    coef: Floats
    intercept: Floats
    lam: float
    winner: Codes
    label: Codes
    gains: AffineGains


def best_pieces(
    view: PairView, problem: RobustProblem, rows: slice
) -> tuple[PieceSums, Codes]:
    """Sums over some rows, and each row's best label and winner, (n, 2)."""
    return chosen_pieces(problem, rows, view, *pieces_of(view, problem, rows))


def pieces_of(view: PairView, problem: RobustProblem, rows: slice) -> tuple[Floats, Floats]:
    """Loss and cost (K, n) of every pair, both without the price of the label."""
    gains = view.gains
    scores = problem.scores(view.coef, view.intercept, rows).T
    X = problem.features(rows)
    moved = (X - problem.centre if problem.centre.any() else X).T
    value = np.asarray(gains.gain_slope @ moved)
    value += (gains.gain_offset + problem.loss.margin)[:, None]
    value += scores[view.winner]
    value -= scores[view.label]
    return value, np.asarray(gains.cost_slope @ moved + gains.cost_offset[:, None])


def chosen_pieces(
    problem: RobustProblem, rows: slice, view: PairView, value: Floats, cost: Floats
) -> tuple[PieceSums, Codes]:
    """The adversary's choice among losses and costs (K, n) of all pairs.

    A smooth loss takes a softmax of the winners of each label: with the gains inside, an
    upper bound of the worst case.
    """
    n_classes, weight = problem.n_classes, problem.weight[rows]
    price = problem.label_price(rows).T
    losses = np.full((n_classes, n_classes, len(weight)), -np.inf)
    costs = np.zeros_like(losses)
    losses[view.label, view.winner], costs[view.label, view.winner] = value, cost
    stay = np.arange(n_classes)
    losses[stay, stay] = 0.0
    loss, spent = _over_winners(losses, costs, problem.loss.temperature)
    possible = np.isfinite(price)
    price = np.where(possible, price, 0.0)
    net = np.where(possible, loss - view.lam * price, -np.inf)
    # Of equal labels the row's own one is chosen.
    each, y = np.arange(len(weight)), problem.y[rows]
    label = net.argmax(axis=0)
    label = np.where(net[label, each] > net[y, each], label, y)
    sums = PieceSums(
        float(weight @ net[label, each]),
        float(weight @ (spent + price)[label, each]),
    )
    winner = losses[label, :, each].argmax(axis=1)
    winner = np.where(losses[label, winner, each] > 0, winner, label)
    return sums, np.stack([label, winner], axis=1)


def _over_winners(
    losses: Floats, costs: Floats, temperature: float
) -> tuple[Floats, Floats]:
    """Loss and expected cost (C, n) of each label, from those of all winners."""
    top = losses.max(axis=1)
    if temperature == 0:
        stays = np.einsum("ccn->cn", losses) >= top
        best = losses.argmax(axis=1)[:, None]
        spent = np.take_along_axis(costs, best, axis=1)[:, 0]
        return top, np.where(stays, 0.0, spent)
    powers = np.exp((losses - top[:, None]) / temperature)
    total = powers.sum(axis=1)
    return top + temperature * np.log(total), (powers * costs).sum(axis=1) / total
