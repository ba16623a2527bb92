"""The first-order method's columns.

Touchable features are multiplied by their cost, so that the norm has no costs.  Features of
infinite cost, and the column of ones of the intercept, are free columns: no norm applies to
them.  They are scaled to entries of at most 1.  Sparse data stay sparse.  Dense data are
centred if there is an intercept, so that intercept and coefficients hardly depend on each
other.  Under the l2 norm dense data stay dense, which is many times faster than to look up
columns.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from ...arrays import Codes, Floats, Matrix
from ...problem import RobustProblem
from ..result import Start
from .samples import StoredMatrix
from .settings import FIRST_ORDER


@dataclass(frozen=True, eq=False)
class Layout:
    """Touchable (N, T) and free (N, E) columns, and the way back to features.

    ``touchable`` and ``fixed`` are the features of the columns.  ``touch_scale`` and
    ``free_scale`` are the factors on them.  The intercept is the last free column.
    """

    touch: Matrix
    free: Matrix
    touchable: Codes
    fixed: Codes
    touch_scale: Floats
    free_scale: Floats
    centre: Floats
    fit_intercept: bool

    @classmethod
    def of(cls, problem: RobustProblem) -> Layout:
        cost = problem.attainable_feature_cost()
        touchable, fixed = np.flatnonzero(np.isfinite(cost)), np.flatnonzero(np.isinf(cost))
        X, centre = _centred(problem)
        free = sparse.csr_array(X[:, fixed])
        largest: Matrix = np.ones(0)
        if len(fixed) and problem.n_rows:
            largest = abs(free).max(axis=0)
        largest = largest.toarray().ravel() if sparse.issparse(largest) else largest
        free_scale = 1 / np.where(largest > 0, largest, 1.0)
        columns = [free * free_scale] if len(fixed) else []
        if problem.fit_intercept:
            columns.append(np.ones((problem.n_rows, 1)))
        none = sparse.csr_array((problem.n_rows, 0))
        return cls(
            touch=_as_stored(problem, _scaled(X, touchable, cost[touchable])),
            free=sparse.hstack([none, *columns], format="csr"),
            touchable=touchable,
            fixed=fixed,
            touch_scale=cost[touchable],
            free_scale=free_scale,
            centre=centre,
            fit_intercept=problem.fit_intercept,
        )

    def original(self, touch: Floats, free: Floats) -> tuple[Floats, Floats]:
        """coef (C, P) and intercept (C,) of tables (T, C) and (E, C)."""
        table = touch * self.touch_scale[:, None]
        if len(self.fixed):
            table = np.empty((len(self.touchable) + len(self.fixed), touch.shape[1]))
            table[self.touchable] = touch * self.touch_scale[:, None]
            table[self.fixed] = free[: len(self.fixed)] * self.free_scale[:, None]
        coef = table.T
        shift = free[-1] if self.fit_intercept else np.zeros(len(coef))
        return coef, shift - coef @ self.centre

    def tables(self, start: Start) -> tuple[Floats, Floats]:
        """The inverse of ``original``, in the gauge where classes sum to zero."""
        coef = start.coef - start.coef.mean(axis=0)
        touch = coef[:, self.touchable] / self.touch_scale
        free = coef[:, self.fixed] / self.free_scale
        if self.fit_intercept:
            shift = start.intercept - start.intercept.mean() + coef @ self.centre
            free = np.column_stack([free, shift])
        return np.ascontiguousarray(touch.T), np.ascontiguousarray(free.T)

    def flow(self, flow: Floats) -> Floats:
        """A flow (pairs, T) on touchable columns as one (pairs, P) on features."""
        spread = np.zeros((len(flow), len(self.touchable) + len(self.fixed)))
        spread[:, self.touchable] = flow / self.touch_scale
        return spread


def _centred(problem: RobustProblem) -> tuple[Matrix, Floats]:
    if sparse.issparse(problem.X):
        return problem.X, np.zeros(problem.n_features)
    X = np.asarray(problem.X, dtype=np.float64)
    if not problem.fit_intercept:
        return X, np.zeros(problem.n_features)
    centre = problem.weight @ X
    return X - centre, centre


def _scaled(X: Matrix, columns: Codes, scale: Floats) -> Matrix:
    """Some columns of X times their scale; X itself if it would not change."""
    if len(columns) == X.shape[1] and np.all(scale == 1):
        return X
    return X[:, columns] * scale


def _as_stored(problem: RobustProblem, touch: Matrix) -> Matrix:
    """Dense if that is faster, else CSR."""
    euclidean = problem.ball.norm == "l2" and not sparse.issparse(touch)
    if euclidean and np.count_nonzero(touch) >= FIRST_ORDER.least_density * touch.size > 0:
        return np.ascontiguousarray(touch)
    return sparse.csr_array(touch)


def design_of(matrix: Matrix) -> StoredMatrix:
    sparse_stays = sparse.issparse(matrix)
    return StoredMatrix.of_sparse(matrix) if sparse_stays else StoredMatrix.of_dense(matrix)
