r"""Masses that are zero in every balanced plan.

The pair k = (j, c) takes mass from class c to class j.  In a column d that neither moves
nor switches change, the equation of a plan (``certificate.py``) is

    sum over k, n of pi_kn (e_j - e_c) x_nd = 0.

If no entry is negative, as much leaves a class as enters it.  Thus no mass enters a class
that nothing leaves, and none leaves a class that nothing enters.  For example, no row of a
category that cannot be switched is mistaken for a class that lacks this category.  With an
intercept the same is true of x_nd minus the least entry of the column.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ...arrays import Codes, Flags, Floats
from ...rows.blocks import dense_rows

if TYPE_CHECKING:
    from ..problem import RobustProblem


class Circulation(NamedTuple):
    """Columns (D,) that nothing moves, the entries (D,) that count as zero, and by column
    the classes (D, C) that mass can leave and enter."""

    columns: Codes
    zero: Floats
    leaves: Flags
    enters: Flags

    def allows(
        self, problem: RobustProblem, rows: slice, winner: Codes, label: Codes
    ) -> Flags:
        """Whether a balanced plan can have mass of each pair in some rows, (K, n)."""
        present = self.present(problem, rows)
        enters_dead_end = (present @ ~self.leaves).T[winner]
        leaves_dead_end = (present @ ~self.enters).T[label]
        stays = (winner == label)[:, None]
        return np.asarray(stays | ~(enters_dead_end | leaves_dead_end))

    def present(self, problem: RobustProblem, rows: slice) -> Flags:
        """Entries (n, D) that are not zero."""
        return np.asarray(dense_rows(problem.X[rows])[:, self.columns] != self.zero)


def circulation_of(problem: RobustProblem) -> Circulation | None:
    """The classes between which mass can circulate; None if every column can change."""
    moves = problem.moves
    zero = moves.facts.low if problem.fit_intercept else np.zeros(problem.n_features)
    columns = np.flatnonzero(moves.unmovable & (moves.facts.low >= zero))
    if not len(columns):
        return None
    every = np.ones((len(columns), problem.n_classes), dtype=bool)
    found = Circulation(columns, zero[columns], every, every)
    # Each pass takes away classes that the pass before has left without mass.
    while True:
        leaves, enters = _passed(problem, found)
        if (leaves == found.leaves).all() and (enters == found.enters).all():
            return found
        found = found._replace(leaves=leaves, enters=enters)


def _passed(problem: RobustProblem, found: Circulation) -> tuple[Flags, Flags]:
    with problem.reduction() as reduction:
        used: Flags = reduction.fold(
            partial(_used_pairs, found, *problem.moves.pairs), np.logical_or
        )
    winner, label = problem.moves.pairs
    leaves, enters = np.zeros((2, *found.leaves.shape), dtype=bool)
    np.logical_or.at(leaves.T, label, used)
    np.logical_or.at(enters.T, winner, used)
    return leaves, enters


def _used_pairs(
    found: Circulation, winner: Codes, label: Codes, problem: RobustProblem, rows: slice
) -> Flags:
    """Pairs and columns (K, D) that some of the rows can have mass of."""
    possible = np.isfinite(problem.label_price(rows))[:, label].T
    allowed = possible & found.allows(problem, rows, winner, label)
    return np.asarray(allowed @ found.present(problem, rows))
