"""The columns on which multipliers must balance, and their sums over the rows."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from .objective import Floats, Matrix, RobustProblem


@dataclass(frozen=True, eq=False)
class Design:
    """Columns on which sum_n g_n e_n' must equal ``aim`` (C, E), the intercept's included.

    Strictly on columns the adversary cannot move; elsewhere scaling makes up the rest.
    """

    columns: NDArray[np.intp]
    scale: Floats
    strict: NDArray[np.bool_]
    aim: Floats

    @classmethod
    def of(
        cls,
        problem: RobustProblem,
        columns: NDArray[np.bool_],
        gradient: Floats | None = None,
    ) -> Design:
        chosen = np.flatnonzero(columns)
        scale = _largest_entries(problem, chosen)
        chosen, scale = chosen[scale > 0], scale[scale > 0]
        fixed = np.isinf(problem.attainable_feature_cost())[chosen]
        aim = np.zeros((problem.n_classes, len(chosen)))
        if gradient is not None:
            aim = gradient[:, chosen] / scale
        if problem.fit_intercept:
            fixed = np.append(fixed, True)
            aim = np.hstack([aim, np.zeros((problem.n_classes, 1))])
        return cls(chosen, scale, fixed, aim)

    def lack(self, sums: Floats) -> Floats:
        """What sums of g e' (C, E) lack of the aim."""
        return self.aim - sums

    def miss(self, sums: Floats, columns: NDArray[np.bool_]) -> float:
        """By how much they miss the aim at most, on some columns."""
        return float(np.abs(self.lack(sums)[:, columns]).max(initial=0.0))

    def rows(self, problem: RobustProblem, rows: slice) -> Floats:
        """The design of some rows, scaled to entries of at most 1."""
        dense = _dense(problem.features(rows)[:, self.columns]) / self.scale
        if problem.fit_intercept:
            dense = np.column_stack([dense, np.ones(len(dense))])
        return dense


def _dense(block: Matrix) -> Floats:
    return block.toarray() if sparse.issparse(block) else np.asarray(block)


def _largest_entries(problem: RobustProblem, columns: NDArray[np.intp]) -> Floats:
    if not len(columns):
        return np.zeros(0)
    with problem.sweeps() as sweeps:
        largest: Floats = sweeps.fold(partial(_largest_of_rows, columns), np.maximum)
    return largest


def _largest_of_rows(
    columns: NDArray[np.intp], problem: RobustProblem, rows: slice
) -> Floats:
    return _dense(np.abs(problem.features(rows)[:, columns]).max(axis=0)).ravel()
