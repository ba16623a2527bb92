"""Rows of a primal-dual method: slacks, multipliers and the steps of both.

A step aims at a ``goal``, the products slack * multiplier wanted after it.  Linearised,
``mult' = goal / slack - (mult / slack) * change of slack``.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...arrays import Floats
from .sample_rows import compiled, longest_step

# Products within this factor of the centre are central enough (Gondzio).
CENTRAL = 10.0


@compiled
def _second_order_goal(centre, d_slack, d_mult, mult):  # type: ignore[no-untyped-def]
    goal = np.zeros(mult.shape)
    flat, slack, step, value = goal.ravel(), d_slack.ravel(), d_mult.ravel(), mult.ravel()
    for i in range(len(flat)):
        if value[i] > 0:
            flat[i] = centre - slack[i] * step[i]
    return goal


@compiled
def _pulled_goal(goal, slack, mult, d_slack, d_mult, centre, primal, dual):  # type: ignore[no-untyped-def]
    pulled = goal.copy()
    flat, r, y = pulled.ravel(), slack.ravel(), mult.ravel()
    dr, dy = d_slack.ravel(), d_mult.ravel()
    for i in range(len(flat)):
        if y[i] > 0:
            after = (r[i] + primal * dr[i]) * (y[i] + dual * dy[i])
            wanted = min(max(after, centre / CENTRAL), centre * CENTRAL)
            flat[i] += max(wanted - after, -CENTRAL * centre)
    return pulled


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

    def put(self, slack: Floats, centre: float) -> None:
        """New slacks, with the multipliers that are central for them."""
        self.slack, self.mult = slack, centre / slack

    @property
    def spring(self) -> Floats:
        return np.asarray(self.mult / self.slack)

    def complementarity(self) -> float:
        return float(np.vdot(self.slack, self.mult))

    def goal(self, centre: float, predicted: RowStep | None = None) -> Floats:
        """Centre everywhere, less the second-order term of a predicted step."""
        if predicted is None:
            return np.asarray(centre * self.exists)
        goal: Floats = _second_order_goal(
            centre, predicted.slack, predicted.mult, self.mult
        )
        return goal

    def recentred(self, goal: Floats, step: RowStep, centre: float, to: Lengths) -> Floats:
        """Gondzio's correction: pull products that would lie far from the centre."""
        pulled: Floats = _pulled_goal(
            goal, self.slack, self.mult, step.slack, step.mult, centre, to.primal, to.dual
        )
        return pulled

    def step(self, goal: Floats, d_slack: Floats) -> RowStep:
        return RowStep(d_slack, goal / self.slack - self.mult - self.spring * d_slack)

    def lengths(self, step: RowStep) -> Lengths:
        return Lengths(
            longest_step(self.slack, step.slack), longest_step(self.mult, step.mult)
        )

    def complementarity_after(self, step: RowStep, by: Lengths) -> float:
        slack = self.slack + by.primal * step.slack
        return float(np.vdot(slack, self.mult + by.dual * step.mult))

    def barrier_after(self, step: RowStep, length: float) -> float:
        """-sum log slack after a primal step."""
        return -float(np.log(self.slack + length * step.slack).sum())

    def advance(self, step: RowStep, by: Lengths) -> None:
        self.slack = self.slack + by.primal * step.slack
        self.mult = self.mult + by.dual * step.mult
