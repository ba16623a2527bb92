"""Rows of a primal-dual method: slacks, multipliers and the steps of both.

A step aims at a ``goal``, the products slack * multiplier wanted after it.  Linearised,
``mult' = goal / slack - (mult / slack) * change of slack``.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .sample_rows import longest_step

Floats = NDArray[np.float64]

# Products within this factor of the centre are central enough (Gondzio).
CENTRAL = 10.0


class RowStep(NamedTuple):
    slack: Floats
    mult: Floats


class Lengths(NamedTuple):
    """How far a primal and a dual step can go."""

    primal: float
    dual: float

    def meet(self, other: Lengths) -> Lengths:
        return Lengths(min(self.primal, other.primal), min(self.dual, other.dual))


class Rows:
    """Slacks and multipliers of any shape; rows with multiplier 0 do not exist."""

    def __init__(self, slack: Floats, mult: Floats):
        self.slack, self.mult = slack, mult
        self.exists = mult > 0

    @property
    def spring(self) -> Floats:
        return np.asarray(self.mult / self.slack)

    def complementarity(self) -> float:
        return float(np.vdot(self.slack, self.mult))

    def goal(self, centre: float, predicted: RowStep | None = None) -> Floats:
        """Centre everywhere, less the second-order term of a predicted step."""
        if predicted is None:
            return np.asarray(centre * self.exists)
        return np.asarray((centre - predicted.slack * predicted.mult) * self.exists)

    def recentred(self, goal: Floats, step: RowStep, centre: float, to: Lengths) -> Floats:
        """Gondzio's correction: pull products that would lie far from the centre."""
        after = (self.slack + to.primal * step.slack) * (self.mult + to.dual * step.mult)
        pull = np.clip(after, centre / CENTRAL, centre * CENTRAL) - after
        return np.asarray((goal + np.maximum(pull, -CENTRAL * centre)) * self.exists)

    def step(self, goal: Floats, d_slack: Floats) -> RowStep:
        return RowStep(d_slack, goal / self.slack - self.mult - self.spring * d_slack)

    def lengths(self, step: RowStep) -> Lengths:
        return Lengths(
            longest_step(self.slack, step.slack), longest_step(self.mult, step.mult)
        )

    def complementarity_after(self, step: RowStep, by: Lengths) -> float:
        slack = self.slack + by.primal * step.slack
        return float(np.vdot(slack, self.mult + by.dual * step.mult))

    def advance(self, step: RowStep, by: Lengths) -> None:
        self.slack = self.slack + by.primal * step.slack
        self.mult = self.mult + by.dual * step.mult
