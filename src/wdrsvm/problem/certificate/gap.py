"""The relative duality gap, the one measure for all solvers, paths and warnings.

A gap is relative to the objective, or to 1e-2 if that is larger.  Near an optimum of zero,
a share of the objective would ask for more digits than floating point has.
"""

from __future__ import annotations

from typing import NamedTuple, TypeVar

import numpy as np

from ...arrays import Floats

LEAST_SCALE = 1e-2

Gap = TypeVar("Gap", float, Floats)


def relative_gap(gap: Gap, objective: float) -> Gap:
    """The gap as a share of the objective."""
    return gap / max(objective, LEAST_SCALE)


def allowed_gap(tol: float, objective: float) -> float:
    """The largest gap whose relative size is ``tol``."""
    return tol * max(objective, LEAST_SCALE)


class Certificate(NamedTuple):
    """Objective of a classifier, lower bound of the optimum, and the multiplier lam."""

    objective: float
    dual_bound: float
    lam: float

    @property
    def gap(self) -> float:
        return self.objective - self.dual_bound

    @property
    def relative_gap(self) -> float:
        return relative_gap(self.gap, self.objective)

    def holds(self, tol: float) -> bool:
        """Whether the relative duality gap is at most ``tol``.

        If the bound exceeds the objective by more, rounding has spoilt one of the two.
        """
        return abs(self.gap) <= allowed_gap(tol, self.objective) < np.inf
