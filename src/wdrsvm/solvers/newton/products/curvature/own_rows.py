"""The rows of each class itself, where they are few.

Half of the curvature of a class comes from its own rows.  Where these are a few dozen, the
preconditioner and the model of the loss take them as they are, from the first step on.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from .....arrays import Codes, Floats
from .....problem import RobustProblem
from ..row_steps import step_to
from ..settings import PRODUCTS
from .heavy_rows import HeavyRows


@dataclass(frozen=True, eq=False)
class OwnRows:
    """For each class the ``numbers`` (C, k) of its rows, and the ``rows`` (C, k, Q)
    themselves; a class with fewer rows ends with some that do not count.  One row out of
    ``step`` tells the curvature of all others."""

    numbers: Codes
    counts: Codes
    rows: Floats
    step: int

    @classmethod
    def of(
        cls, problem: RobustProblem, features: Callable[[Codes], Floats]
    ) -> OwnRows | None:
        """None if they are too many, or the norm holds some coefficients and not others.

        ``features`` gives the rows with these numbers in the solver's columns.
        """
        counts = np.bincount(problem.y, minlength=problem.n_classes)
        most = int(counts.max(initial=0))
        n_entries = len(counts) * most * problem.n_features
        is_quick = problem.n_rows * problem.n_classes * problem.n_features
        are_few = most <= PRODUCTS.own_rows and n_entries <= PRODUCTS.max_own_entries
        if problem.norm != "l2" or not are_few or is_quick < PRODUCTS.least_own_work:
            return None
        first, last = np.cumsum(counts) - counts, len(problem.y) - 1
        places = np.minimum(first[:, None] + np.arange(most), last)
        numbers = np.argsort(problem.y, kind="stable")[places]
        step = step_to(PRODUCTS.others_rows, problem.n_rows, problem.n_classes)
        return cls(numbers, counts, features(numbers), step)

    def weighted(self, curvature: Floats) -> HeavyRows:
        """With the curvatures (N,) of all rows at the scores of their own classes."""
        k = self.numbers.shape[1]
        found = np.where(np.arange(k) < self.counts[:, None], curvature[self.numbers], 0.0)
        return HeavyRows(found, self.rows)
