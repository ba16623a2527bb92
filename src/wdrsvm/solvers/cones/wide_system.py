r"""The normal system of an interior point on few rows with many features.

With l1 and linf transport the norm's curvature couples only coefficients of the same
feature.  Therefore the system is

    H = [ B   T ]  +  U' U,         B has one small block (C, C) per feature,
        [ T'  E ]

in the touchable coefficients t (C, T) and the other unknowns o, which are the coefficients
of free columns and lam.  U has one line for each of the few directions in which the rows,
or the caps of the norm, have curvature.  With q = U (t, o) the coefficients t are
eliminated feature by feature,

    t = B^-1 (r - T lam - U_t' q),      q = K^-1 (V o + U_t B^-1 r),
    K = 1 + U_t B^-1 U_t',              V = U_o - U_t B^-1 T,

which leaves two systems: one of about N (C + 1) unknowns, and one of a few unknowns.  Their
sizes do not depend on the number of features.  Conjugate gradients with products of H
correct the rounding errors.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ...arrays import Codes, Floats
from ...problem.norms import incidence
from .kernels import native
from .settings import CONES

# Relative residual of a solution, as far as rounding allows.
REFINED = 1e-11
# Curvature that the elimination adds to every coefficient, as a share of the rows' largest
# curvature.  Products leave it out, so that solutions do not contain it.
LEAST_CURVATURE = 1e-11


@dataclass(frozen=True, eq=False)
class ByFeature:
    """A norm's curvature by features.

    ``blocks`` (C, C, T) are the curvatures of each feature.  ``inverse`` has the inverses
    after a small curvature is added.
    ``border`` (C, T) has the products with lam.  ``left`` is the curvature of lam after the
    border is eliminated.  The squares of spread . M + spread_lam lam are added.
    """

    blocks: Floats
    inverse: Floats
    border: Floats
    left: float
    spread: Floats
    spread_lam: Floats

    def times(self, coef: Floats) -> Floats:
        return np.asarray(np.einsum("cet,et->ct", self.blocks, coef))

    def solved(self, coef: Floats) -> Floats:
        return np.asarray(np.einsum("cet,et->ct", self.inverse, coef))


class WideSystem:
    """The matrix H of the rows' curvature and of a norm's curvature.

    The rows' curvature is given by its ``roots`` (N, C+1, R) and by the design (N, Q).
    """

    def __init__(self, roots: Floats, X: Floats, norm: ByFeature):
        self.roots, self.X, self.norm = roots, X, norm
        self.n_classes, n_touchable = norm.border.shape
        self.touch, self.free = X[:, :n_touchable], X[:, n_touchable:]
        own = (roots[:, :-1] ** 2).sum(axis=2).mean(axis=1)
        stiffness = own @ self.free**2
        self.gauge = np.where(stiffness > 0, stiffness, 1.0)
        self.inner = native.NormalSystem(self._inner())
        self.reach = self._reach()
        self.outer = native.NormalSystem(self._outer())

    def solve(self, rhs: Floats) -> Floats:
        """The solution of one system, by conjugate gradients.

        The preconditioner is the elimination.  In exact arithmetic one step is enough.
        """
        solution, residual = np.zeros_like(rhs), rhs.copy()
        best, least = solution, np.inf
        enough = REFINED * float(np.abs(rhs).max())
        direction, before = np.zeros_like(rhs), np.inf
        for _ in range(CONES.max_wide_steps):
            found = self._eliminated(residual)
            slope = float(residual @ found)
            if not 0 < slope < np.inf:
                break
            direction = found + (slope / before) * direction
            curved = self.times(direction)
            step = slope / float(direction @ curved)
            solution, residual = solution + step * direction, residual - step * curved
            before, error = slope, float(np.abs(residual).max())
            if error < least:
                best, least = solution, error
            if error <= enough:
                break
        return best

    def times(self, whole: Floats) -> Floats:
        """H times a vector in (coef, lam)."""
        coef, lam = whole[:-1].reshape(self.n_classes, -1), float(whole[-1])
        norm, n_touchable = self.norm, self.touch.shape[1]
        seen = np.column_stack([self.X @ coef.T, np.full(len(self.X), lam)])
        resisted = np.einsum("nir,ni->nr", self.roots, seen)
        pulled = np.einsum("nir,nr->ni", self.roots, resisted)
        result = pulled[:, :-1].T @ self.X
        touch, free = coef[:, :n_touchable], coef[:, n_touchable:]
        caps = np.einsum("kct,ct->k", norm.spread, touch) + norm.spread_lam * lam
        result[:, :n_touchable] += norm.times(touch) + lam * norm.border
        result[:, :n_touchable] += np.einsum("kct,k->ct", norm.spread, caps)
        result[:, n_touchable:] += self.gauge * free.sum(axis=0)
        # The curvature of lam is ``left`` plus the part that the elimination removes.
        corner = norm.left + float(np.vdot(norm.border, norm.solved(norm.border)))
        on_lam = pulled[:, -1].sum() + float(np.vdot(norm.border, touch)) + corner * lam
        return np.append(result.ravel(), on_lam + float(norm.spread_lam @ caps))

    def _eliminated(self, rhs: Floats) -> Floats:
        norm, n_touchable = self.norm, self.touch.shape[1]
        coef, lam = rhs[:-1].reshape(self.n_classes, -1), float(rhs[-1])
        alone = norm.solved(coef[:, :n_touchable])
        seen = self._seen(alone)
        others = np.append(
            coef[:, n_touchable:].ravel(), lam - float(np.vdot(norm.border, alone))
        )
        found = self.outer.solve(others - self.reach.T @ self.inner.solve(seen))
        resisted = self.inner.solve(seen + self.reach @ found)
        pull = found[-1] * norm.border + self._pull(resisted)
        whole = np.empty_like(coef)
        whole[:, :n_touchable] = alone - norm.solved(pull)
        whole[:, n_touchable:] = found[:-1].reshape(self.n_classes, -1)
        return np.append(whole.ravel(), found[-1])

    def _seen(self, touch: Floats) -> Floats:
        """U_t times touchable coefficients."""
        scores = self.touch @ touch.T
        on_rows = np.einsum("nc,ncr->nr", scores, self.roots[:, :-1])
        on_caps = np.einsum("kct,ct->k", self.norm.spread, touch)
        return np.concatenate([on_rows.ravel(), on_caps])

    def _pull(self, resisted: Floats) -> Floats:
        """U_t' times one number per line of U."""
        n_rows, _, n_lines = self.roots.shape
        on_rows = resisted[: n_rows * n_lines].reshape(n_rows, n_lines)
        scores = np.einsum("ncr,nr->nc", self.roots[:, :-1], on_rows)
        on_caps = resisted[n_rows * n_lines :]
        on_caps = np.einsum("kct,k->ct", self.norm.spread, on_caps)
        return np.asarray(scores.T @ self.touch + on_caps)

    def _inner(self) -> Floats:
        """K = 1 + U_t B^-1 U_t'."""
        norm, (n_rows, _, n_lines) = self.norm, self.roots.shape
        size = n_rows * n_lines
        matrix = np.eye(size + len(norm.spread))
        rows = np.zeros((n_rows, n_lines, n_rows, n_lines))
        for c in range(self.n_classes):
            for e in range(self.n_classes):
                weight = norm.inverse[c, e]
                if weight.any():
                    gram = (self.touch * weight) @ self.touch.T
                    rows += (
                        self.roots[:, c, :, None, None]
                        * gram[:, None, :, None]
                        * self.roots[None, None, :, e]
                    )
        matrix[:size, :size] += rows.reshape(size, size)
        for k, spread in enumerate(norm.spread, start=size):
            column = self._seen(norm.solved(spread))
            matrix[k] += column
            matrix[:size, k] += column[:size]
        return matrix

    def _reach(self) -> Floats:
        """V: the columns of U for free columns and, after the border is eliminated, lam."""
        n_rows, _, n_lines = self.roots.shape
        size, norm = n_rows * n_lines, self.norm
        reach = np.zeros((size + len(norm.spread), self.n_classes * self.free.shape[1] + 1))
        free = np.einsum("ncr,nf->nrcf", self.roots[:, :-1], self.free)
        reach[:size, :-1] = free.reshape(size, -1)
        reach[:, -1] = np.append(self.roots[:, -1].ravel(), norm.spread_lam)
        reach[:, -1] -= self._seen(norm.solved(norm.border))
        return reach

    def _outer(self) -> Floats:
        """The matrix for free columns and lam, after all other unknowns are eliminated."""
        solved = np.column_stack(
            [self.inner.solve(column.copy()) for column in self.reach.T]
        )
        matrix = self.reach.T @ solved
        n_free = self.free.shape[1]
        places = np.arange(self.n_classes * n_free).reshape(self.n_classes, n_free)
        for f, stiffness in enumerate(self.gauge):
            matrix[np.ix_(places[:, f], places[:, f])] += stiffness
        matrix[-1, -1] += self.norm.left
        return np.ascontiguousarray((matrix + matrix.T) / 2)


class WideSteps:
    """The wide systems at the points of an interior point method.

    Features are given as ``columns`` (Q, N).
    """

    def __init__(self, rows: Any, cone: Any, columns: Floats, kappa: Floats, y: Codes):
        self.rows, self.cone, self.X = rows, cone, columns.T
        self.kappa, self.y = kappa, y
        self.system: WideSystem

    def form(self) -> None:
        spring, sums = self.rows.springs()
        roots = row_roots(spring.transpose(0, 2, 1), sums.T, self.kappa, self.y)
        norm = by_feature(self.cone, least_curvature(roots, self.X))
        self.system = WideSystem(roots, self.X, norm)

    def solve(self, rhs: Floats) -> Floats:
        return self.system.solve(rhs)


def is_wide(cone: Any, n_rows: int, shape: tuple[int, int]) -> bool:
    """Whether a wide system is faster.

    The rows must have curvature in far fewer directions than there are coefficients
    (C, Q), and the cone's curvature must couple only coefficients of the same feature.
    """
    n_classes, n_columns = shape
    few = CONES.wide_ratio * n_rows * (n_classes + 1) < n_classes * n_columns
    return few and isinstance(cone, (native.Box, native.AbsoluteSums))


def by_feature(cone: Any, least: float) -> ByFeature:
    """A cone's curvature by features, with ``least`` added for the inverses."""
    if isinstance(cone, native.Box):
        return box_by_feature(cone.sides(), least)
    stiffness, ratio, bend = cone.pairs()
    differences = incidence(cone.n_classes)
    return sums_by_feature(differences, stiffness, ratio, np.sqrt(bend), least)


def box_by_feature(spring: Floats, least: float) -> ByFeature:
    """The curvature of lam / 2 + M and lam / 2 - M, springs (2, C, T)."""
    above, below = spring
    blocks = np.zeros((len(above), *above.shape))
    inverse, each = np.zeros_like(blocks), np.arange(len(above))
    stiff = above + below + least
    blocks[each, each], inverse[each, each] = above + below, 1 / stiff
    left = float(((above * below + least * (above + below) / 4) / stiff).sum())
    none = np.zeros((0, *above.shape))
    return ByFeature(blocks, inverse, (above - below) / 2, left, none, np.zeros(0))


def sums_by_feature(
    incidence: Floats, ties: Floats, ratio: Floats, root: Floats, least: float
) -> ByFeature:
    """The curvature of ties (K, T) between classes, plus squares of root (ratio . diff +
    lam)."""
    blocks = np.einsum("kc,ke,kt->cet", incidence, incidence, ties, optimize=True)
    between = least - blocks
    between[np.arange(len(blocks)), np.arange(len(blocks))] = 0.0
    spread = incidence[:, :, None] * (root[:, None] * ratio)[:, None, :]
    none = np.zeros(blocks.shape[1:])
    return ByFeature(blocks, laplacian_inverses(between), none, 0.0, spread, root)


def laplacian_inverses(ties: Floats) -> Floats:
    """Inverses (C, C, T) of Laplacians with ties (C, C, T) >= 0; class C - 1 is fixed.

    A shift of all classes has no curvature, and right-hand sides have no part in its
    direction.  The elimination only adds positive numbers, so that no digits cancel.
    """
    n_held = len(ties) - 1
    inverse, ties = np.zeros_like(ties), ties.copy()
    pivots = np.empty(ties.shape[1:])
    for k in range(n_held):
        inverse[k, k] = 1.0
        pivots[k] = ties[k, k + 1 :].sum(axis=0)
        for i in range(k + 1, n_held):
            share = ties[i, k] / pivots[k]
            ties[i, k + 1 :] += share * ties[k, k + 1 :]
            inverse[i] += share * inverse[k]
    for k in reversed(range(n_held)):
        for j in range(k + 1, n_held):
            inverse[k] += ties[k, j] * inverse[j]
        inverse[k] /= pivots[k]
    return inverse


def least_curvature(roots: Floats, X: Floats) -> float:
    """A small curvature for every coefficient, so that its elimination is accurate."""
    own = (roots[:, :-1] ** 2).sum(axis=2)
    return LEAST_CURVATURE * float((own.T @ X**2).max())


def row_roots(spring: Floats, sums: Floats, kappa: Floats, y: Codes) -> Floats:
    """R (N, C+1, C+1) such that R R' is the rows' curvature in (z, lam).

    Springs are (3, N, C) and their sums (N, 3), see ``native.curvature``.  R is made from
    the squares of the curvature.  A root of their sum would have half the digits.
    """
    n_rows, n_classes = kappa.shape
    price = np.where(spring[2] > 0, kappa, 0.0)
    none = np.zeros_like(price)
    inverse = np.divide(1.0, sums, out=np.zeros_like(sums), where=sums > 0)
    gap = np.zeros((n_rows, n_classes + 1))
    lines = []
    for k, (sign, lam) in enumerate(((1.0, none), (-1.0, none), (1.0, price))):
        share = spring[k] * inverse[:, k, None]
        mean = np.column_stack([share, (share * lam).sum(axis=1)])
        each = np.tile(np.eye(n_classes, n_classes + 1), (n_rows, 1, 1))
        each[:, :, -1] = lam
        lines.append(np.sqrt(spring[k])[:, :, None] * (each - mean[:, None]))
        gap += sign * mean
    gap[np.arange(n_rows), y] -= 1.0
    a, b, f = sums.T
    product = a * b + a * f + b * f
    series = np.divide(a * b * f, product, out=np.zeros_like(a), where=f > 0)
    lines.append((np.sqrt(series)[:, None] * gap)[:, None])
    stacked = np.concatenate(lines, axis=1)
    factor = np.asarray(np.linalg.qr(stacked, mode="r"))
    return factor.transpose(0, 2, 1)
