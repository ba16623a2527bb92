"""What the adversary does when it wants as many wrong predictions as it can pay for.

It buys rows in ascending order of what an error costs.  A bought row gets another label, or
moves to the nearest point of another class and a hair beyond, so that the prediction there
is wrong without a tie.  The hair is paid for like all movement.
"""

from __future__ import annotations

import numpy as np

from ....arrays import Codes, Flags, Floats
from ....problem.norms import steepest_direction
from ....problem.ramp import relabelling_costs
from ..bounded_steps import MAX_SWITCHES, BoundedSteps
from ..errors.curve_points import error_at
from ..errors.wrong_costs import WrongCosts, leads_of
from ..worst_case import Judged
from .atoms import Atoms, label_costs, like_rows, move_distances, stacked_rows

# A hair: this share of the lead, and this share of the terms that a lead is made of.
BEYOND, OF_TERMS = 1e-9, 1e-13
# Budget that is left for the rounding of sums.
BUDGET_ROUNDING = 1e-13


def wrong_atoms(judged: Judged) -> Atoms:
    """The atoms of a worst-case distribution for the share of wrong predictions."""
    problem, (coef, intercept, *_) = judged.problem, judged.scores
    leads = leads_of(problem.X, problem.y, coef, intercept)
    distance = WrongCosts(coef, intercept, problem.ball).distances(problem.X, problem.y)
    relabelling = relabelling_costs(problem)
    cost = np.minimum(distance, relabelling)
    rows = _affordable(cost, problem.weight, problem.radius)
    # Rows that are wrong already are left alone.
    rows = rows[distance[rows] > 0]
    label, step = problem.y[rows].copy(), np.zeros((len(rows), problem.n_features))
    flipped = relabelling[rows] <= distance[rows]
    label[flipped] = problem.flip_cost()[rows[flipped]].argmin(axis=1)
    step[~flipped] = _steps(judged, leads, rows[~flipped])
    wanted = Atoms(
        rows, problem.X[rows] + like_rows(problem.X, step), label, problem.weight[rows]
    )
    return _bought(judged, wanted)


def _affordable(cost: Floats, weight: Floats, budget: float) -> Codes:
    """Rows in ascending order of cost, up to the one at which the budget ends."""
    order = np.argsort(cost, kind="stable")
    order = order[np.isfinite(cost[order]) & (weight[order] > 0)]
    spent = np.cumsum(weight[order] * cost[order])
    return order[: int(np.searchsorted(spent, budget, side="right")) + 1]


def _bought(judged: Judged, wanted: Atoms) -> Atoms:
    """Give the wanted atoms mass while the budget lasts; the rest stays where it is."""
    problem = judged.problem
    n = np.arange(len(wanted.source))
    price = move_distances(judged, wanted)
    price += label_costs(judged, wanted.source)[n, wanted.label]
    spent = np.cumsum(wanted.weight * price)
    left = problem.radius * (1 - BUDGET_ROUNDING) - (spent - wanted.weight * price)
    whole = wanted.weight * price <= left
    mass = np.where(whole, wanted.weight, 0.0)
    np.divide(np.maximum(left, 0.0), price, out=mass, where=~whole)
    kept = problem.weight.copy()
    kept[wanted.source] -= mass
    return Atoms(
        np.append(np.arange(problem.n_rows), wanted.source),
        stacked_rows(problem.X, wanted.X),
        np.append(problem.y, wanted.label),
        np.append(kept, mass),
    )


def _steps(judged: Judged, leads: Floats, rows: Codes) -> Floats:
    """Movements of some rows to the nearest point of another class, and beyond."""
    problem, coef = judged.problem, judged.scores.coef
    size = np.abs(problem.X[rows]) @ np.abs(coef).max(axis=0)
    size = size + np.abs(judged.scores.intercept).max()
    further = leads.copy()
    further[:, rows] += BEYOND * leads[:, rows] + OF_TERMS * coef.shape[1] * size
    if problem.ball.is_bounded:
        return _bounded_steps(judged, leads, further, rows)
    rates = WrongCosts(coef, judged.scores.intercept, problem.ball).rates
    own = problem.y[rows]
    rate = rates[:, own]
    ratio = np.full_like(rate, np.inf)
    np.divide(leads[:, rows], rate, out=ratio, where=rate > 0)
    rival = ratio.argmin(axis=0)
    step = np.zeros((len(rows), coef.shape[1]))
    for k, j in {*zip(own.tolist(), rival.tolist(), strict=True)}:
        some = np.flatnonzero((own == k) & (rival == j))
        way = further[j, rows[some]] / rates[j, k]
        slope, cost = coef[j] - coef[k], problem.feature_cost
        step[some] = way[:, None] * steepest_direction(slope, problem.ball.norm, cost)
    return step


def _bounded_steps(judged: Judged, leads: Floats, further: Floats, rows: Codes) -> Floats:
    """The same inside a box; at a wall there may be no room for the hair."""
    steps = BoundedSteps(judged.problem)
    if not steps.is_exact:
        raise ValueError(
            "loss='zero-one' needs a ball with at most "
            f"{MAX_SWITCHES} categorical features that can switch, got {len(steps.groups)}."
        )
    coef = judged.scores.coef
    step = steps.steps(coef, further, rows)
    still = ~step.any(axis=1)
    step[still] = steps.steps(coef, leads, rows[still])
    return step


def wrong_rows(scores: Floats, label: Codes) -> Flags:
    """Which rows of scores (N, C) are wrong or tied for their label."""
    n = np.arange(len(label))
    others = scores.copy()
    others[n, label] = -np.inf
    return np.asarray(scores[n, label] <= others.max(axis=1))


def largest_error(judged: Judged) -> float:
    """The worst-case error in the problem's own ball."""
    problem, (coef, intercept, *_) = judged.problem, judged.scores
    costs = WrongCosts(coef, intercept, problem.ball)
    found = costs(problem.X, problem.y, problem.label_trust)
    used = problem.weight > 0
    return error_at(found[used], problem.weight[used], problem.radius)
