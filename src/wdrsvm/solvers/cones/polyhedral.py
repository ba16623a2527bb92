r"""The norm constraint lam >= ||M_i - M_j||_* in the interior point, for each norm.

A cone keeps its slacks and multipliers and offers the moves of a primal-dual method: a
goal, the right-hand side and curvature it puts on (M, lam), and the step that belongs to
a step of (M, lam).  Here ``M`` has shape (C, T): the touchable features, already divided by
their costs.  Pairs i < j are K = C (C - 1) / 2 rows.
"""

from __future__ import annotations

from copy import copy
from typing import Any, Protocol

import numpy as np

from ...arrays import Floats
from ...problem.norms import incidence
from .complementarity import Lengths, Rows, RowStep
from .sample_rows import compiled
from .wide_system import ByFeature, box_by_feature, sums_by_feature


class Curvature:
    """The normal matrix as a cone sees it: touchable coefficients (C, T) and lam."""

    def __init__(self, matrix: Floats, n_classes: int, n_columns: int, n_touchable: int):
        self.matrix, self.n_columns = matrix, n_columns
        self.lam = n_classes * n_columns
        grid = np.arange(self.lam).reshape(n_classes, n_columns)
        self.index = grid[:, :n_touchable].ravel()

    def add_coef(self, block: Floats) -> None:
        self.matrix[np.ix_(self.index, self.index)] += block

    def add_lam(self, coupling: Floats, corner: float) -> None:
        self.matrix[self.index, self.lam] += coupling.ravel()
        self.matrix[self.lam, self.index] += coupling.ravel()
        self.matrix[self.lam, self.lam] += corner


class Cone(Protocol):
    """A norm constraint.  ``degree`` counts its complementarity products, ``fixes_gauge``
    says whether it tells M from M shifted by one vector in all classes; goals and steps
    are the cone's own objects, handed back to it as they came."""

    degree: int
    fixes_gauge: bool

    def place(self, coef: Floats, lam: float, centre: float) -> None: ...
    def complementarity(self) -> float: ...
    def add_curvature(self, to: Curvature) -> None: ...
    def goal(self, centre: float, predicted: Any = None) -> Any: ...
    def recentred(self, goal: Any, step: Any, centre: float, to: Lengths) -> Any: ...
    def rhs(self, goal: Any) -> tuple[Floats, float]: ...
    def step_for(self, goal: Any, d_coef: Floats, d_lam: float) -> Any: ...
    def lengths(self, step: Any) -> Lengths: ...
    def complementarity_after(self, step: Any, by: Lengths) -> float: ...
    def barrier_after(self, step: Any, length: float) -> float: ...
    def advance(self, step: Any, by: Lengths) -> None: ...
    def flow(self) -> Floats | None: ...
    def gradient(self) -> Floats: ...


class Absent(Rows):
    """No constraint: nothing is priced by lam, and its step is kept at zero."""

    degree = 0
    fixes_gauge = False

    def __init__(self) -> None:
        super().__init__(np.empty(0), np.empty(0))

    def place(self, coef: Floats, lam: float, centre: float) -> None:
        pass

    def add_curvature(self, to: Curvature) -> None:
        to.matrix[to.lam, to.lam] += 1.0

    def rhs(self, goal: Floats) -> tuple[Floats, float]:
        return np.zeros((1, 0)), 0.0

    def step_for(self, goal: Floats, d_coef: Floats, d_lam: float) -> RowStep:
        return self.step(goal, np.empty(0))

    def gradient(self) -> Floats:
        return np.zeros((1, 0))

    def flow(self) -> None:
        return None


class Floor(Rows):
    """lam >= 0, where no feature can be moved but labels can be flipped."""

    degree = 1
    fixes_gauge = False

    def __init__(self, lam: float, centre: float):
        super().__init__(np.array([lam]), np.array([centre / lam]))

    def place(self, coef: Floats, lam: float, centre: float) -> None:
        self.put(np.array([lam]), centre)

    def add_curvature(self, to: Curvature) -> None:
        to.matrix[to.lam, to.lam] += self.spring[0]

    def rhs(self, goal: Floats) -> tuple[Floats, float]:
        return np.zeros((1, 0)), float((goal / self.slack)[0])

    def step_for(self, goal: Floats, d_coef: Floats, d_lam: float) -> RowStep:
        return self.step(goal, np.array([d_lam]))

    def gradient(self) -> Floats:
        return np.zeros((1, 0))

    def flow(self) -> None:
        return None


@compiled
def _box_rhs(goal, slack):  # type: ignore[no-untyped-def]
    pull = np.empty(goal.shape[1:])
    on_lam = 0.0
    for j in range(goal.shape[1]):
        for d in range(goal.shape[2]):
            above, below = goal[0, j, d] / slack[0, j, d], goal[1, j, d] / slack[1, j, d]
            pull[j, d] = above - below
            on_lam += (above + below) / 2
    return pull, on_lam


@compiled
def _box_step(goal, slack, mult, d_coef, d_lam):  # type: ignore[no-untyped-def]
    d_slack, d_mult = np.empty_like(goal), np.empty_like(goal)
    for side in range(2):
        sign = 1.0 - 2.0 * side
        for j in range(goal.shape[1]):
            for d in range(goal.shape[2]):
                change = d_lam / 2 + sign * d_coef[j, d]
                aimed = (goal[side, j, d] - mult[side, j, d] * change) / slack[side, j, d]
                d_slack[side, j, d] = change
                d_mult[side, j, d] = aimed - mult[side, j, d]
    return d_slack, d_mult


@compiled
def add_box_curvature(matrix, slack, mult, n_columns):  # type: ignore[no-untyped-def]
    """Add the box's curvature in (M, lam) to the normal matrix."""
    _, n_classes, n_touchable = slack.shape
    lam = n_classes * n_columns
    for j in range(n_classes):
        for d in range(n_touchable):
            above, below = mult[0, j, d] / slack[0, j, d], mult[1, j, d] / slack[1, j, d]
            k = j * n_columns + d
            matrix[k, k] += above + below
            matrix[k, lam] += (above - below) / 2
            matrix[lam, k] += (above - below) / 2
            matrix[lam, lam] += (above + below) / 4


class Box(Rows):
    r"""l1 transport: |M_jd| <= lam / 2 in a suitable gauge is "every column range <= lam".

    Rows (2, C, T): lam/2 + M and lam/2 - M.
    """

    fixes_gauge = True

    def __init__(self, n_classes: int, n_touchable: int, lam: float, centre: float):
        slack = np.full((2, n_classes, n_touchable), lam / 2)
        super().__init__(slack, centre / slack)
        self.degree = slack.size
        self.signs = np.empty((0, n_classes))

    def parts(self) -> tuple[Floats, Floats]:
        """Slacks and multipliers for an iteration in one call."""
        return self.slack, self.mult

    def put_parts(self, slack: Floats, mult: Floats) -> None:
        self.slack, self.mult = slack, mult

    def place(self, coef: Floats, lam: float, centre: float) -> None:
        self.put(np.stack([lam / 2 + coef, lam / 2 - coef]), centre)

    def add_curvature(self, to: Curvature) -> None:
        add_box_curvature(to.matrix, self.slack, self.mult, to.n_columns)

    def by_feature(self, least: float) -> ByFeature:
        return box_by_feature(self.spring, least)

    def rhs(self, goal: Floats) -> tuple[Floats, float]:
        pull: tuple[Floats, float] = _box_rhs(goal, self.slack)
        return pull

    def step_for(self, goal: Floats, d_coef: Floats, d_lam: float) -> RowStep:
        return RowStep(*_box_step(goal, self.slack, self.mult, d_coef, d_lam))

    def gradient(self) -> Floats:
        above, below = self.mult
        return np.asarray(above - below)

    def flow(self) -> None:
        return None


class Combinations:
    """Combinations of the classes' coefficients, the differences M_i - M_j above all, and
    the curvature that constraints on them put on M."""

    def __init__(self, incidence: Floats):
        self.incidence = incidence
        self.n_rows, self.n_classes = incidence.shape
        outer = incidence[:, :, None] * incidence[:, None, :]
        self.outer = np.ascontiguousarray(outer.reshape(self.n_rows, -1).T)

    def gather(self, rows: Floats) -> Floats:
        """What rows (K, T) on the combinations are on the classes (C, T)."""
        return np.asarray(self.incidence.T @ rows)

    def add(self, to: Curvature, diagonal: Floats, square: Floats) -> None:
        """sum over rows u of u' diag(diagonal) u + (square . u)^2."""
        n_touchable = diagonal.shape[1]
        spread = self.incidence[:, :, None] * square[:, None, :]
        spread = spread.reshape(self.n_rows, -1)
        block = spread.T @ spread
        shape = (self.n_classes, n_touchable)
        laplacians = (self.outer @ diagonal).reshape(self.n_classes, *shape)
        d = np.arange(n_touchable)
        block.reshape(*shape, *shape)[:, d, :, d] += laplacians.transpose(2, 0, 1)
        to.add_coef(block)

    def add_lam(self, to: Curvature, coupling: Floats, corner: float) -> None:
        to.add_lam(self.gather(coupling), corner)


class AbsoluteSums:
    r"""linf transport: u >= |M_i - M_j| entrywise and lam >= sum_d u for every pair.

    ``sides`` are the rows (2, K, T) u - diff, u + diff; ``caps`` the rows (K,) lam - sum u.
    With springs p, q of the sides and v of the caps, the curvature of u is the diagonal
    p + q plus v 11'; u is eliminated by the Sherman-Morrison formula.
    """

    fixes_gauge = False

    def __init__(self, n_classes: int, n_touchable: int, lam: float, centre: float):
        self.pairs = Combinations(incidence(n_classes))
        upper = lam / (n_touchable + 1)
        side = np.full((2, self.pairs.n_rows, n_touchable), upper)
        cap = np.full(self.pairs.n_rows, lam - n_touchable * upper)
        self.sides, self.caps = Rows(side, centre / side), Rows(cap, centre / cap)
        self.degree = side.size + cap.size

    def __copy__(self) -> AbsoluteSums:
        twin = object.__new__(AbsoluteSums)
        vars(twin).update(vars(self))
        twin.sides, twin.caps = copy(self.sides), copy(self.caps)
        return twin

    def place(self, coef: Floats, lam: float, centre: float) -> None:
        diff = self.pairs.incidence @ coef
        spare = (lam - np.abs(diff).sum(axis=1)) / (diff.shape[1] + 1)
        upper = np.abs(diff) + spare[:, None]
        self.sides.put(np.stack([upper - diff, upper + diff]), centre)
        self.caps.put(spare, centre)

    def complementarity(self) -> float:
        return self.sides.complementarity() + self.caps.complementarity()

    def add_curvature(self, to: Curvature) -> None:
        diagonal, ratio = self._springs()
        self.pairs.add(to, diagonal, np.sqrt(self.bend)[:, None] * ratio)
        self.pairs.add_lam(to, self.bend[:, None] * ratio, float(self.bend.sum()))

    def by_feature(self, least: float) -> ByFeature:
        """The curvature without a dense matrix, of differences ``least`` at least."""
        diagonal, ratio = self._springs()
        parts = self.pairs.incidence, diagonal + least, ratio, np.sqrt(self.bend)
        return sums_by_feature(*parts)

    def _springs(self) -> tuple[Floats, Floats]:
        """Stiffness (K, T) of the differences once u is eliminated, and what share of a
        difference u follows."""
        below, above = self.sides.spring
        self.stiff, self.twist = below + above, above - below
        self.cap_spring = self.caps.spring
        self.bend = self.cap_spring / (1 + self.cap_spring * (1 / self.stiff).sum(axis=1))
        ratio = self.twist / self.stiff
        # (p + q) - (q - p)^2 / (p + q), written so that nothing cancels
        return 4 * below * (above / self.stiff), ratio

    def _solve_upper(self, rhs: Floats) -> Floats:
        plain = rhs / self.stiff
        return np.asarray(plain - (self.bend * plain.sum(axis=1))[:, None] / self.stiff)

    def goal(self, centre: float, predicted: Any = None) -> tuple[Floats, Floats]:
        sides, caps = predicted if predicted is not None else (None, None)
        return self.sides.goal(centre, sides), self.caps.goal(centre, caps)

    def recentred(
        self, goal: Any, step: Any, centre: float, to: Lengths
    ) -> tuple[Floats, Floats]:
        return (
            self.sides.recentred(goal[0], step[0], centre, to),
            self.caps.recentred(goal[1], step[1], centre, to),
        )

    def _local(self, goal: Any) -> tuple[Floats, Floats, Floats]:
        """Target multipliers' pull on the differences and caps, and their part of u."""
        below, above = goal[0] / self.sides.slack
        cap = goal[1] / self.caps.slack
        return above - below, cap, self._solve_upper(below + above - cap[:, None])

    def rhs(self, goal: Any) -> tuple[Floats, float]:
        side, cap, upper = self._local(goal)
        on_lam = float((cap + self.cap_spring * upper.sum(axis=1)).sum())
        return self.pairs.gather(side - self.twist * upper), on_lam

    def step_for(self, goal: Any, d_coef: Floats, d_lam: float) -> tuple[RowStep, RowStep]:
        diff = self.pairs.incidence @ d_coef
        pull = (self.cap_spring * d_lam)[:, None] - self.twist * diff
        upper = self._local(goal)[2] + self._solve_upper(pull)
        return (
            self.sides.step(goal[0], np.stack([upper - diff, upper + diff])),
            self.caps.step(goal[1], d_lam - upper.sum(axis=1)),
        )

    def lengths(self, step: Any) -> Lengths:
        return self.sides.lengths(step[0]).meet(self.caps.lengths(step[1]))

    def complementarity_after(self, step: Any, by: Lengths) -> float:
        sides = self.sides.complementarity_after(step[0], by)
        return sides + self.caps.complementarity_after(step[1], by)

    def barrier_after(self, step: Any, length: float) -> float:
        sides = self.sides.barrier_after(step[0], length)
        return sides + self.caps.barrier_after(step[1], length)

    def advance(self, step: Any, by: Lengths) -> None:
        self.sides.advance(step[0], by)
        self.caps.advance(step[1], by)

    def gradient(self) -> Floats:
        return self.pairs.gather(self.flow())

    def flow(self) -> Floats:
        below, above = self.sides.mult
        return np.asarray(above - below)
