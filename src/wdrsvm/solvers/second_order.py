r"""l2 transport in the interior point: second-order cones with Nesterov-Todd scaling.

Each pair i < j has the row (lam, M_i - M_j) in the cone u_0 >= ||u_1||, or, under the
triangle bound, each class the row (lam, 2 M_i); arrays have shape (K, 1 + T), lam's part
first.  The scaling W of a row maps multiplier and slack to the
same point, W y = W^-1 r, and

    W   = b [[w_0, w_1'], [w_1, I + w_1 w_1' / (1 + w_0)]],      b^4 = det r / det y,
    W^-2 = (2 q q' - J) / b^2,   q = (w_0, -w_1),   J = diag(1, -I),   det u = u' J u.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..problem.norms import incidence
from .complementarity import Lengths, RowStep
from .norm_cones import Combinations, Curvature
from .sample_rows import compiled

Floats = NDArray[np.float64]


class SecondOrder:
    """All pairs' cones at once; goals are in scaled coordinates."""

    fixes_gauge = False

    def __init__(self, n_classes: int, n_touchable: int, lam: float, centre: float):
        self.pairs = Combinations(self._incidence(n_classes))
        self.signs = np.array(self.pairs.incidence)  # a copy: of one type with a box's
        self.degree = self.pairs.n_rows
        self.slack = np.zeros((self.degree, 1 + n_touchable))
        self.mult = np.zeros_like(self.slack)
        self.slack[:, 0], self.mult[:, 0] = lam, centre / lam
        self._rescale()

    @staticmethod
    def _incidence(n_classes: int) -> Floats:
        return incidence(n_classes)

    def place(self, coef: Floats, lam: float, centre: float) -> None:
        self.slack[:, 0], self.slack[:, 1:] = lam, self.pairs.incidence @ coef
        self.mult = _central(self.slack, centre)
        self._rescale()

    def parts(self) -> tuple[Floats, Floats]:
        """Slacks and multipliers for an iteration in one call."""
        return self.slack[None], self.mult[None]

    def put_parts(self, slack: Floats, mult: Floats) -> None:
        """What such an iteration made of them; it scales for itself."""
        self.slack, self.mult = slack[0], mult[0]

    def _rescale(self) -> None:
        self.w, self.size = _scaling_point(self.slack, self.mult)
        self.scaled = self._times(self.mult)

    def _times(self, rows: Floats) -> Floats:
        """W rows."""
        product: Floats = _scaled(rows, self.w, self.size, 1.0)
        return product

    def _over(self, rows: Floats) -> Floats:
        """W^-1 rows."""
        quotient: Floats = _scaled(rows, self.w, 1 / self.size, -1.0)
        return quotient

    def complementarity(self) -> float:
        return float(np.vdot(self.slack, self.mult))

    def add_curvature(self, to: Curvature) -> None:
        size = self.size[:, None]
        head, tail = self.w[:, :1], self.w[:, 1:] / size
        stiff = 1 / size**2
        self.pairs.add(to, np.broadcast_to(stiff, tail.shape), np.sqrt(2.0) * tail)
        corner = float((stiff * (2 * head**2 - 1)).sum())
        self.pairs.add_lam(to, -2 * head / size * tail, corner)

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
        return self.pairs.gather(target[:, 1:]), float(target[:, 0].sum())

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

    def barrier_after(self, step: RowStep, length: float) -> float:
        """-1/2 sum log det slack after a primal step."""
        return float(_barrier(self.slack + length * step.slack))

    def advance(self, step: RowStep, by: Lengths) -> None:
        self.slack = self.slack + by.primal * step.slack
        self.mult = self.mult + by.dual * step.mult
        self._rescale()

    def gradient(self) -> Floats:
        return self.pairs.gather(self.mult[:, 1:])

    def flow(self) -> Floats | None:
        return self.mult[:, 1:]


class SingleClasses(SecondOrder):
    """The triangle bound lam >= 2 ||M_i||: a cone a class, which no shift leaves alone."""

    fixes_gauge = True

    @staticmethod
    def _incidence(n_classes: int) -> Floats:
        return 2 * np.eye(n_classes)

    def flow(self) -> None:
        return None


@compiled
def _det(row):  # type: ignore[no-untyped-def]
    """u' J u of one row; positive in exact arithmetic, and kept so in floating point."""
    square = 0.0
    for d in range(1, len(row)):
        square += row[d] * row[d]
    length = np.sqrt(square)
    return max((row[0] - length) * (row[0] + length), 1e-32 * row[0] * row[0])


@compiled
def _barrier(rows):  # type: ignore[no-untyped-def]
    total = 0.0
    for k in range(len(rows)):
        total -= np.log(_det(rows[k])) / 2
    return total


@compiled
def _scaling_point(slack, mult):  # type: ignore[no-untyped-def]
    """w (K, 1 + T) of determinant 1 and the sizes b (K,)."""
    w = np.empty_like(slack)
    size = np.empty(len(slack))
    for k in range(len(slack)):
        slack_size, mult_size = np.sqrt(_det(slack[k])), np.sqrt(_det(mult[k]))
        size[k] = np.sqrt(slack_size / mult_size)
        for d in range(slack.shape[1]):
            sign = 1.0 if d == 0 else -1.0
            w[k, d] = slack[k, d] / slack_size + sign * mult[k, d] / mult_size
        w[k] /= np.sqrt(_det(w[k]))
    return w, size


@compiled
def _central(slack, centre):  # type: ignore[no-untyped-def]
    """The multipliers whose product with the slacks is the centre: centre J r / det r."""
    mult = -slack
    for k in range(len(slack)):
        mult[k, 0] = slack[k, 0]
        mult[k] *= centre / _det(slack[k])
    return mult


@compiled
def _scaled(rows, w, size, sign):  # type: ignore[no-untyped-def]
    """W rows (sign 1, sizes b) or W^-1 rows (sign -1, sizes 1/b)."""
    out = np.empty_like(rows)
    n_columns = rows.shape[1]
    for k in range(len(rows)):
        along = 0.0
        for d in range(1, n_columns):
            along += w[k, d] * rows[k, d]
        bend = along / (1 + w[k, 0]) + sign * rows[k, 0]
        out[k, 0] = size[k] * (w[k, 0] * rows[k, 0] + sign * along)
        for d in range(1, n_columns):
            out[k, d] = size[k] * (rows[k, d] + w[k, d] * bend)
    return out


@compiled
def _product(left, right):  # type: ignore[no-untyped-def]
    """The cone's Jordan product (u.v, u_0 v_1 + v_0 u_1)."""
    out = np.empty_like(left)
    for k in range(len(left)):
        out[k, 0] = 0.0
        for d in range(left.shape[1]):
            out[k, 0] += left[k, d] * right[k, d]
        for d in range(1, left.shape[1]):
            out[k, d] = left[k, 0] * right[k, d] + right[k, 0] * left[k, d]
    return out


@compiled
def _quotient(rows, divisor):  # type: ignore[no-untyped-def]
    """x whose product with ``divisor`` is ``rows``."""
    out = np.empty_like(rows)
    for k in range(len(rows)):
        dot = 0.0
        for d in range(1, rows.shape[1]):
            dot += divisor[k, d] * rows[k, d]
        out[k, 0] = (divisor[k, 0] * rows[k, 0] - dot) / _det(divisor[k])
        for d in range(1, rows.shape[1]):
            out[k, d] = (rows[k, d] - out[k, 0] * divisor[k, d]) / divisor[k, 0]
    return out


@compiled
def _longest(rows, change):  # type: ignore[no-untyped-def]
    """Largest t with rows + t change in the cone, from each row's own frame."""
    worst = 0.0
    for k in range(len(rows)):
        size = np.sqrt(_det(rows[k]))
        head = rows[k, 0] * change[k, 0]
        for d in range(1, rows.shape[1]):
            head -= rows[k, d] * change[k, d]
        head /= size * size
        share = (head + change[k, 0] / size) / (rows[k, 0] / size + 1)
        square = 0.0
        for d in range(1, rows.shape[1]):
            tail = (change[k, d] - share * rows[k, d]) / size
            square += tail * tail
        worst = max(worst, np.sqrt(square) - head)
    return 1.0 / worst if worst > 0 else np.inf
