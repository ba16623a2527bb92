"""The relative duality gap, by which every solver, path and warning measures.

A gap is relative to the objective, or to 1e-2 where that is larger: near an optimum of zero
a share of it would ask for digits that nobody has.
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
    """What is known of a classifier's training optimality."""

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

        A bound above the objective by more than that shows that rounding spoilt one.
        """
        return abs(self.gap) <= allowed_gap(tol, self.objective) < np.inf
