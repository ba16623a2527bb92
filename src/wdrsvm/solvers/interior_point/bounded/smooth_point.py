r"""A primal-dual point of a bounded problem with a smooth loss.

The winners of a label have one common, smooth constraint.  With L labels and N samples,

    loss    r = s_n - f_cn + lam toll_cn,   f_cn = T logsumexp_j(score_cj(n) / T)   (L, N)

takes the place of the constraints by pairs (``point.py``), where score_cj is 1 or 0 plus
design_n . v_k, and score_cc = 0.  Its derivatives are softmaxes q of the winners.  A step
linearises f; afterwards s is raised by what f, which is convex, exceeds its linear form.
"""

from __future__ import annotations

import numpy as np

from ....arrays import Codes, Floats
from ....problem import RobustProblem
from ....problem.bounded.plan_sums import PairPlan
from ...cones.kernels import native
from ..settings import INTERIOR_POINT
from .evaluation import BoundedEvaluation
from .layout import BoundedLayout, add_local
from .point import FLOOR, LOSS, BoundedPoint, Step
from .products import subtract_square


class SmoothBoundedPoint(BoundedPoint):
    """The same point, with one row of losses per label."""

    def __init__(
        self, layout: BoundedLayout, problem: RobustProblem, first_lam: float = 1.0
    ):
        self.labels, self.line = np.unique(layout.label, return_inverse=True)
        self.loss, self.n_classes = problem.loss, problem.n_classes
        super().__init__(layout, problem, first_lam=first_lam)

    def _tolls(self, problem: RobustProblem) -> Floats:
        return np.asarray(problem.label_price()[:, self.labels].T)

    def _shaped(self, family: int, rows: Floats) -> Floats:
        if family == LOSS:
            return rows.reshape(len(self.labels), -1)
        return super()._shaped(family, rows)

    def _pairs(self) -> list[Codes]:
        """The pairs of each label."""
        return [np.flatnonzero(self.line == c) for c in range(len(self.labels))]

    def _net_losses(self, local: Floats, lam: float) -> Floats:
        """f - lam toll (L, N); also sets the shares of the winners, (K, N)."""
        scores = local @ self.design.T + self.loss.margin
        temperature, found = self.loss.temperature, np.empty(self.toll.shape)
        self.share, self.staying = np.empty_like(scores), np.empty_like(found)
        for c, pairs in enumerate(self._pairs()):
            top = np.maximum(scores[pairs].max(axis=0), 0.0)
            powers = np.exp((scores[pairs] - top) / temperature)
            stay = np.exp(-top / temperature)
            total = powers.sum(axis=0) + stay
            found[c] = top + temperature * np.log(total)
            self.share[pairs], self.staying[c] = powers / total, stay / total
        return np.asarray(found - lam * self.toll)

    def _losses(self, local: Floats, lam: float) -> Floats:
        """The change of the losses by a small change of the variables, (L, N)."""
        by_pair = self.share * (local @ self.design.T)
        found = np.array([by_pair[pairs].sum(axis=0) for pairs in self._pairs()])
        return np.asarray(found - lam * self.toll)

    def _masses(self, loss: Floats) -> Floats:
        return np.asarray(self.share * loss[self.line])

    def _add_losses(self, matrix: Floats, spring: Floats) -> None:
        """Add the curvature of the losses' rows, and of the losses themselves."""
        bend = self.mults()[LOSS] / self.loss.temperature
        for c, pairs in enumerate(self._pairs()):
            mean = np.zeros_like(self.coupling)
            for k in pairs:
                shared = self.share[k][:, None] * self.design
                gram = self.design.T @ (bend[c][:, None] * shared)
                add_local(matrix, gram, *self._places(k))
                self._scatter_columns(mean, shared, k)
            subtract_square(matrix, np.sqrt(bend[c])[:, None] * mean)
            mean[:, self.coef.size] -= self.toll[c]
            matrix += mean.T @ (spring[c][:, None] * mean)
            self.coupling += spring[c][:, None] * mean

    def _advance(self, step: Step, primal: float, dual: float) -> None:
        """Advance by one length; by a shorter one if the losses bend too much."""
        # Curvature couples variables and multipliers: they need one common length.
        length, origin = min(primal, dual), (self.coef, self.lam, self.own, self.s)
        allowed = INTERIOR_POINT.bending * self._products()
        for _ in range(INTERIOR_POINT.max_halvings):
            self.coef, self.lam = (
                origin[0] + length * step.coef,
                origin[1] + length * step.lam,
            )
            self.own, self.s = origin[2] + length * step.own, origin[3] + length * step.s
            local = self.layout.local(self.coef, self.lam, self.own)
            net = self._net_losses(local, self.lam)
            lift = self._lift(net, length)
            if self.weight @ lift <= allowed:
                break
            length *= 0.5
        for moves in self.moves:
            moves.advance(length, length)
        self._raise(lift, net)

    def _lift(self, net: Floats, length: float) -> Floats:
        """By how much the losses exceed their linear forms after a step, (N,)."""
        linear = self.slacks()[LOSS] + length * self.d_loss
        bent = np.where(self.possible, linear - (self.s - net), 0.0)
        return np.asarray(bent.max(axis=0, initial=0.0))

    def _raise(self, lift: Floats, net: Floats) -> None:
        """Raise s, so that all slacks of the losses are those of the true losses."""
        self.s = self.s + lift
        loss, floor = self.mults()[LOSS], self.mults()[FLOOR]
        # Rounding may take a slack below that of the linear form, even to zero.
        slack = np.maximum(np.where(self.possible, self.s - net, 1.0), self.slacks()[LOSS])
        self.families[LOSS] = native.LinearRows(slack, loss)
        self.families[FLOOR] = native.LinearRows(self.s, floor)
        for family in (LOSS, FLOOR):
            self.moves[family] = native.Moves(self.families[family])

    def plan(self, evaluation: BoundedEvaluation) -> PairPlan:
        loss, _, *others = (mult / self.mass for mult in self.mults())
        masses, stays = self._masses(loss), np.zeros((self.n_classes, loss.shape[1]))
        stays[self.labels] = loss * self.staying
        plan = evaluation.plan(self.layout, masses, others)
        return plan.with_stays(self.n_classes, np.vstack([masses, stays]))
