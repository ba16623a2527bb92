"""The columns on which multipliers must balance, and their sums over the rows."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np
from scipy import sparse

from ...arrays import Codes, Flags, Floats, Matrix
from ..norms import TINY
from ..problem import RobustProblem

# Rounding of sums over many rows: equalities that hold to this share of their terms hold.
EQUALITY_ROUNDING = 1e-13


class Sums(NamedTuple):
    """What a sweep returns: value sum (w - alpha_y), sum k phi, G, and, on the columns
    of a design, the sum of g e' (C, E), that of its terms' sizes and, if asked for, the
    system (C, E, C, E) of a tilt."""

    value: float
    on_flips: float
    gradient: Floats
    on_design: Floats
    sizes: Floats
    system: Floats | None


@dataclass(frozen=True, eq=False)
class Design:
    """Columns on which sum_n g_n e_n' must equal ``aim`` (C, E), the intercept's included.

    Strictly on columns the adversary cannot move; elsewhere scaling makes up the rest.
    Features far from zero are taken from their ``centre`` (P,): where sum_n g_n = 0 that
    is the same sum with less rounding.
    """

    columns: Codes
    scale: Floats
    strict: Flags
    aim: Floats
    centre: Floats

    @classmethod
    def of(
        cls,
        problem: RobustProblem,
        columns: Flags,
        gradient: Floats | None = None,
    ) -> Design:
        chosen = np.flatnonzero(columns)
        scale = largest_entries(problem, chosen)
        chosen, scale = chosen[scale > TINY], scale[scale > TINY]
        fixed = np.isinf(problem.attainable_feature_cost())[chosen]
        aim = np.zeros((problem.n_classes, len(chosen)))
        if gradient is not None:
            aim = gradient[:, chosen] / scale
        if problem.fit_intercept:
            fixed = np.append(fixed, True)
            aim = np.hstack([aim, np.zeros((problem.n_classes, 1))])
        return cls(chosen, scale, fixed, aim, problem.centre)

    def lack(self, sums: Sums) -> Floats:
        """What the sums lack of the aim, shape (C, E)."""
        return self.aim - sums.on_design

    def miss(self, sums: Sums, columns: Flags) -> float:
        """By how much the sums miss the aim at most, on some columns."""
        return float(np.abs(self.lack(sums)[:, columns]).max(initial=0.0))

    def rounded(self, sums: Sums) -> Sums:
        """The sums with G as aimed at where only the rounding of its terms is between.

        In a column of large entries that rounding may be more than the whole budget; it is
        no more than that of any classifier's risk.
        """
        width = len(self.columns)
        aim, gradient = self.aim[:, :width], sums.gradient.copy()
        reached = np.abs(self.lack(sums)) <= EQUALITY_ROUNDING * sums.sizes
        here = gradient[:, self.columns]
        gradient[:, self.columns] = np.where(reached[:, :width], aim * self.scale, here)
        return sums._replace(gradient=gradient)

    def features(self, problem: RobustProblem, rows: slice) -> Matrix:
        """Some rows of X, from their centre."""
        return _from_centre(problem.features(rows), self.centre)

    def rows(self, problem: RobustProblem, rows: slice) -> Floats:
        """The design of some rows, scaled to entries of at most 1."""
        dense = _dense(self.features(problem, rows)[:, self.columns]) / self.scale
        if problem.fit_intercept:
            dense = np.column_stack([dense, np.ones(len(dense))])
        return dense


def _dense(block: Matrix) -> Floats:
    return block.toarray() if sparse.issparse(block) else np.asarray(block)


def largest_entries(problem: RobustProblem, columns: Codes) -> Floats:
    if not len(columns):
        return np.zeros(0)
    with problem.reduction() as reduction:
        look = partial(_largest_of_rows, columns, problem.centre)
        largest: Floats = reduction.fold(look, np.maximum)
    return largest


def _largest_of_rows(
    columns: Codes, centre: Floats, problem: RobustProblem, rows: slice
) -> Floats:
    features = _from_centre(problem.features(rows), centre)
    return _dense(np.abs(features[:, columns]).max(axis=0)).ravel()


def _from_centre(features: Matrix, centre: Floats) -> Matrix:
    return features - centre if centre.any() else features
