"""The certified bound of the first-order method.

The repair is that of ``problem.certificate``.  Where the free columns are many, its linear
systems are solved without a dense (C E)-sized array.  sigma(G) comes from the norm's own
multipliers (``norms``).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...arrays import Floats
from ...problem import Multipliers, RobustProblem
from ...problem.certificate.multipliers import MultiplierSource, RowMultipliers
from ...problem.certificate.repair import Repair, repaired
from ...problem.certificate.smooth import RowTangents, Tangents
from ...problem.certificate.trusted_masses import RowMasses, TrustedMasses
from .layout import Layout
from .samples import Duals, SampleArrays
from .settings import FIRST_ORDER


class Feasible(NamedTuple):
    """Multipliers that meet the equalities, and their sums; G as a table (T, C)."""

    repair: Repair
    gradient: Floats
    on_flips: float
    value: float

    def bound(self, problem: RobustProblem, polar: float) -> float:
        """The bound after scaling into the budget."""
        spent = polar + self.on_flips
        share = 1.0 if spent <= problem.radius else problem.radius / spent
        return share * self.value

    def multipliers(self, flow: Floats | None) -> Multipliers | Tangents:
        """Copies, because the next epoch changes the method's own arrays."""
        rows = self.repair.rows()
        if isinstance(rows, RowTangents):
            return Tangents(rows.loss, rows.points.copy(), rows.masses, flow)
        if isinstance(rows, RowMasses):
            none = np.broadcast_to(0.0, rows.alpha.shape)
            return Multipliers(rows.alpha, none, none, flow)
        assert isinstance(rows, RowMultipliers)
        return Multipliers(*rows, flow)


def feasible(problem: RobustProblem, layout: Layout, duals: Duals) -> Feasible | None:
    """Feasible multipliers near ``duals``; None if the equalities are out of reach."""
    unknowns = layout.free.shape[1] * problem.n_classes
    small = unknowns <= FIRST_ORDER.max_dense_unknowns
    found = repaired(problem, _source(problem, duals), "dense" if small else "products")
    if found is None:
        return None
    sums = found.complete_sums
    gradient = (np.asarray(sums.gradient)[:, layout.touchable] * layout.touch_scale).T
    return Feasible(found, np.ascontiguousarray(gradient), sums.on_flips, sums.value)


def _source(problem: RobustProblem, duals: Duals) -> MultiplierSource:
    alpha, phi, beta = duals
    if problem.loss.temperature > 0:
        return Tangents(problem.loss, alpha, phi)
    if len(phi) == 0:
        return TrustedMasses(alpha)
    return Multipliers(alpha, phi, beta)


def spending(rows: SampleArrays, phi: Floats) -> float:
    """sum k phi."""
    if len(rows.cost) == 0:
        return 0.0
    return float((np.where(np.isfinite(rows.cost), rows.cost, 0.0) * phi).sum())
