"""The curvature of each class in the solver's own columns: a diagonal plus low rank."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .....arrays import Floats
from ..curvature.heavy_rows import HeavyRows
from ..curvature.preconditioner import (
    ClassCurvature,
    ClassInverse,
    out_of_basis,
    squares_times,
)
from ..curvature.sums import CurvatureSums
from ..settings import PRODUCTS


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
        basis, mass = turned.basis, turned.total
        assert basis is not None
        spread = turned.spread[0] / mass[0]
        first = max(0, n_touchable - cls.n_axes(len(mass)))
        axes = (basis * np.sqrt(spread))[:, first:n_touchable].T
        rest = np.maximum(basis**2 @ spread - (axes**2).sum(axis=0), 0.0)
        own = replace(
            turned,
            basis=None,
            spread=mass[:, None] * rest,
            means=out_of_basis(turned.means, basis),
        )
        # In single precision an inverse loses its digits beside a diagonal that is tiny.
        second = sums.second
        squares = np.diag(second) if second.ndim == 2 else basis**2 @ second
        least = PRODUCTS.least_rest * squares / mass.sum()
        return cls(own, axes, least)

    @staticmethod
    def n_axes(n_classes: int) -> int:
        """How many axes are taken at most."""
        return PRODUCTS.axes

    def moved(self, mass: Floats, first: Floats) -> AxisCurvature:
        """With other sums of the curvature, and W as it was."""
        return replace(self, of_classes=self.of_classes.moved(mass, first))

    def matrix(self, kind: Any, heavy: HeavyRows | None) -> ClassMatrix:
        """In numbers of ``kind``, with the ``heavy`` rows as they are."""
        light, parts = self.of_classes, []
        if heavy is not None:
            light = light.without(heavy.curvature, heavy.rows)
            parts = [heavy.rows * np.sqrt(heavy.curvature)[:, :, None]]
        along = np.sqrt(light.total)[:, None, None] * self.axes
        joined = np.hstack([*parts, light.means, along])
        least = self.of_classes.total[:, None] * self.least + light.floor
        return ClassMatrix((light.spread + least).astype(kind), joined.astype(kind))


@dataclass(frozen=True, eq=False)
class ClassMatrix:
    """diagonal + parts' parts  for each class: ``diagonal`` (C, Q), ``parts`` (C, R, Q)."""

    diagonal: Floats
    parts: Floats

    def times(self, step: Floats) -> Floats:
        """The product with a step (C, Q)."""
        step = step.astype(self.parts.dtype)
        found = self.diagonal * step + squares_times(self.parts, step)
        return np.asarray(found, np.float64)

    def inverse(self, stiffness: Floats, along: Floats) -> ClassInverse:
        """With the norm's own ``stiffness`` (C, Q) added, and the squares of the rows
        ``along`` (C, R, Q)."""
        kind = self.diagonal.dtype
        diagonal = 1 / (self.diagonal + stiffness.astype(kind))
        parts = np.hstack([self.parts, along.astype(kind)])
        return ClassInverse.of(diagonal, parts, np.zeros(len(diagonal)))
