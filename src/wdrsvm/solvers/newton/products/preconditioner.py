r"""The preconditioner: for each class a diagonal plus rank one, in one common basis.

The curvature of class c alone is  sum_n q_nc x_n x_n' + stiffness_c I,  which is

    s_c (W + m_c m_c') + stiffness_c I,

where s_c is the mass of q_nc, m_c the mean of x under it, and W, the spread around that
mean, is taken as that of all classes together.  In the eigenvectors of W this is a
diagonal plus rank one, and its inverse takes two matrix products for all classes at once.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ....arrays import Floats
from .design import CurvatureSums
from .settings import PRODUCTS


@dataclass(frozen=True, eq=False)
class Preconditioner:
    """``basis`` (Q, Q); inverse ``diagonal``, rank-one ``means`` and their ``damped``
    images, each (C, Q) in the basis; ``factor`` (C,)."""

    basis: Floats
    diagonal: Floats
    means: Floats
    damped: Floats
    factor: Floats

    @classmethod
    def of(
        cls, sums: CurvatureSums, stiffness: Floats, kind: Any = np.float64
    ) -> Preconditioner:
        """``stiffness`` (C,) is the norm's own; steps are made in numbers of ``kind``."""
        floor = PRODUCTS.least_stiffness * sums.mass.mean() + np.finfo(np.float64).tiny
        mass = np.maximum(sums.mass, floor)
        scaled = sums.first / np.sqrt(mass)[:, None]
        spread, basis = np.linalg.eigh((sums.second - scaled.T @ scaled) / mass.sum())
        spread = np.maximum(spread, 0.0)
        diagonal = 1 / (mass[:, None] * spread + (stiffness + floor)[:, None])
        means = scaled @ basis
        damped = diagonal * means
        factor = 1 / (1 + (means * damped).sum(axis=1))
        parts = (basis, diagonal, means, damped, factor)
        return cls(*(part.astype(kind) for part in parts))

    def __call__(self, gradient: Floats) -> Floats:
        step = self.diagonal * (gradient.astype(self.basis.dtype) @ self.basis)
        along = (self.means * step).sum(axis=1) * self.factor
        found = (step - self.damped * along[:, None]) @ self.basis.T
        return np.asarray(found, dtype=np.float64)
