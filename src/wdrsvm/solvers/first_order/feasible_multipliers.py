"""The certified bound of the first-order method.

The repair is that of ``problem.certificate``.  Where the free columns are many, its linear
systems are solved without a dense (C E)-sized array.  Of a hinge whose labels cannot be
flipped it sees only the rows that are not at rest (``moving_masses``).  sigma(G) comes from
the norm's own multipliers (``norms``).
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple, cast

import numpy as np
from scipy import sparse

from ...arrays import Codes, Floats, Matrix
from ...problem import Multipliers, RobustProblem
from ...problem.certificate.equalities import Equalities
from ...problem.certificate.multipliers import MultiplierSource, RowMultipliers
from ...problem.certificate.repair import Repair, TiltSolver, repaired
from ...problem.certificate.smooth import RowTangents, Tangents
from ...problem.certificate.trusted_masses import RowMasses, TrustedMasses
from .layout import Layout
from .moving_masses import balanced
from .places_of_rows.masses import moving_rows, with_rows
from .samples import Duals, SampleArrays
from .settings import FIRST_ORDER


class Feasible(NamedTuple):
    """Multipliers that meet the equalities, and their sums; G as a table (T, C).

    ``rest`` are the masses of all rows, if the repair saw only ``moving`` ones.
    """

    repair: Repair
    gradient: Floats
    on_flips: float
    value: float
    moving: Codes | None = None
    rest: Matrix | None = None

    def bound(self, problem: RobustProblem, polar: float) -> float:
        """The bound after scaling into the budget."""
        spent = polar + self.on_flips
        share = 1.0 if spent <= problem.radius else problem.radius / spent
        return share * self.value

    def multipliers(self, flow: Floats | None) -> Multipliers | TrustedMasses | Tangents:
        """Copies, because the next epoch changes the method's own arrays."""
        if self.moving is not None and sparse.issparse(self.rest):
            return TrustedMasses(with_rows(self.rest, self.moving, self._few_masses()))
        rows = self.repair.rows()
        if isinstance(rows, RowTangents):
            return Tangents(rows.loss, rows.points.copy(), rows.masses, flow)
        if isinstance(rows, RowMasses):
            alpha = rows.alpha
            if self.rest is not None:
                alpha = self.rest.copy()
                alpha[self.moving] = rows.alpha
            none = np.broadcast_to(0.0, alpha.shape)
            return Multipliers(alpha, none, none, flow)
        assert isinstance(rows, RowMultipliers)
        return Multipliers(*rows, flow)

    def _few_masses(self) -> sparse.csr_array:
        """The masses of the moving rows, of which only those of a block are ever dense."""
        blocks = (cast(RowMasses, part).alpha for part in self.repair.blocks_of_rows())
        return sparse.vstack([sparse.csr_array(each) for each in blocks], format="csr")


def feasible(problem: RobustProblem, layout: Layout, duals: Duals) -> Feasible | None:
    """Feasible multipliers near ``duals``; None if the equalities are out of reach."""
    if (quick := _of_moving_rows(problem, layout, duals)) is not None:
        return quick
    unknowns = layout.free.shape[1] * problem.n_classes
    small = unknowns <= FIRST_ORDER.max_dense_unknowns
    few = sparse.issparse(duals.alpha)
    solver: TiltSolver = "dense" if small or few else "products"
    found = repaired(problem, _source(problem, duals), solver)
    if found is None:
        return None
    every = np.arange(problem.n_rows) if few else None
    return _with_sums(found, layout)._replace(moving=every, rest=duals.alpha)


def _with_sums(found: Repair, layout: Layout) -> Feasible:
    on_flips, totals = found.sums.on_flips, found.totals
    return Feasible(found, layout.gradient(totals.gradient), on_flips, totals.value)


def _of_moving_rows(
    problem: RobustProblem, layout: Layout, duals: Duals
) -> Feasible | None:
    """The same from the rows of a hinge that are not at rest, if these are all it takes."""
    alpha, phi, _ = duals
    many = problem.n_rows * problem.n_classes >= FIRST_ORDER.least_moving_entries
    if not many or problem.loss.temperature > 0 or len(phi) or len(layout.fixed):
        return None
    moving = moving_rows(alpha, problem.y)
    if len(moving) == 0:
        return None
    n_copied = len(moving) * problem.n_features
    few = len(moving) <= FIRST_ORDER.max_moving_share * problem.n_rows
    if not few or n_copied > FIRST_ORDER.max_moving_entries:
        moving, part = np.arange(problem.n_rows), problem
    else:
        part = problem.take(moving)
    masses = alpha[moving]
    masses = masses.maximum(0.0) if sparse.issparse(masses) else np.maximum(masses, 0.0)
    if problem.fit_intercept:
        masses = balanced(masses, part.weight, part.y)
    equalities = Equalities.of(part, np.zeros(problem.n_features, dtype=bool))
    # The dense system is summed only if the masses are not balanced yet.
    found = Repair(part, TrustedMasses(masses), equalities, solver="products")
    if not found.is_feasible:
        found = replace(found, solver="dense").balanced()
    if not found.is_feasible:
        return None
    return _with_sums(found, layout)._replace(moving=moving, rest=alpha)


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
