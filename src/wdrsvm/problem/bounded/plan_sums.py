"""An adversary's plan in a bounded ball, and its sums over some rows."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.special import entr

from ...arrays import Codes, Floats
from ..problem import RobustProblem
from .masses import Masses, MassSource, as_source, prices, with_ones


class PairPlan(NamedTuple):
    """Approximate multipliers of the K pairs (winner, label).

    ``mass`` are the masses, an array (K, N) or a source of them; ``moved`` (K, P) is the
    total movement of each pair, and ``switched`` has, for each categorical feature of
    finite cost, the masses (K, from, to) that switch categories.
    """

    winner: Codes
    label: Codes
    mass: Masses
    moved: Floats
    switched: list[Floats]

    def with_stays(self, n_classes: int, mass: Masses) -> PairPlan:
        """The plan with the pairs (c, c) behind the others, which a smooth loss needs;
        ``mass`` has the masses of all pairs."""
        each = np.arange(n_classes)
        return PairPlan(
            np.append(self.winner, each),
            np.append(self.label, each),
            mass,
            np.vstack([self.moved, np.zeros((n_classes, self.moved.shape[1]))]),
            [np.vstack([m, np.zeros((n_classes, *m.shape[1:]))]) for m in self.switched],
        )


class Totals(NamedTuple):
    """Sums over the rows: mass times (x, 1) by pair, (K, P + 1), and the labels' cost."""

    moments: Floats
    on_labels: float


class TiltSystem(NamedTuple):
    """The linear system of a tilt, (C, Q, C, Q), and the sizes (Q,) of the terms.

    Q is the number of features, plus 1 with an intercept.
    """

    system: Floats
    size: Floats


def totals_of(
    masses: MassSource, label: Codes, problem: RobustProblem, rows: slice
) -> Totals:
    mass, price = masses.rows(problem, rows), prices(problem, rows, label)
    paid = float((np.where(mass > 0, price, 0.0) * mass).sum())
    return Totals(mass @ with_ones(problem, rows), paid)


def system_of(
    plan: PairPlan, lifts: Floats, problem: RobustProblem, rows: slice
) -> TiltSystem:
    """The sums over some rows, without endless moves."""
    mass, block = as_source(plan.mass).rows(problem, rows), with_ones(problem, rows)
    n_classes, width = problem.n_classes, lifts.shape[2]
    size, system = np.zeros(width), np.zeros((n_classes, width, n_classes, width))
    drift = np.zeros((n_classes, len(block), width))
    for k in np.flatnonzero(plan.winner != plan.label):
        j, c, kept = plan.winner[k], plan.label[k], np.flatnonzero(mass[k])
        # Of a plan with hundreds of switches, most rows have no mass.
        design = block[kept] @ lifts[k]
        pulled = mass[k, kept, None] * design
        drift[j, kept] += pulled
        drift[c, kept] -= pulled
        size += np.abs(pulled).sum(axis=0)
        gram = design.T @ pulled
        for p, q, sign in ((j, j, 1), (c, c, 1), (j, c, -1), (c, j, -1)):
            system[p, :, q] += sign * gram
    drift /= np.sqrt(problem.weight[rows])[:, None]
    flat = np.ascontiguousarray(drift.transpose(0, 2, 1)).reshape(-1, len(block))
    system -= (flat @ flat.T).reshape(system.shape)
    return TiltSystem(system, size)


def entropy_of(plan: PairPlan, problem: RobustProblem, rows: slice) -> float:
    mass = as_source(plan.mass).rows(problem, rows)
    y, n_classes = problem.y[rows], problem.n_classes
    of_pair = np.zeros((n_classes, n_classes, len(y)))
    # A pair may stand in the plan several times, with different switches.
    np.add.at(of_pair, (plan.label, plan.winner), mass)
    left = np.maximum(problem.weight[rows] - mass.sum(axis=0), 0.0)
    of_pair[y, y, np.arange(len(y))] += left
    return float(entr(of_pair).sum() - entr(of_pair.sum(axis=1)).sum())
