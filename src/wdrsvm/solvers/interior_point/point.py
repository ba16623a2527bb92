r"""A primal-dual point of a problem in the solver's units.

The problem may have a linear term: the sum over rows that are fixed to one piece of their
loss.  Then the problem is

    min  eps lam + <linear, M> + sum_n w_n s_n

over the other rows, with the same constraints.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ...arrays import Codes, Floats
from ...problem import Multipliers, RobustProblem
from ...problem.certificate.gap import allowed_gap
from ..cones.choice import norm_multipliers, starting_cone
from ..cones.kernels import native
from ..cones.settings import CONES
from ..cones.wide_system import WideSteps, is_wide
from ..scaling import Scaling


@dataclass(frozen=True, eq=False)
class ScaledData:
    """The problem in the solver's units.

    All terms of the objective are multiplied by ``mass``, the number of rows, so that
    weights and multipliers are of order one.  ``columns`` (Q, N) has one row per feature,
    so that vectors run over samples.
    """

    scaling: Scaling
    columns: Floats
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
        """The problem in the solver's units.

        ``linear`` (C, Q) is the gradient in M of the rows that are fixed to a piece, and
        ``flips_fixed`` is minus their gradient in lam, both in the solver's units.
        """
        mass = problem.n_rows / float(problem.weight.sum())
        if linear is None:
            linear = np.zeros((problem.n_classes, scaling.n_columns))
        return cls(
            scaling=scaling,
            columns=np.ascontiguousarray(scaling.design(problem.X).T),
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


class Iterate:
    """A primal-dual point: coef (C, Q), lam, s, h, the samples' rows, the norm's cone.

    It starts at M = 0.
    """

    def __init__(self, data: ScaledData, norm: str, most_lam: float = CONES.max_start_lam):
        self.data = data
        shape = data.linear.shape
        self.cone, lam = starting_cone(
            norm, shape, data.n_touchable, data.kappa, data.radius, 1.0, most_lam
        )
        self.rows = native.SampleRows(data.y, data.weight, data.kappa)
        self.rows.start(lam)
        self.is_wide = is_wide(self.cone, len(data.y), shape)
        parts = data.columns, self.rows, self.cone, np.append(data.linear, data.radius)
        self.engine: Any = native.PrimalDual(*parts, data.mass, self._given_system())
        self.put(np.zeros(shape), lam)

    def _given_system(self) -> WideSteps | None:
        data = self.data
        if not self.is_wide:
            return None
        return WideSteps(self.rows, self.cone, data.columns, data.kappa, data.y)

    def put(self, coef: Floats, lam: float) -> None:
        """Set other coefficients; the caller must set the slacks that belong to them."""
        self.engine.put(coef, lam)

    @property
    def coef(self) -> Floats:
        coef: Floats = self.engine.coef
        return coef

    @property
    def lam(self) -> float:
        return float(self.engine.lam)

    @property
    def degree(self) -> float:
        """Number of complementarity products."""
        return float(self.engine.degree)

    @property
    def objective(self) -> float:
        return float(self.engine.objective)

    @property
    def gap(self) -> float:
        """The duality gap according to complementarity."""
        return float(self.engine.gap)

    @property
    def is_stuck(self) -> bool:
        """Whether rounding prevents progress."""
        return bool(self.engine.is_stuck)

    def is_near(self, tol: float) -> bool:
        """Whether the gap is at most ``tol`` of the objective."""
        return self.gap <= allowed_gap(tol, self.objective)

    def multipliers(self) -> Multipliers:
        """The multipliers in the problem's units."""
        mult = self.rows.multipliers() / self.data.mass
        norm = norm_multipliers(self.cone, self.data.scaling, self.data.mass)
        return Multipliers(mult[0], mult[2], mult[1], *norm)

    def run(self, max_steps: int, tol: float) -> Floats:
        """Iterate until the gap is at most ``tol`` of the objective, the point is stuck or
        the steps are used up.

        Returns one line per iteration: objective, gap, seconds since the call.
        """
        lines: Floats = self.engine.run(max_steps, tol)
        return lines

    def restore(self) -> None:
        """Bring the multipliers back to their equalities, which rounding has left."""
        self.engine.restore()
