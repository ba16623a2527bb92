r"""The preconditioner: for each class a diagonal plus low rank, in one common basis.

The curvature of class c alone is  sum_n q_nc x_n x_n' + stiffness_c I.  It is taken as

    s_c W + sum_r s_rc m_rc m_rc' + stiffness_c I,    s_c = sum_r s_rc,

with r for the rows of the class itself and for all others: s_rc is the mass of their q_nc
and m_rc the mean of x under it.  W, the spread around these means, is taken as that of all
classes together.  A few heavy rows may stand in it as they are; then all others have one
mean.  In the eigenvectors of W this is a diagonal plus low rank, and its inverse takes few
matrix products for all classes at once.
The basis turns the touchable columns alone: lengths of differences stay as they are.  Where
the columns are principal axes, W is taken as a diagonal, and no basis is needed.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from math import prod
from typing import Any

import numpy as np

from .....arrays import Floats
from ... import kernels
from ..settings import PRODUCTS
from .heavy_rows import HeavyRows
from .sums import CurvatureSums

# Entries of the parts of classes that are used for two products at a time.
BLOCK_ENTRIES = 1 << 17


@dataclass(frozen=True, eq=False)
class ClassCurvature:
    """``basis`` (Q, Q), or None for the columns as they are; the ``spread`` of each class
    (C, Q) and its ``means`` (C, R, Q), each times the root of its mass, both in the basis;
    ``mass`` (C, R) of the curvature in them; and ``floor``, the least stiffness.  Some rows
    may stand among the means as they are; their mass is not counted."""

    basis: Floats | None
    spread: Floats
    means: Floats
    mass: Floats
    floor: float

    @classmethod
    def of(cls, sums: CurvatureSums, n_touchable: int) -> ClassCurvature:
        typical = sums.mass.sum(axis=1).mean()
        floor = PRODUCTS.least_stiffness * typical + np.finfo(np.float64).tiny
        mass = np.maximum(sums.mass, floor)
        means, basis, spread = _rooted(sums.first, mass), sums.basis, sums.second
        if spread.ndim == 2:
            every = np.concatenate(means)
            basis, spread = _eigenvectors(spread - every.T @ every, n_touchable)
            means = into_basis(means, basis)
        else:
            means = into_basis(means, basis)
            spread = spread - np.einsum("crq,crq->q", means, means)
        total = mass.sum()
        # The column of ones has no spread: beside its means a diagonal of almost nothing
        # would take all digits of the inverse.
        least = np.zeros_like(spread)
        least[n_touchable:] = PRODUCTS.least_spread * total
        spread = (mass.sum(axis=1) / total)[:, None] * np.maximum(spread, least)
        found = cls(basis, spread, means, mass, float(floor))
        return found if sums.own is None else found.with_own(sums.own)

    @property
    def total(self) -> Floats:
        """The mass of each class (C,)."""
        return np.asarray(self.mass.sum(axis=1))

    def of_kind(self, kind: Any) -> ClassCurvature:
        """In numbers of ``kind``, but for the basis."""
        whole = self.spread, self.means, self.mass
        parts = (part.astype(kind, copy=False) for part in whole)
        spread, means, mass = parts
        return replace(self, spread=spread, means=means, mass=mass)

    def moved(self, mass: Floats, first: Floats) -> ClassCurvature:
        """With other sums of the curvature, (C, R) and (C, R, Q), and W as it was."""
        return self._with(mass, into_basis(first, self.basis))

    def with_own(self, own: HeavyRows) -> ClassCurvature:
        """With the rows of the classes themselves, where the sums were those of all others.

        They stand as they are.
        """
        rows = into_basis(own.rows, self.basis)
        return replace(self, means=_stacked(self.means, own.curvature, rows))

    def with_rows(self, heavy: HeavyRows) -> ClassCurvature:
        """The same with these rows as they are, and one mean for all others."""
        rows = into_basis(heavy.rows, self.basis)
        light = self.without(heavy.curvature, rows)
        return replace(light, means=_stacked(light.means, heavy.curvature, rows))

    def without(self, curvature: Floats, rows: Floats) -> ClassCurvature:
        """Of all but these ``rows`` (C, k, Q), in the basis, with ``curvature`` (C, k)."""
        mass = self.total - curvature.sum(axis=1)
        first = np.einsum("cr,crq->cq", np.sqrt(self.mass), self.means)
        first -= _weighted_sums(curvature, rows)
        return self._with(mass[:, None], first[:, None])

    def _with(self, mass: Floats, first: Floats) -> ClassCurvature:
        """With these sums, in the basis."""
        mass = np.maximum(mass, self.floor)
        spread = self.spread * (mass.sum(axis=1) / self.total)[:, None]
        means = _rooted(first, mass)
        return replace(self, spread=spread, means=means, mass=mass)

    def times(self, step: Floats) -> Floats:
        """The curvature times a step (C, Q), both in the basis."""
        return self.spread * step + squares_times(self.means, step)

    def inverse(
        self, stiffness: Floats, kind: Any = np.float64, heavy: HeavyRows | None = None
    ) -> ClassInverse:
        """With the norm's own ``stiffness`` (C,) added; in numbers of ``kind``."""
        light = self if heavy is None else self.with_rows(heavy)
        diagonal = 1 / (light.spread + (stiffness + self.floor)[:, None])
        parts = light.means.astype(kind, copy=False)
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
        inner, root = np.empty((*parts.shape[:2], parts.shape[1])), np.sqrt(diagonal)
        for some in class_blocks(parts):
            scaled = parts[some] * root[some, None]
            inner[some] = scaled @ scaled.transpose(0, 2, 1)
        inner += np.eye(inner.shape[1])
        return cls(
            diagonal,
            parts,
            _inverses(inner).astype(parts.dtype),
            stiffness.astype(parts.dtype),
        )

    def stiffened(self, stiffness: Floats) -> ClassInverse:
        """With another stiffness of the norm."""
        kind, whole = self.parts.dtype, 1 / self.diagonal
        # Where the stiffness was nearly all, only rounding is left.
        own = np.maximum(whole - self.stiffness[:, None], np.finfo(kind).eps * whole)
        diagonal = 1 / (own + stiffness[:, None].astype(kind))
        return ClassInverse.of(diagonal, self.parts, stiffness)

    def gram(self, label: int, lines: Floats) -> Floats:
        """<line_k, inverse line_l> for lines (K, Q) of one class."""
        scaled = lines * self.diagonal[label]
        along = scaled @ self.parts[label].T
        return np.asarray(scaled @ lines.T - along @ self.inner[label] @ along.T)

    def __call__(self, gradient: Floats) -> Floats:
        """The inverse times a gradient (C, Q)."""
        steps = self.diagonal * gradient
        for some in class_blocks(self.parts):
            steps[some] -= self._low_rank(some, steps[some])
        return np.asarray(steps)

    def with_square(self, gradient: Floats, other: Floats) -> tuple[Floats, float]:
        """The inverse times a gradient, and <other, inverse other>.

        Together they read the parts from memory only once.
        """
        steps, others = self.diagonal * gradient, self.diagonal * other
        square = float(np.vdot(other, others))
        for some in class_blocks(self.parts):
            along = self.parts[some] @ others[some, :, None]
            square -= float(np.vdot(along, self.inner[some] @ along))
            steps[some] -= self._low_rank(some, steps[some])
        return steps, square

    def _low_rank(self, some: slice, steps: Floats) -> Floats:
        """What the parts of some classes take from steps along the diagonal."""
        parts = self.parts[some]
        along = self.inner[some] @ (parts @ steps[:, :, None])
        back = parts.transpose(0, 2, 1) @ along
        return np.asarray(self.diagonal[some] * back[:, :, 0])


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

    def __call__(self, gradient: Floats) -> Floats:
        return out_of_basis(self.inverse(self._turned(gradient)), self.basis)

    def with_square(self, gradient: Floats, other: Floats) -> tuple[Floats, float]:
        """The inverse times a gradient, and <other, inverse other>."""
        told = self._turned(gradient), self._turned(other)
        steps, square = self.inverse.with_square(*told)
        return out_of_basis(steps, self.basis), square

    def _turned(self, gradient: Floats) -> Floats:
        return into_basis(gradient.astype(self.kind, copy=False), self.basis)


def squares_times(parts: Floats, step: Floats) -> Floats:
    """parts' parts step  for each class, with a step (C, Q)."""
    found = np.empty(step.shape, np.result_type(parts, step))
    for some in class_blocks(parts):
        along = parts[some] @ step[some, :, None]
        found[some] = (parts[some].transpose(0, 2, 1) @ along)[:, :, 0]
    return found


def class_blocks(parts: Floats) -> Iterator[slice]:
    """Classes whose ``parts`` (C, R, Q) stay in a processor's cache between products."""
    step = max(1, BLOCK_ENTRIES // max(parts[0].size, 1))
    for start in range(0, len(parts), step):
        yield slice(start, start + step)


def _inverses(matrices: Floats) -> Floats:
    """The inverses of positive definite matrices (C, R, R)."""
    found = matrices.copy()
    return found if kernels.invert_each(found) == 0 else np.asarray(np.linalg.inv(matrices))


def _rooted(first: Floats, mass: Floats) -> Floats:
    """The means of masses (C, R) with sums (C, R, Q), times the roots of the masses."""
    return np.asarray(first / np.sqrt(mass)[:, :, None])


def _weighted_sums(weight: Floats, rows: Floats) -> Floats:
    """sum_k w_ck x_ck for each class c, of rows (C, k, Q)."""
    found = weight[:, None].astype(rows.dtype) @ rows
    return np.asarray(found[:, 0], dtype=np.float64)


def _stacked(means: Floats, curvature: Floats, rows: Floats) -> Floats:
    """Means (C, R, Q) and rows (C, k, Q), each row times the root of its curvature."""
    n_means, n_rows = means.shape[1], rows.shape[1]
    found = np.empty((len(rows), n_means + n_rows, rows.shape[2]), dtype=rows.dtype)
    found[:, :n_means] = means
    root = np.sqrt(curvature).astype(rows.dtype)
    np.multiply(rows, root[:, :, None], out=found[:, n_means:])
    return found


def into_basis(rows: Floats, basis: Floats | None) -> Floats:
    """Rows (..., Q) in the basis."""
    return rows if basis is None else _times(rows, basis)


def out_of_basis(rows: Floats, basis: Floats | None) -> Floats:
    """Rows (..., Q) of the basis in the solver's columns."""
    return rows if basis is None else _times(rows, basis.T)


def _times(rows: Floats, matrix: Floats) -> Floats:
    """All rows in one product: a product for each class takes longer than its numbers."""
    found = rows.reshape(prod(rows.shape[:-1]), rows.shape[-1]) @ matrix
    return np.asarray(found.reshape(rows.shape))


def _eigenvectors(within: Floats, n_touchable: int) -> tuple[Floats, Floats]:
    """The eigenvectors (Q, Q) of the touchable part of a matrix, and its diagonal there."""
    basis, spread = np.eye(len(within)), np.diag(within).copy()
    part = slice(n_touchable)
    spread[part], basis[part, part] = np.linalg.eigh(within[part, part])
    return basis, spread
