"""Atoms of a worst-case distribution: rows relabelled, moved in a box, or sent far away."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from scipy import sparse

from ....arrays import Codes, Flags, Floats, Matrix
from ....problem.norms import NORMS, pairwise_moduli, steepest_direction
from ..worst_case import Judged

# Pairs of classes whose slopes differ by no more than this are equally steep.
TIE = 1e-12


class Atoms(NamedTuple):
    """For each atom: the row its mass comes from, its place, label code and weight."""

    source: Codes
    X: Matrix
    label: Codes
    weight: Floats

    def only(self, kept: Flags) -> Atoms:
        return Atoms(self.source[kept], self.X[kept], self.label[kept], self.weight[kept])

    def split(self, atom: int, label: int, mass: float, step: Floats) -> Atoms:
        """Take ``mass`` off an atom, give it a label and move it by ``step``."""
        weight = np.append(self.weight, mass)
        weight[atom] = max(weight[atom] - mass, 0.0)
        return Atoms(
            np.append(self.source, self.source[atom]),
            stacked_rows(self.X, self.X[[atom]] + like_rows(self.X, step[None, :])),
            np.append(self.label, label),
            weight,
        )


def stacked_rows(first: Matrix, second: Matrix) -> Matrix:
    """Rows stacked below others, dense or sparse like the first ones."""
    if sparse.issparse(first):
        return sparse.vstack([first, second], format="csr")
    return np.vstack([first, second])


def like_rows(X: Matrix, rows: Floats) -> Matrix:
    """Dense rows, made sparse if X is."""
    return sparse.csr_array(rows) if sparse.issparse(X) else rows


def planned(judged: Judged) -> tuple[Atoms, float]:
    """The atoms of the worst plans in a bounded ball, and the rest of the budget."""
    (coef, intercept, *_), loss = judged.scores, judged.problem.loss
    # A smooth loss would spread every row over all winners; the sharp loss does not.
    problem = replace(judged.problem, loss=replace(loss, temperature=0.0))
    moves = problem.moves
    worst = moves.worst_plans(coef, intercept, keeping=True)
    rows = np.arange(problem.n_rows)
    parts: list[Atoms] = []
    for plan, share in zip(worst.plans, worst.share, strict=True):
        assert plan.choices is not None
        places, (label, winner) = moves.rows.copy(), plan.choices.T
        for j, c in np.argwhere(~np.eye(problem.n_classes, dtype=bool)):
            active = (winner == j) & (label == c)
            if active.any():
                places[active] = moves.moved(coef[j] - coef[c], plan.lam)[0][active]
        parts.append(Atoms(rows, places, label, share * problem.weight))
    atoms = _merged(*parts) if len(parts) == 2 else parts[0]
    return atoms._replace(X=like_rows(problem.X, atoms.X)), worst.left


def _merged(first: Atoms, second: Atoms) -> Atoms:
    """Two plans for the same rows as one; where they agree, one atom has the mass."""
    same = (first.label == second.label) & (first.X == second.X).all(axis=1)
    added = np.where(same, second.weight, 0.0)
    return Atoms(
        np.concatenate([first.source, second.source]),
        np.vstack([first.X, second.X]),
        np.concatenate([first.label, second.label]),
        np.concatenate([first.weight + added, second.weight - added]),
    )


def relabelled(judged: Judged) -> tuple[Atoms, float]:
    """The flips that the budget buys, and what is left of it."""
    problem, scores = judged.problem, judged.scores
    choices = problem.flip_choices(scores.coef, scores.intercept)
    bought = problem.spend(choices.flips, scores.coef)
    row, new_label = choices.flips.row[bought.flips], choices.flips.label[bought.flips]
    whole = bought.share == 1
    label = choices.label.copy()
    # A row's later flips follow its earlier ones, and the last assignment counts.
    label[row[whole]] = new_label[whole]
    atoms = Atoms(np.arange(problem.n_rows), problem.X, label, problem.weight)
    for last in np.flatnonzero(~whole):
        mass = bought.share[last] * problem.weight[row[last]]
        still = np.zeros(problem.n_features)
        atoms = atoms.split(row[last], new_label[last], mass, still)
    return atoms, bought.left


class Tail(NamedTuple):
    """An atom to move along the slope of ``winner`` over ``label``, which it is given.

    ``merit`` is what it adds per unit of mass, beyond what its budget would.
    """

    merit: float
    atom: int
    winner: int
    label: int


def _escape(judged: Judged) -> tuple[Floats, Callable[[Floats], Floats], Floats]:
    """Rates (C, C) at which moving without end pays, the slopes that count, their costs."""
    problem, coef = judged.problem, judged.scores.coef
    if problem.is_bounded:
        moves = problem.moves
        return moves.escape_rates(coef), moves.escape_slope, moves.cost
    rates = pairwise_moduli(coef, problem.ball.norm, problem.feature_cost)
    return rates, lambda slope: slope, problem.feature_cost


def with_tail(judged: Judged, atoms: Atoms, left: float, tail_mass: float) -> Atoms:
    """Move a small mass of the best atom by all that is left of the budget."""
    coef = judged.scores.coef
    rates, escaping, feature_cost = _escape(judged)
    best = _best_tail(judged, atoms, rates)
    if best is None:
        return atoms
    cost = label_costs(judged, atoms.source[[best.atom]])[0]
    extra = cost[best.label] - cost[atoms.label[best.atom]]
    mass = min(tail_mass, atoms.weight[best.atom])
    if extra > 0:
        # Giving the label must leave nearly all of the budget for moving.
        mass = min(mass, tail_mass * left / extra)
    slope = escaping(coef[best.winner] - coef[best.label])
    direction = steepest_direction(slope, judged.problem.ball.norm, feature_cost)
    return atoms.split(best.atom, best.label, mass, (left / mass - extra) * direction)


def _best_tail(judged: Judged, atoms: Atoms, rates: Floats) -> Tail | None:
    """The atom and the label under which moving comes closest to the supremum."""
    problem, (coef, intercept, *_) = judged.problem, judged.scores
    steepest = float(rates[:, problem.reachable].max())
    if steepest == 0:
        return None
    scores = np.asarray(atoms.X @ coef.T + intercept)
    n = np.arange(len(scores))
    losses = problem.loss.of_labels(scores)[n, atoms.label]
    cost = label_costs(judged, atoms.source)
    tails = []
    for winner, label in np.argwhere(rates >= steepest * (1 - TIE)):
        extra = cost[:, label] - cost[n, atoms.label]
        gain = scores[:, winner] - scores[:, label] + problem.loss.margin - losses
        possible = np.isfinite(extra) & (atoms.weight > 0)
        merit = np.where(possible, gain - steepest * extra, -np.inf)
        atom = int(merit.argmax())
        tails.append(Tail(float(merit[atom]), atom, int(winner), int(label)))
    return max(tails)


def label_costs(judged: Judged, source: Codes) -> Floats:
    """Cost of giving each of some rows each label; its own costs nothing."""
    return judged.problem.label_price(source)


def move_distances(judged: Judged, atoms: Atoms) -> Floats:
    """What moving each atom from its source costs, switches of categories included."""
    problem = judged.problem
    moved = atoms.X - problem.X[atoms.source]
    distance = np.zeros(len(atoms.source))
    travelled = np.flatnonzero(np.asarray(abs(moved).sum(axis=1)).ravel())
    step = moved[travelled]
    step = step.toarray() if sparse.issparse(step) else step
    numeric = (step != 0).any(axis=0)
    for group in problem.ball.groups(problem.n_features):
        switched = (step[:, group.columns] != 0).any(axis=1)
        distance[travelled[switched]] += group.cost
        numeric[group.columns] = False
    cost = problem.feature_cost[numeric]
    distance[travelled] += NORMS[problem.ball.norm].of_rows(step[:, numeric] * cost)
    return distance
