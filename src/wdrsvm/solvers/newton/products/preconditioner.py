r"""The preconditioner: for each class a diagonal plus low rank, in one common basis.

The curvature of class c alone is  sum_n q_nc x_n x_n' + stiffness_c I.  A few heavy rows
may stand in it as they are.  All others are taken as

    s_c (W + m_c m_c') + stiffness_c I,

where s_c is the mass of their q_nc, m_c the mean of x under it, and W, the spread around
that mean, is taken as that of all classes together.  In the eigenvectors of W this is a
diagonal plus low rank, and its inverse takes few matrix products for all classes at once.
The basis turns the touchable columns alone: lengths of differences stay as they are.  Where
the columns are principal axes, W is taken as a diagonal, and no basis is needed.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ....arrays import Floats
from .design import CurvatureSums
from .heavy_rows import HeavyRows
from .settings import PRODUCTS


@dataclass(frozen=True, eq=False)
class ClassCurvature:
    """``basis`` (Q, Q), or None for the columns as they are; ``spread`` and rank-one
    ``means`` of each class, both (C, Q) in the basis; ``mass`` (C,) of the curvature in
    them; ``floor``, the least stiffness."""

    basis: Floats | None
    spread: Floats
    means: Floats
    mass: Floats
    floor: float

    @classmethod
    def of(cls, sums: CurvatureSums, n_touchable: int) -> ClassCurvature:
        floor = PRODUCTS.least_stiffness * sums.mass.mean() + np.finfo(np.float64).tiny
        mass = np.maximum(sums.mass, floor)
        om = np.clip(sums.own_mass, floor, None); rm = np.maximum(sums.mass - sums.own_mass, floor)
        means = np.stack([sums.own_first / np.sqrt(om)[:, None], (sums.first - sums.own_first) / np.sqrt(rm)[:, None]], axis=1)
        flat = means.reshape(-1, means.shape[2])
        if sums.second.ndim == 1:
            basis, spread = None, sums.second - np.einsum("cq,cq->q", flat, flat)
        else:
            basis, spread = _eigenvectors(sums.second - flat.T @ flat, n_touchable)
        spread = (mass / mass.sum())[:, None] * np.maximum(spread, 0.0)
        return cls(basis, spread, into_basis(means, basis), mass, float(floor))

    def of_kind(self, kind: Any) -> ClassCurvature:
        """In numbers of ``kind``, but for the basis."""
        parts = (part.astype(kind) for part in (self.spread, self.means, self.mass))
        spread, means, mass = parts
        return replace(self, spread=spread, means=means, mass=mass)

    def moved(self, mass: Floats, first: Floats) -> ClassCurvature:
        """With other sums of the curvature, and the spread W as it was."""
        mass = np.maximum(mass, self.floor)
        spread = self.spread * (mass / self.mass)[:, None]
        means = (into_basis(first, self.basis) / np.sqrt(mass)[:, None])[:, None]
        return replace(self, spread=spread, means=means, mass=mass)

    def without(self, curvature: Floats, rows: Floats) -> ClassCurvature:
        """Of all but these ``rows`` (C, k, Q), in the basis, with ``curvature`` (C, k)."""
        mass = np.maximum(self.mass - curvature.sum(axis=1), self.floor)
        assert self.means.shape[1] == 1
        first = np.sqrt(self.mass)[:, None] * self.means[:, 0]
        first -= np.einsum("ck,ckq->cq", curvature, rows)
        spread = self.spread * (mass / self.mass)[:, None]
        means = (first / np.sqrt(mass)[:, None])[:, None]
        return replace(self, spread=spread, means=means, mass=mass)

    def times(self, step: Floats) -> Floats:
        """The curvature times a step (C, Q), both in the basis."""
        along = np.einsum("crq,cq->cr", self.means, step)
        return np.asarray(self.spread * step + np.einsum("crq,cr->cq", self.means, along))

    def inverse(
        self, stiffness: Floats, kind: Any = np.float64, heavy: HeavyRows | None = None
    ) -> ClassInverse:
        """With the norm's own ``stiffness`` (C,) added; in numbers of ``kind``."""
        light, parts = self, self.means.astype(kind)
        if heavy is not None:
            rows = into_basis(heavy.rows, self.basis).astype(kind)
            light = self.without(heavy.curvature, rows)
            rows *= np.sqrt(heavy.curvature).astype(kind)[:, :, None]
            parts = np.hstack([light.means.astype(kind), rows])
        diagonal = 1 / (light.spread + (stiffness + self.floor)[:, None])
        return ClassInverse.of(diagonal.astype(kind), parts, stiffness)


@dataclass(frozen=True, eq=False)
class ClassInverse:
    """The inverse of  1 / diagonal + parts' parts  for each class, by Woodbury's identity:
    ``diagonal`` (C, Q), ``parts`` (C, R, Q), ``inner`` (C, R, R).

    ``stiffness`` (C,) is the part of  1 / diagonal  that comes from the norm.
    """

    diagonal: Floats
    parts: Floats
    inner: Floats
    stiffness: Floats

    @classmethod
    def of(cls, diagonal: Floats, parts: Floats, stiffness: Floats) -> ClassInverse:
        scaled = parts * np.sqrt(diagonal)[:, None]
        inner = (scaled @ scaled.transpose(0, 2, 1)).astype(np.float64)
        inner += np.eye(inner.shape[1])
        return cls(
            diagonal,
            parts,
            np.linalg.inv(inner).astype(parts.dtype),
            stiffness.astype(parts.dtype),
        )

    def stiffened(self, stiffness: Floats) -> ClassInverse:
        """With another stiffness of the norm."""
        change = (stiffness - self.stiffness)[:, None].astype(self.parts.dtype)
        diagonal = self.diagonal / (1 + change * self.diagonal)
        return ClassInverse.of(diagonal, self.parts, stiffness)

    def __call__(self, gradients: Floats) -> Floats:
        """For one gradient (C, Q) or several (m, C, Q), which cost hardly more."""
        steps = self.diagonal * gradients
        columns = steps.reshape(-1, *self.diagonal.shape).transpose(1, 2, 0)
        along = self.inner @ (self.parts @ columns)
        back = (self.parts.transpose(0, 2, 1) @ along).transpose(2, 0, 1)
        return np.asarray(steps - self.diagonal * back.reshape(steps.shape))


@dataclass(frozen=True, eq=False)
class Preconditioner:
    """The inverse curvature in the solver's own columns."""

    basis: Floats | None
    inverse: ClassInverse

    @classmethod
    def of(
        cls,
        curvature: ClassCurvature,
        stiffness: Floats,
        kind: Any = np.float64,
        heavy: HeavyRows | None = None,
    ) -> Preconditioner:
        """``stiffness`` (C,) is the norm's own; steps are made in numbers of ``kind``."""
        inverse = curvature.inverse(stiffness, kind, heavy)
        basis = curvature.basis
        return cls(None if basis is None else basis.astype(kind), inverse)

    @property
    def kind(self) -> Any:
        return self.inverse.diagonal.dtype

    def __call__(self, gradients: Floats) -> Floats:
        steps = self.inverse(into_basis(gradients.astype(self.kind), self.basis))
        return np.asarray(out_of_basis(steps, self.basis), dtype=np.float64)


def into_basis(rows: Floats, basis: Floats | None) -> Floats:
    return rows if basis is None else np.asarray(rows @ basis)


def out_of_basis(rows: Floats, basis: Floats | None) -> Floats:
    return rows if basis is None else np.asarray(rows @ basis.T)


def _eigenvectors(within: Floats, n_touchable: int) -> tuple[Floats, Floats]:
    """The eigenvectors (Q, Q) of the touchable part of a matrix, and its diagonal there."""
    basis, spread = np.eye(len(within)), np.diag(within).copy()
    part = slice(n_touchable)
    spread[part], basis[part, part] = np.linalg.eigh(within[part, part])
    return basis, spread
