r"""l2 transport in the interior point: second-order cones with Nesterov-Todd scaling.

Each pair i < j has the row (lam, M_i - M_j) in the cone u_0 >= ||u_1||; arrays have shape
(K, 1 + T), lam's part first.  The scaling W of a row maps multiplier and slack to the
same point, W y = W^-1 r, and

    W   = b [[w_0, w_1'], [w_1, I + w_1 w_1' / (1 + w_0)]],      b^4 = det r / det y,
    W^-2 = (2 q q' - J) / b^2,   q = (w_0, -w_1),   J = diag(1, -I),   det u = u' J u.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..problem.norms import divergence
from .complementarity import Lengths, RowStep
from .norm_cones import Curvature, Pairs

Floats = NDArray[np.float64]


class SecondOrder:
    """All pairs' cones at once; goals are in scaled coordinates."""

    def __init__(self, n_classes: int, n_touchable: int, lam: float, centre: float):
        self.pairs = Pairs(n_classes)
        self.degree = self.pairs.n_pairs
        self.slack = np.zeros((self.degree, 1 + n_touchable))
        self.mult = np.zeros_like(self.slack)
        self.slack[:, 0], self.mult[:, 0] = lam, centre / lam
        self._rescale()

    def _rescale(self) -> None:
        slack_size, mult_size = np.sqrt(_det(self.slack)), np.sqrt(_det(self.mult))
        both = self.slack / slack_size[:, None]
        both[:, 0] += self.mult[:, 0] / mult_size
        both[:, 1:] -= self.mult[:, 1:] / mult_size[:, None]
        self.w = both / np.sqrt(_det(both))[:, None]
        self.size = np.sqrt(slack_size / mult_size)[:, None]
        self.scaled = self._times(self.mult)

    def _times(self, rows: Floats) -> Floats:
        """W rows."""
        return self.size * self._reflect(rows, 1.0)

    def _over(self, rows: Floats) -> Floats:
        """W^-1 rows."""
        return self._reflect(rows, -1.0) / self.size

    def _reflect(self, rows: Floats, sign: float) -> Floats:
        head, tail = rows[:, :1], rows[:, 1:]
        w_head, w_tail = self.w[:, :1], self.w[:, 1:]
        along = (w_tail * tail).sum(axis=1, keepdims=True)
        new_tail = tail + w_tail * (along / (1 + w_head) + sign * head)
        return np.hstack([w_head * head + sign * along, new_tail])

    def complementarity(self) -> float:
        return float(np.vdot(self.slack, self.mult))

    def add_curvature(self, to: Curvature) -> None:
        head, tail = self.w[:, :1], self.w[:, 1:] / self.size
        stiff = 1 / self.size**2
        self.pairs.add(to, np.broadcast_to(stiff, tail.shape), np.sqrt(2.0) * tail)
        corner = float((stiff * (2 * head**2 - 1)).sum())
        self.pairs.add_lam(to, -2 * head / self.size * tail, corner)

    def goal(self, centre: float, predicted: RowStep | None = None) -> Floats:
        wanted = np.zeros_like(self.slack)
        wanted[:, 0] = centre
        if predicted is not None:
            wanted -= _product(self._over(predicted.slack), self._times(predicted.mult))
        return wanted

    def recentred(self, goal: Floats, step: RowStep, centre: float, to: Lengths) -> Floats:
        """Unchanged: pairs are few, and their eigenvalues stay central enough."""
        return goal

    def _target(self, goal: Floats) -> Floats:
        return self._over(_quotient(goal, self.scaled))

    def rhs(self, goal: Floats) -> tuple[Floats, float]:
        target = self._target(goal)
        return divergence(target[:, 1:], self.pairs.n_classes), float(target[:, 0].sum())

    def step_for(self, goal: Floats, d_coef: Floats, d_lam: float) -> RowStep:
        diff = self.pairs.incidence @ d_coef
        d_slack = np.hstack([np.full((len(diff), 1), d_lam), diff])
        relaxed = self._over(self._over(d_slack))
        return RowStep(d_slack, self._target(goal) - self.mult - relaxed)

    def lengths(self, step: RowStep) -> Lengths:
        return Lengths(_longest(self.slack, step.slack), _longest(self.mult, step.mult))

    def complementarity_after(self, step: RowStep, by: Lengths) -> float:
        slack = self.slack + by.primal * step.slack
        return float(np.vdot(slack, self.mult + by.dual * step.mult))

    def advance(self, step: RowStep, by: Lengths) -> None:
        self.slack = self.slack + by.primal * step.slack
        self.mult = self.mult + by.dual * step.mult
        self._rescale()

    def gradient(self) -> Floats:
        return divergence(self.flow(), self.pairs.n_classes)

    def flow(self) -> Floats:
        return self.mult[:, 1:]


def _det(rows: Floats) -> Floats:
    length = np.linalg.norm(rows[:, 1:], axis=1)
    # Positive in exact arithmetic; rounding may not be allowed to say otherwise.
    floor = 1e-32 * rows[:, 0] ** 2
    return np.asarray(np.maximum((rows[:, 0] - length) * (rows[:, 0] + length), floor))


def _product(left: Floats, right: Floats) -> Floats:
    """The cone's Jordan product (u.v, u_0 v_1 + v_0 u_1)."""
    head = (left * right).sum(axis=1, keepdims=True)
    tail = left[:, :1] * right[:, 1:] + right[:, :1] * left[:, 1:]
    return np.hstack([head, tail])


def _quotient(rows: Floats, divisor: Floats) -> Floats:
    """x whose product with ``divisor`` is ``rows``."""
    dot = (divisor[:, 1:] * rows[:, 1:]).sum(axis=1)
    head = (divisor[:, 0] * rows[:, 0] - dot) / _det(divisor)
    tail = (rows[:, 1:] - head[:, None] * divisor[:, 1:]) / divisor[:, :1]
    return np.hstack([head[:, None], tail])


def _longest(rows: Floats, change: Floats) -> float:
    """Largest t with rows + t change in the cone, from the row's own frame."""
    size = np.sqrt(_det(rows))[:, None]
    unit, step = rows / size, change / size
    head = unit[:, 0] * step[:, 0] - (unit[:, 1:] * step[:, 1:]).sum(axis=1)
    tail = step[:, 1:] - ((head + step[:, 0]) / (unit[:, 0] + 1))[:, None] * unit[:, 1:]
    worst = float((np.linalg.norm(tail, axis=1) - head).max())
    return 1.0 / worst if worst > 0 else np.inf
