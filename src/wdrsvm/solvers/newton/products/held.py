r"""Steps where the norm holds some coefficients and leaves others free.

With the l1 norm a coefficient at the bound is held.  With the linf norm, in a column, a
class that is tied to others is held by its pairs.  So the norm adds a stiffness for every
coefficient, and no common basis makes both the spread W of the rows and this stiffness a
diagonal.  W is taken as its first principal axes and the diagonal of the rest, in the
solver's own columns: for each class again a diagonal plus low rank (``preconditioner``).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ....arrays import Floats
from ....problem import RobustProblem
from .choice import single_flip_cost
from .design import CurvatureSums
from .heavy_rows import HeavyRows
from .preconditioner import ClassCurvature, ClassInverse, Preconditioner
from .settings import PRODUCTS
from .steps import Descent


@dataclass(frozen=True, eq=False)
class AxisCurvature:
    """The curvature ``of_classes`` without the ``axes`` (K, Q) of W, of which each class
    has as much as it has of the mass; and ``least`` (Q,), what is added to every diagonal
    for each unit of mass."""

    of_classes: ClassCurvature
    axes: Floats
    least: Floats

    @classmethod
    def of(cls, sums: CurvatureSums, n_touchable: int) -> AxisCurvature:
        turned = ClassCurvature.of(sums, n_touchable)
        basis, mass = turned.basis, turned.mass
        assert basis is not None
        spread = turned.spread[0] / mass[0]
        first = max(0, n_touchable - PRODUCTS.axes)
        axes = (basis * np.sqrt(spread))[:, first:n_touchable].T
        rest = np.maximum(basis**2 @ spread - (axes**2).sum(axis=0), 0.0)
        own = replace(
            turned,
            basis=None,
            spread=mass[:, None] * rest,
            means=turned.means @ basis.T,
        )
        # In single precision an inverse loses its digits beside a diagonal that is tiny.
        least = PRODUCTS.least_rest * np.diag(sums.second) / mass.sum()
        return cls(own, axes, least)

    def moved(self, mass: Floats, first: Floats) -> AxisCurvature:
        """With other sums of the curvature, and W as it was."""
        return replace(self, of_classes=self.of_classes.moved(mass, first))

    def matrix(self, kind: Any, heavy: HeavyRows | None) -> ClassMatrix:
        """In numbers of ``kind``, with the ``heavy`` rows as they are."""
        light, parts = self.of_classes, []
        if heavy is not None:
            light = light.without(heavy.curvature, heavy.rows)
            parts = [heavy.rows * np.sqrt(heavy.curvature)[:, :, None]]
        along = np.sqrt(light.mass)[:, None, None] * self.axes
        joined = np.hstack([*parts, light.means[:, None], along])
        least = self.of_classes.mass[:, None] * self.least + light.floor
        return ClassMatrix((light.spread + least).astype(kind), joined.astype(kind))


@dataclass(frozen=True, eq=False)
class ClassMatrix:
    """diagonal + parts' parts  for each class: ``diagonal`` (C, Q), ``parts`` (C, R, Q)."""

    diagonal: Floats
    parts: Floats

    def times(self, step: Floats) -> Floats:
        """The product with a step (C, Q)."""
        step = step.astype(self.parts.dtype)[:, :, None]
        back = self.parts.transpose(0, 2, 1) @ (self.parts @ step)
        return np.asarray((self.diagonal[:, :, None] * step + back)[:, :, 0], np.float64)

    def inverse(self, stiffness: Floats) -> ClassInverse:
        """With the norm's own ``stiffness`` (C, Q) added."""
        diagonal = 1 / (self.diagonal + stiffness.astype(self.diagonal.dtype))
        return ClassInverse.of(diagonal, self.parts, np.zeros(len(diagonal)))


class HeldDescent(Descent):
    """Steps that may know how much the norm holds each coefficient."""

    matrix: ClassMatrix

    def __init__(self, *told: Any, knows_entries: bool = False, **more: Any):
        self.knows_entries = knows_entries
        if knows_entries:
            self.curvature_kind = AxisCurvature
        super().__init__(*told, **more)

    @property
    def held(self) -> Floats:
        """How much the norm holds each touchable coefficient (C, T)."""
        raise NotImplementedError

    def _preconditioner(self, heavy: HeavyRows | None) -> Preconditioner:
        if not self.knows_entries:
            return super()._preconditioner(heavy)
        assert isinstance(self.curvature, AxisCurvature)
        self.matrix = self.curvature.matrix(self.design.kind, heavy)
        return self._stiffened()

    def hold(self) -> None:
        """Let the preconditioner follow what the norm holds at the point."""
        if self.knows_entries:
            self.precondition = self._stiffened()

    def _stiffened(self) -> Preconditioner:
        stiffness = np.zeros_like(self.coef)
        stiffness[:, : self.n_touchable] = self.radius * self.held
        return Preconditioner(None, self.matrix.inverse(stiffness))


def knows_entries(problem: RobustProblem, n_columns: int) -> bool:
    """Whether steps should know how much the norm holds each coefficient.

    A pass over the rows must take longer than what this needs, and the first principal axes
    must tell most of the rows.  Flips of labels change what the norm holds.
    """
    n_classes, n_rows = problem.n_classes, problem.n_rows
    trusted = single_flip_cost(problem) == np.inf
    is_wide = n_columns > PRODUCTS.most_columns * n_classes
    enough = n_rows >= PRODUCTS.model_rows * (n_classes + 50)
    work = n_rows * n_classes * n_columns
    return trusted and enough and not is_wide and work >= PRODUCTS.least_work
