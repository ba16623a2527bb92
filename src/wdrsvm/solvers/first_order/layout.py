"""The first-order method's columns.

Touchable features are multiplied by their cost, so that the norm has no costs.  Features of
infinite cost, and the column of ones of the intercept, are free columns: no norm applies to
them.  They are scaled to entries of at most 1.  Sparse data stay sparse.  Dense data are
centred if there is an intercept, so that intercept and coefficients hardly depend on each
other.  Under the l2 norm dense data stay dense, which is many times faster than to look up
columns.  Few dense rows of many features are turned into their span, where a row has as
many columns as there are rows: the l2 norm does not see the turn.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import linalg, sparse

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
    ``rotation`` (touchable features, T) has orthonormal columns, or is None.
    """

    touch: Matrix
    free: Matrix
    touchable: Codes
    fixed: Codes
    touch_scale: Floats
    free_scale: Floats
    centre: Floats
    fit_intercept: bool
    rotation: Floats | None = None

    @classmethod
    def of(cls, problem: RobustProblem, may_turn: bool = True) -> Layout:
        """Without ``may_turn`` the columns are features, whatever their number."""
        cost = problem.attainable_feature_cost()
        touchable, fixed = np.flatnonzero(np.isfinite(cost)), np.flatnonzero(np.isinf(cost))
        X, centre = _centred(problem)
        free, free_scale = _free_columns(problem, X, fixed)
        touch, rotation = _stored(problem, _scaled(X, touchable, cost[touchable]), may_turn)
        return cls(
            touch=touch,
            free=free,
            touchable=touchable,
            fixed=fixed,
            touch_scale=cost[touchable],
            free_scale=free_scale,
            centre=centre,
            fit_intercept=problem.fit_intercept,
            rotation=rotation,
        )

    @property
    def row_width(self) -> float:
        """The mean number of touchable entries of a row, before a turn.

        A turn makes rows shorter, but the weights of pairs no easier to find.
        """
        if self.rotation is not None:
            return float(len(self.touchable))
        is_sparse = sparse.issparse(self.touch)
        n_entries = self.touch.nnz if is_sparse else self.touch.size
        return float(n_entries / max(self.touch.shape[0], 1))

    def original(self, touch: Floats, free: Floats) -> tuple[Floats, Floats]:
        """coef (C, P) and intercept (C,) of tables (T, C) and (E, C)."""
        turned = touch if self.rotation is None else self.rotation @ touch
        table = turned * self.touch_scale[:, None]
        if len(self.fixed):
            features, table = table, np.empty((len(self.centre), touch.shape[1]))
            table[self.touchable] = features
            table[self.fixed] = free[: len(self.fixed)] * self.free_scale[:, None]
        coef = table.T
        shift = free[-1] if self.fit_intercept else np.zeros(len(coef))
        return coef, shift - coef @ self.centre

    def tables(self, start: Start) -> tuple[Floats, Floats]:
        """The inverse of ``original``, in the gauge where classes sum to zero."""
        coef = start.coef - start.coef.mean(axis=0)
        touch = self._turned(coef[:, self.touchable] / self.touch_scale)
        free = coef[:, self.fixed] / self.free_scale
        if self.fit_intercept:
            shift = start.intercept - start.intercept.mean() + coef @ self.centre
            free = np.column_stack([free, shift])
        return np.ascontiguousarray(touch.T), np.ascontiguousarray(free.T)

    def gradient(self, gradient: Floats) -> Floats:
        """A gradient (C, P) on features as a table (T, C) on touchable columns."""
        scaled = gradient[:, self.touchable] * self.touch_scale
        return np.ascontiguousarray(self._turned(scaled).T)

    def flow(self, flow: Floats) -> Floats:
        """A flow (pairs, T) on touchable columns as one (pairs, P) on features."""
        turned = flow if self.rotation is None else flow @ self.rotation.T
        spread = np.zeros((len(flow), len(self.centre)))
        spread[:, self.touchable] = turned / self.touch_scale
        return spread

    def _turned(self, table: Floats) -> Floats:
        return table if self.rotation is None else table @ self.rotation


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


def _free_columns(problem: RobustProblem, X: Matrix, fixed: Codes) -> tuple[Matrix, Floats]:
    """The columns outside the norm (N, E), scaled, and the scales of the features."""
    ones = np.ones((problem.n_rows, int(problem.fit_intercept)))
    if not (len(fixed) and problem.n_rows):
        return sparse.csr_array(ones), np.ones(len(fixed))
    free = sparse.csr_array(X[:, fixed])
    largest = abs(free).max(axis=0).toarray().ravel()
    scale = 1 / np.where(largest > 0, largest, 1.0)
    return sparse.hstack([free * scale, ones], format="csr"), scale


def _stored(
    problem: RobustProblem, touch: Matrix, may_turn: bool
) -> tuple[Matrix, Floats | None]:
    """Dense if that is faster, else CSR; and the turn of the columns, if that is."""
    euclidean = problem.ball.norm == "l2" and not sparse.issparse(touch)
    dense = euclidean and np.count_nonzero(touch) >= FIRST_ORDER.least_density * touch.size
    if not dense or touch.size == 0:
        return sparse.csr_array(touch), None
    n_rows, n_columns = touch.shape
    few = FIRST_ORDER.features_per_turned_row * n_rows <= n_columns
    few = few and n_rows <= FIRST_ORDER.turned_rows_per_class * problem.n_classes
    if few and may_turn:
        rotation, rows = linalg.qr(touch.T, mode="economic", check_finite=False)
        return np.ascontiguousarray(rows.T), rotation
    return np.ascontiguousarray(touch), None


def design_of(matrix: Matrix) -> StoredMatrix:
    sparse_stays = sparse.issparse(matrix)
    return StoredMatrix.of_sparse(matrix) if sparse_stays else StoredMatrix.of_dense(matrix)
