r"""A primal-dual point of a bounded problem and its predictor-corrector step.

Rows with slacks r and multipliers, K pairs of classes, N samples:

    loss    r = s_n - 1 - design_n . v_k + lam toll_kn      (K, N)
    floor   r = s_n                                         (N,)
    sides   r = -sides v_k                                  (K, S)
    cone    r = cone v_k, in a second-order cone            (K, 1 + T)

The variables are coef (C, Q) with the intercepts in the last column, lam, s, and the own
variables of each pair.  s is eliminated sample by sample.  Points stay primal feasible.
Dual infeasibility vanishes with the first full step.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ....arrays import Codes, Floats
from ....problem import RobustProblem
from ....problem.bounded.plan_sums import PairPlan
from ...cones.kernels import native
from .evaluation import BoundedEvaluation
from .gauges import hold_gauges
from .layout import BoundedLayout, add_local
from .products import subtract_square

# Positions of the families of rows.
LOSS, FLOOR, SIDES, CONES = range(4)


class Step(NamedTuple):
    """A direction in coef (C, Q), lam, own (K, A) and s (N,).

    Each family keeps the direction of its slacks and multipliers.
    """

    coef: Floats
    lam: float
    own: Floats
    s: Floats


class FixedRows(NamedTuple):
    """Rows whose loss is replaced by one of its linear pieces: their loss is

    constant + sum_k pull_k . v_k - lam flips,  with ``pull`` (K, V).
    """

    constant: float
    pull: Floats
    flips: float


class BoundedPoint:
    """coef, lam, own and s with the four families of rows."""

    def __init__(
        self,
        layout: BoundedLayout,
        problem: RobustProblem,
        fixed: FixedRows | None = None,
        first_lam: float = 1.0,
    ):
        weight, radius, n_classes = problem.weight, problem.radius, problem.n_classes
        self.layout, self.fixed = layout, fixed
        self.design = layout.design(problem.moves.rows)
        toll = self._tolls(problem)
        self.mass = len(weight) / float(weight.sum())
        self.weight, self.radius = weight * self.mass, radius * self.mass
        self.coef = np.zeros((n_classes, layout.n_shared))
        start = first_lam * layout.start
        self.lam = float(start[layout.columns["lam"]][0])
        self.own = np.tile(start[layout.columns["lam"].stop :], (layout.n_pairs, 1))
        self.possible = np.isfinite(toll)
        self.toll = np.where(self.possible, toll, 0.0)
        self._place()
        self.steps = native.Steps()

    def _tolls(self, problem: RobustProblem) -> Floats:
        """The label cost of each row of losses; infinite if the label is impossible."""
        return np.asarray(problem.label_price()[:, self.layout.label].T)

    def _place(self) -> None:
        """Set s above all losses, and central multipliers.

        The distance of s to the losses makes the multipliers of a sample sum to about its
        weight.
        """
        lay = self.layout
        local = self.layout.local(self.coef, self.lam, self.own)
        losses = np.where(self.possible, self._net_losses(local, self.lam), 0.0)
        self.s = losses.max(axis=0, initial=0.0) + (len(losses) + 1) / self.weight
        slack = np.where(self.possible, self.s - losses, 1.0)
        sides = -local @ lay.sides.T
        self.families: list[Any] = [
            native.LinearRows(slack, np.where(self.possible, 1.0 / slack, 0.0)),
            native.LinearRows(self.s, 1.0 / self.s),
            native.LinearRows(sides, 1.0 / sides),
        ]
        if len(lay.cone):
            self.families.append(native.ConicRows(local @ lay.cone.T, 1.0))
        self.moves = [native.Moves(family) for family in self.families]
        self.degree = sum(family.degree for family in self.families)

    def slacks(self) -> list[Floats]:
        """The slacks of each family, in the shape of the family."""
        return [self._shaped(k, family.rows()[0]) for k, family in enumerate(self.families)]

    def mults(self) -> list[Floats]:
        """The multipliers of each family, in the shape of the family."""
        return [self._shaped(k, family.rows()[1]) for k, family in enumerate(self.families)]

    def _shaped(self, family: int, rows: Floats) -> Floats:
        """Rows of a family with one line per pair; of the floor as (N,)."""
        return rows if family == FLOOR else rows.reshape(self.layout.n_pairs, -1)

    def _net_losses(self, local: Floats, lam: float) -> Floats:
        """Losses minus lam toll."""
        return 1 + self._losses(local, lam)

    def _losses(self, local: Floats, lam: float) -> Floats:
        """design . v - lam toll, (K, N)."""
        return np.asarray(local @ self.design.T - lam * self.toll)

    def _masses(self, loss: Floats) -> Floats:
        """Multipliers of the losses as masses of the pairs, (K, N)."""
        return loss

    @property
    def objective(self) -> float:
        free = (self.radius * self.lam + float(self.weight @ self.s)) / self.mass
        if self.fixed is None:
            return free
        local = self.layout.local(self.coef, self.lam, self.own)
        linear = float((self.fixed.pull * local).sum()) - self.lam * self.fixed.flips
        return free + self.fixed.constant + linear

    @property
    def gap(self) -> float:
        return self._products() / self.mass

    @property
    def is_stuck(self) -> bool:
        return bool(self.steps.is_stuck(self.gap))

    def predictor_corrector(self) -> None:
        """One iteration of Mehrotra's method.

        The rules are those of the compiled step (``cones.native.step_rules``).  The loop is
        not: rows belong to pairs of classes here, and Python forms their linear system.
        """
        self._factorise()
        for moves in self.moves:
            moves.aim(0.0)
        self._direct()
        primal, dual = self._longest()
        after = self._products_after(min(primal, 1.0), min(dual, 1.0))
        centre = self.steps.centre(self._products(), after, self.degree)
        for moves in self.moves:
            moves.aim_after_step(centre)
        step = self._recentred(self._direct(), centre)
        by = self.steps.lengths(*self._longest())
        if np.isfinite(self._products_after(*by)):
            self._advance(step, *by)
        else:
            # Rounding has spoilt the linear system: stop at this point.
            self.steps.stop()

    def _recentred(self, step: Step, centre: float) -> Step:
        """The step, or the one that is corrected towards the centre, if that is longer."""
        lengths = self._longest()
        reach = self.steps.reach_of(*lengths)
        if self.steps.goes_all_the_way(reach):
            return step
        goals = [moves.goal for moves in self.moves]
        for moves in self.moves:
            moves.recentre(centre, *self.steps.longer_lengths(*lengths))
        corrected = self._direct()
        if self.steps.is_longer(self.steps.reach_of(*self._longest()), reach):
            return corrected
        for moves, goal in zip(self.moves, goals, strict=True):
            moves.goal = goal
        return self._direct()

    def _factorise(self) -> None:
        for moves in self.moves:
            moves.prepare()
        spring, floor, sides = (self._shaped(k, self._spring(k)) for k in range(3))
        self.stiffness = spring.sum(axis=0) + floor
        n_global = self.coef.size + 1 + self.own.size
        matrix = np.zeros((n_global, n_global))
        self.coupling = np.zeros((len(self.s), n_global))
        self._add_sides(matrix, sides)
        self._add_losses(matrix, spring)
        subtract_square(matrix, self.coupling / np.sqrt(self.stiffness)[:, None])
        hold_gauges(matrix, self.layout, len(self.coef))
        self.system = native.NormalSystem(matrix)

    def _add_sides(self, matrix: Floats, springs: Floats) -> None:
        """Add the curvature of the pairs' constraints, of sides with springs (K, S)."""
        lay = self.layout
        cone_stiffness = self.families[CONES].stiffness() if len(lay.cone) else None
        for k in range(lay.n_pairs):
            gram = lay.sides.T @ (springs[k][:, None] * lay.sides)
            if cone_stiffness is not None:
                gram += lay.cone.T @ cone_stiffness[k] @ lay.cone
            add_local(matrix, gram, *self._places(k))

    def _add_losses(self, matrix: Floats, spring: Floats) -> None:
        """Add the curvature of the losses' rows, and their coupling with s."""
        for k in range(self.layout.n_pairs):
            design = self._pair_design(k)
            pulled = spring[k][:, None] * design
            add_local(matrix, design.T @ pulled, *self._places(k))
            self._scatter_columns(self.coupling, pulled, k)

    def _spring(self, family: int) -> Floats:
        slack, mult = self.families[family].rows()
        return np.asarray(mult / slack)

    def _pair_design(self, k: int) -> Floats:
        design = self.design.copy()
        design[:, self.layout.columns["lam"]] -= self.toll[k][:, None]
        return design

    def _places(self, k: int) -> tuple[slice, slice, Codes]:
        """Positions of pair k's differences and other variables in the global vector."""
        lay, width = self.layout, self.coef.shape[1]
        first, second = int(lay.winner[k]) * width, int(lay.label[k]) * width
        own = self.coef.size + 1 + k * lay.n_own + np.arange(lay.n_own)
        others = np.concatenate([[self.coef.size], own])
        return slice(first, first + width), slice(second, second + width), others

    def _scatter_columns(self, target: Floats, columns: Floats, k: int) -> None:
        plus, minus, others = self._places(k)
        n = self.layout.n_shared
        target[:, plus] += columns[:, :n]
        target[:, minus] -= columns[:, :n]
        target[:, others] += columns[:, n:]

    def _direct(self) -> Step:
        """The Newton direction towards the families' goals."""
        lay = self.layout
        targets = [self._shaped(k, moves.targets()) for k, moves in enumerate(self.moves)]
        gradient = self._gradient(targets)
        on_s = self.weight - targets[LOSS].sum(axis=0) - targets[FLOOR]
        rhs = -gradient - self.coupling.T @ (on_s / self.stiffness)
        solution = self.system.solve(rhs)
        d_s = (self.coupling @ solution - on_s) / self.stiffness
        size = self.coef.size
        d_coef = solution[:size].reshape(self.coef.shape)
        d_lam, d_own = float(solution[size]), solution[size + 1 :].reshape(self.own.shape)
        local = self.layout.local(d_coef, d_lam, d_own)
        self.d_loss = np.where(self.possible, d_s - self._losses(local, d_lam), 0.0)
        changes = [self.d_loss, d_s, -local @ lay.sides.T, local @ lay.cone.T]
        for moves, change in zip(self.moves, changes, strict=False):
            moves.find_given_step(change)
        return Step(d_coef, d_lam, d_own, d_s)

    def _gradient(self, mults: list[Floats]) -> Floats:
        """The Lagrangian's gradient in (coef, lam, own) at given multipliers."""
        lay, (loss, _, sides, *cones) = self.layout, mults
        pull = self._masses(loss) @ self.design + sides @ lay.sides
        if cones:
            pull -= cones[0] @ lay.cone
        flips = float((self.toll * loss).sum())
        if self.fixed is not None:
            pull = pull + self.mass * self.fixed.pull
            flips += self.mass * self.fixed.flips
        gradient = np.zeros((1, self.coef.size + 1 + self.own.size))
        gradient[0, self.coef.size] = self.radius - flips
        for k in range(lay.n_pairs):
            self._scatter_columns(gradient, pull[[k]], k)
        return np.asarray(gradient[0])

    def plan(self, evaluation: BoundedEvaluation) -> PairPlan:
        """The adversary's transport plan, from the multipliers."""
        loss, _, *others = (mult / self.mass for mult in self.mults())
        return evaluation.plan(self.layout, loss, others)

    def _longest(self) -> tuple[float, float]:
        """The largest primal and dual lengths of the families' steps."""
        primal, dual = np.min([moves.lengths for moves in self.moves], axis=0)
        return float(primal), float(dual)

    def _products(self) -> float:
        """The sum of all products of slack and multiplier."""
        return float(sum(moves.complementarity for moves in self.moves))

    def _products_after(self, primal: float, dual: float) -> float:
        """The same after steps of these lengths."""
        after = (moves.complementarity_after(primal, dual) for moves in self.moves)
        return float(sum(after))

    def _advance(self, step: Step, primal: float, dual: float) -> None:
        self.coef = self.coef + primal * step.coef
        self.lam += primal * step.lam
        self.own = self.own + primal * step.own
        self.s = self.s + primal * step.s
        for moves in self.moves:
            moves.advance(primal, dual)
