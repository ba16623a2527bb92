r"""The preconditioner: for each class a diagonal plus rank one, in one common basis.

The curvature of class c alone is  sum_n q_nc x_n x_n' + stiffness_c I,  which is

    s_c (W + m_c m_c') + stiffness_c I,

where s_c is the mass of q_nc, m_c the mean of x under it, and W, the spread around that
mean, is taken as that of all classes together.  In the eigenvectors of W this is a
diagonal plus rank one, and its inverse takes two matrix products for all classes at once.
The basis turns the touchable columns alone: lengths of differences stay as they are.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ....arrays import Floats
from .design import CurvatureSums
from .settings import PRODUCTS


@dataclass(frozen=True, eq=False)
class ClassCurvature:
    """``basis`` (Q, Q); ``spread`` and rank-one ``means`` of each class, both (C, Q) in the
    basis; ``floor``, the least stiffness."""

    basis: Floats
    spread: Floats
    means: Floats
    floor: float

    @classmethod
    def of(cls, sums: CurvatureSums, n_touchable: int) -> ClassCurvature:
        floor = PRODUCTS.least_stiffness * sums.mass.mean() + np.finfo(np.float64).tiny
        mass = np.maximum(sums.mass, floor)
        scaled = sums.first / np.sqrt(mass)[:, None]
        within = (sums.second - scaled.T @ scaled) / mass.sum()
        basis, spread = np.eye(len(within)), np.diag(within).copy()
        part = slice(n_touchable)
        spread[part], basis[part, part] = np.linalg.eigh(within[part, part])
        spread = mass[:, None] * np.maximum(spread, 0.0)
        return cls(basis, spread, scaled @ basis, float(floor))

    def times(self, step: Floats) -> Floats:
        """The curvature times a step (C, Q), both in the basis."""
        along = np.einsum("cq,cq->c", self.means, step)
        return np.asarray(self.spread * step + self.means * along[:, None])

    def inverse(self, stiffness: Floats, kind: Any = np.float64) -> ClassInverse:
        """With the norm's own ``stiffness`` (C,) added; in numbers of ``kind``."""
        diagonal = 1 / (self.spread + (stiffness + self.floor)[:, None])
        damped = diagonal * self.means
        factor = 1 / (1 + np.einsum("cq,cq->c", self.means, damped))
        parts = (diagonal, self.means, damped, factor)
        return ClassInverse(*(part.astype(kind) for part in parts))


@dataclass(frozen=True, eq=False)
class ClassInverse:
    """Inverse ``diagonal``, rank-one ``means`` and their ``damped`` images, each (C, Q) in
    the basis; ``factor`` (C,)."""

    diagonal: Floats
    means: Floats
    damped: Floats
    factor: Floats

    def __call__(self, gradient: Floats) -> Floats:
        step = self.diagonal * gradient
        along = np.einsum("cq,cq->c", self.means, step) * self.factor
        step -= self.damped * along[:, None]
        return step


@dataclass(frozen=True, eq=False)
class Preconditioner:
    """The inverse curvature in the solver's own columns."""

    basis: Floats
    inverse: ClassInverse

    @classmethod
    def of(
        cls, curvature: ClassCurvature, stiffness: Floats, kind: Any = np.float64
    ) -> Preconditioner:
        """``stiffness`` (C,) is the norm's own; steps are made in numbers of ``kind``."""
        inverse = curvature.inverse(stiffness, kind)
        return cls(curvature.basis.astype(kind), inverse)

    def __call__(self, gradient: Floats) -> Floats:
        step = self.inverse(gradient.astype(self.basis.dtype) @ self.basis)
        return np.asarray(step @ self.basis.T, dtype=np.float64)
