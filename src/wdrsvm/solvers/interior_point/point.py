r"""The engine of the interior point: a primal-dual point and its predictor-corrector step.

The problem may carry a linear term: a sum over rows that have been fixed to one of their
pieces, which leaves

    min  eps lam + <linear, M> + sum_n w_n s_n

over the rows that are left, with the same constraints.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ...arrays import Codes, Floats
from ...problem import Multipliers, RobustProblem
from ..cones import sample_rows
from ..cones.choice import MAX_START_LAM, norm_multipliers, normal_system, starting_cone
from ..cones.complementarity import Lengths, Rows, RowStep
from ..cones.normal_system import NormalSystem
from ..cones.polyhedral import AbsoluteSums, Box
from ..cones.second_order import SecondOrder
from ..cones.wide_system import WideSystem, least_curvature, row_roots
from ..newton.gram import gram_in_parts
from ..scaling import Scaling
from .compiled_step import iterate

# A step goes this share of the way to the boundary.
STEP_SHARE = 0.995
SHORT_STEP = 1e-3
MAX_SHORT_STEPS = 5
# Centrality correctors an iteration, and the extra length each must promise.
MAX_CORRECTORS = 1
LONGER = 0.2
# Up to this many unknowns calls cost more than what BLAS would save.
MAX_COMPILED_UNKNOWNS = 400
# So many times as many unknowns as directions of the rows make a wide system pay.
WIDE = 2


@dataclass(frozen=True, eq=False)
class ScaledData:
    """The problem in the solver's units.

    Everything that adds up to the objective is multiplied by ``mass``, the number of
    rows, so that weights and multipliers are of order one.
    """

    scaling: Scaling
    X: Floats
    y: Codes
    kappa: Floats
    weight: Floats
    radius: float
    linear: Floats
    mass: float

    @classmethod
    def of(
        cls,
        problem: RobustProblem,
        scaling: Scaling,
        linear: Floats | None = None,
        flips_fixed: float = 0.0,
    ) -> ScaledData:
        """``linear`` (C, Q) and ``flips_fixed`` are what rows fixed to a piece add to the
        gradient in M and, with a minus sign, in lam, both in the solver's units."""
        mass = problem.n_rows / float(problem.weight.sum())
        if linear is None:
            linear = np.zeros((problem.n_classes, scaling.n_columns))
        return cls(
            scaling=scaling,
            X=scaling.design(problem.X),
            y=problem.y,
            kappa=problem.attainable_flip_cost() / scaling.unit,
            weight=problem.weight * mass,
            radius=(problem.radius / scaling.unit - flips_fixed) * mass,
            linear=linear * mass,
            mass=mass,
        )

    @property
    def n_touchable(self) -> int:
        return self.scaling.n_touchable


class Step(NamedTuple):
    """A direction in all variables, with the goals it was computed for."""

    coef: Floats
    lam: float
    s: Floats
    h: Floats
    rows: RowStep
    cone: Any
    row_goal: Floats
    cone_goal: Any
    lengths: Lengths

    @property
    def reach(self) -> float:
        return min(1.0, self.lengths.primal) + min(1.0, self.lengths.dual)


class Iterate:
    """A primal-dual point: coef (C, Q), lam, s, h, the samples' rows, the norm's cone."""

    def __init__(self, data: ScaledData, norm: str, most_lam: float = MAX_START_LAM):
        self.data, self.y = data, data.y
        self.coef = np.zeros_like(data.linear)
        size = len(data.linear), data.n_touchable
        self.cone, self.lam = starting_cone(
            norm, *size, data.kappa, data.radius, centre=1.0, most=most_lam
        )
        slack, mult, self.s, self.h = sample_rows.start_rows(
            data.weight, data.kappa, self.y, self.lam
        )
        self.rows = Rows(slack, mult)
        self.degree = np.count_nonzero(self.rows.exists) + self.cone.degree
        self.n_short_steps = 0
        self.system: NormalSystem | WideSystem

    @property
    def objective(self) -> float:
        data = self.data
        fixed = data.radius * self.lam + float(np.vdot(data.linear, self.coef))
        return (fixed + float(data.weight @ self.s)) / data.mass

    @property
    def gap(self) -> float:
        """The duality gap, as far as complementarity alone tells."""
        return self.complementarity() / self.data.mass

    def multipliers(self) -> Multipliers:
        """The multipliers in the problem's units."""
        alpha, beta, phi = self.rows.mult / self.data.mass
        norm = norm_multipliers(self.cone, self.data.scaling, self.data.mass)
        return Multipliers(alpha, phi, beta, *norm)

    def complementarity(self) -> float:
        return self.rows.complementarity() + self.cone.complementarity()

    @property
    def is_stuck(self) -> bool:
        """Whether rounding has taken over: five steps in a row led nowhere, or
        complementarity is past what numbers of this size can tell."""
        return self.n_short_steps >= MAX_SHORT_STEPS or self.gap <= 1e-17

    def predictor_corrector(self) -> None:
        """One iteration."""
        cone, small = self.cone, self.coef.size <= MAX_COMPILED_UNKNOWNS
        if small and isinstance(cone, (Box, SecondOrder)):
            by = self._in_one_call(cone)
        else:
            by = self._step_by_step()
        if by is None:
            self.n_short_steps = MAX_SHORT_STEPS
            return
        self.n_short_steps = self.n_short_steps + 1 if min(by) < SHORT_STEP else 0

    def _in_one_call(self, cone: Box | SecondOrder) -> Lengths | None:
        """On small problems most of the time is that of calls: here is one.

        None, and no move, if an overflow left a direction without numbers.
        """
        data, rows = self.data, self.rows
        (coef, lam, s, h, slack, mult, *norm, p, q) = iterate(
            data.X, data.y, data.kappa, data.weight, data.radius, data.linear,
            cone.signs, cone.fixes_gauge, self.degree, (STEP_SHARE, LONGER),
            self.coef, self.lam, self.s, self.h, rows.slack, rows.mult, *cone.parts(),
        )  # fmt: skip
        if not _is_finite(coef, lam):
            return None
        self.coef, self.lam, self.s, self.h = coef, lam, s, h
        rows.slack, rows.mult = slack, mult
        cone.put_parts(*norm)
        return Lengths(p, q)

    def _step_by_step(self) -> Lengths | None:
        self._factorise()
        now = self.complementarity()
        predicted = self._direct(self.rows.goal(0.0), self.cone.goal(0.0))
        reached = self._complementarity_after(predicted, _capped(predicted.lengths, 1.0))
        centre = min(reached / now, 1.0) ** 3 * now / self.degree
        step = self._direct(
            self.rows.goal(centre, predicted.rows), self.cone.goal(centre, predicted.cone)
        )
        step = self._recentred(step, centre)
        if not _is_finite(step.coef, step.lam):
            return None
        by = _capped(step.lengths, STEP_SHARE)
        self._advance(step, by)
        return by

    @property
    def is_wide(self) -> bool:
        """Whether the rows resist in far fewer directions than there are unknowns."""
        n_classes, n_columns = self.coef.shape
        return bool(WIDE * len(self.y) * (n_classes + 1) < n_classes * n_columns)

    def _factorise(self) -> None:
        data, rows = self.data, self.rows
        self.spring = rows.spring
        curvature, self.sums = sample_rows.eliminate(self.spring, data.kappa, self.y)
        if isinstance(self.cone, (Box, AbsoluteSums)) and self.is_wide:
            roots = row_roots(self.spring, self.sums, data.kappa, self.y)
            norm = self.cone.by_feature(least_curvature(roots, data.X))
            self.system = WideSystem(roots, data.X, norm)
            return
        matrix = gram_in_parts(curvature, data.X)
        self.system = normal_system(matrix, self.cone, self.coef.shape, data.n_touchable)

    def _direct(self, row_goal: Floats, cone_goal: Any) -> Step:
        """The Newton direction towards the goals."""
        data, rows = self.data, self.rows
        target = row_goal / rows.slack
        rhs, rhs_lam, local = sample_rows.reduced_rhs(
            target, self.spring, self.sums, data.kappa, self.y, data.weight
        )
        cone_rhs, cone_lam = self.cone.rhs(cone_goal)
        whole = np.empty(self.coef.size + 1)
        coef_rhs = whole[:-1].reshape(self.coef.shape)
        np.subtract(rhs.T @ data.X, data.linear, out=coef_rhs)
        coef_rhs[:, : data.n_touchable] += cone_rhs
        whole[-1] = rhs_lam + cone_lam - data.radius
        solution = self.system.solve(whole)
        d_coef, d_lam = solution[:-1].reshape(self.coef.shape), float(solution[-1])
        d_slack, d_mult, d_s, d_h = sample_rows.step_rows(
            data.X @ d_coef.T, d_lam, local, target,
            rows.slack, rows.mult, self.spring, self.sums, data.kappa, self.y,
        )  # fmt: skip
        row_step = RowStep(d_slack, d_mult)
        cone_step = self.cone.step_for(cone_goal, d_coef[:, : data.n_touchable], d_lam)
        lengths = self.cone.lengths(cone_step).meet(rows.lengths(row_step))
        return Step(
            d_coef, d_lam, d_s, d_h, row_step, cone_step, row_goal, cone_goal, lengths
        )

    def _recentred(self, step: Step, centre: float) -> Step:
        """Gondzio's correctors: keep each that lengthens the step, stop at the first
        that does not."""
        for _ in range(MAX_CORRECTORS):
            if step.reach >= 2.0:
                break
            aspired = _capped(Lengths(*(x + LONGER for x in step.lengths)), 1 + LONGER)
            trial = self._direct(
                self.rows.recentred(step.row_goal, step.rows, centre, aspired),
                self.cone.recentred(step.cone_goal, step.cone, centre, aspired),
            )
            if trial.reach < step.reach + LONGER / 8:
                break
            step = trial
        return step

    def _complementarity_after(self, step: Step, by: Lengths) -> float:
        after = self.rows.complementarity_after(step.rows, by)
        return after + self.cone.complementarity_after(step.cone, by)

    def _advance(self, step: Step, by: Lengths) -> None:
        self.coef = self.coef + by.primal * step.coef
        self.lam += by.primal * step.lam
        self.s = self.s + by.primal * step.s
        self.h = self.h + by.primal * step.h
        self.rows.advance(step.rows, by)
        self.cone.advance(step.cone, by)


def _is_finite(coef: Floats, lam: float) -> bool:
    return bool(np.isfinite(lam)) and bool(np.isfinite(coef).all())


def _capped(lengths: Lengths, share: float) -> Lengths:
    return Lengths(min(1.0, share * lengths.primal), min(1.0, share * lengths.dual))
