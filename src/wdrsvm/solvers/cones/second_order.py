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

from ...arrays import Floats
from ...problem.norms import incidence
from .complementarity import Lengths, RowStep
from .polyhedral import Combinations, Curvature
from .sample_rows import compiled


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
        quotient: Floats = _over(rows, self.w, self.size)
        return quotient

    def complementarity(self) -> float:
        return float(np.vdot(self.slack, self.mult))

    def add_curvature(self, to: Curvature) -> None:
        add_cone_curvature(to.matrix, self.w, self.size, self.signs, to.n_columns)

    def goal(self, centre: float, predicted: RowStep | None = None) -> Floats:
        if predicted is None:
            predicted = RowStep(np.zeros_like(self.slack), np.zeros_like(self.mult))
        wanted: Floats = cone_goal(centre, *predicted, self.w, self.size)
        return wanted

    def recentred(self, goal: Floats, step: RowStep, centre: float, to: Lengths) -> Floats:
        """Unchanged: pairs are few, and their eigenvalues stay central enough."""
        return goal

    def rhs(self, goal: Floats) -> tuple[Floats, float]:
        pull: tuple[Floats, float] = cone_rhs(goal, *self._frame)
        return pull

    def step_for(self, goal: Floats, d_coef: Floats, d_lam: float) -> RowStep:
        moved = np.ascontiguousarray(d_coef)
        return RowStep(*cone_step(goal, self.mult, *self._frame, moved, d_lam))

    @property
    def _frame(self) -> tuple[Floats, Floats, Floats, Floats]:
        return self.w, self.size, self.scaled, self.signs

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
        unit = 1.0 / np.sqrt(_det(w[k]))
        for d in range(slack.shape[1]):
            w[k, d] *= unit
    return w, size


@compiled
def _central(slack, centre):  # type: ignore[no-untyped-def]
    """The multipliers whose product with the slacks is the centre: centre J r / det r."""
    mult = np.empty_like(slack)
    for k in range(len(slack)):
        share = centre / _det(slack[k])
        for d in range(slack.shape[1]):
            mult[k, d] = share * (slack[k, d] if d == 0 else -slack[k, d])
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
def _over(rows, w, size):  # type: ignore[no-untyped-def]
    """W^-1 rows."""
    inverse = np.empty_like(size)
    for k in range(len(size)):
        inverse[k] = 1.0 / size[k]
    return _scaled(rows, w, inverse, -1.0)


@compiled
def cone_goal(centre, d_slack, d_mult, w, size):  # type: ignore[no-untyped-def]
    """The centre everywhere, less the second-order term of a predicted step."""
    goal = _product(_over(d_slack, w, size), _scaled(d_mult, w, size, 1.0))
    for k in range(len(goal)):
        for d in range(goal.shape[1]):
            goal[k, d] = (centre if d == 0 else 0.0) - goal[k, d]
    return goal


@compiled
def cone_target(goal, w, size, scaled):  # type: ignore[no-untyped-def]
    """The multipliers that a goal asks for at unchanged slacks."""
    return _over(_quotient(goal, scaled), w, size)


@compiled
def cone_rhs(goal, w, size, scaled, signs):  # type: ignore[no-untyped-def]
    """What a goal puts on (M, lam)."""
    target = cone_target(goal, w, size, scaled)
    pull, on_lam = np.zeros((signs.shape[1], goal.shape[1] - 1)), 0.0
    for k in range(len(goal)):
        on_lam += target[k, 0]
        for i in range(len(pull)):
            if signs[k, i] != 0.0:
                for d in range(pull.shape[1]):
                    pull[i, d] += signs[k, i] * target[k, 1 + d]
    return pull, on_lam


@compiled
def cone_step(goal, mult, w, size, scaled, signs, d_coef, d_lam):  # type: ignore[no-untyped-def]
    """Steps of slacks and multipliers that belong to a step of (M, lam)."""
    d_slack = np.zeros(mult.shape)
    for k in range(len(mult)):
        d_slack[k, 0] = d_lam
        for i in range(len(d_coef)):
            if signs[k, i] != 0.0:
                for d in range(d_coef.shape[1]):
                    d_slack[k, 1 + d] += signs[k, i] * d_coef[i, d]
    return d_slack, mult_step(goal, mult, d_slack, w, size, scaled)


@compiled
def mult_step(goal, mult, d_slack, w, size, scaled):  # type: ignore[no-untyped-def]
    """The step of the multipliers that belongs to one of the slacks."""
    step = cone_target(goal, w, size, scaled)
    relaxed = _over(_over(d_slack, w, size), w, size)
    for k in range(len(step)):
        for d in range(step.shape[1]):
            step[k, d] -= mult[k, d] + relaxed[k, d]
    return step


@compiled
def add_cone_curvature(matrix, w, size, signs, n_columns):  # type: ignore[no-untyped-def]
    """Add the curvature W^-2 of the cones, in (M, lam), to the normal matrix.

    Row k of ``signs`` holds the classes' shares in cone k, most of which are zero.
    """
    n_cones, n_classes = signs.shape
    n_touchable = w.shape[1] - 1
    lam = n_classes * n_columns
    for k in range(n_cones):
        stiff = 1.0 / (size[k] * size[k])
        head = w[k, 0]
        matrix[lam, lam] += stiff * (2 * head * head - 1)
        for i in range(n_classes):
            if signs[k, i] == 0.0:
                continue
            for d in range(n_touchable):
                row = i * n_columns + d
                coupling = -2 * head * stiff * w[k, d + 1] * signs[k, i]
                matrix[row, lam] += coupling
                matrix[lam, row] += coupling
                for j in range(n_classes):
                    if signs[k, j] == 0.0:
                        continue
                    both = signs[k, i] * signs[k, j] * stiff
                    matrix[row, j * n_columns + d] += both
                    bend = 2 * both * w[k, d + 1]
                    for e in range(n_touchable):
                        matrix[row, j * n_columns + e] += bend * w[k, e + 1]


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
