r"""Dual bounds: a floor under the optimum, from multipliers and data alone.

Multipliers of row n, all >= 0: alpha_nj of the pieces of the true label (j = y_n is the
zero piece), phi_nc of a flip to c, beta_nj of the class j that wins there, with

    sum_j alpha_nj + sum_c phi_nc = w_n,        sum_j beta_nj = sum_c phi_nc,
    g_n = alpha_n - (sum_j alpha_nj) e_y + beta_n - phi_n,        G = sum_n g_n x_n'.

They are dual feasible iff  sigma(G) + sum k phi <= radius,  G vanishes on features of
infinite cost and, with an intercept, sum_n g_n = 0.  Then  sum_n (w_n - alpha_n,y)  is a
lower bound of the optimum.  Approximate multipliers are made feasible in that order:
rows, equalities (by a weighted projection), budget (by scaling).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy import linalg, sparse

from .norms import polar
from .objective import Codes, Floats, Matrix, RobustProblem

# Equalities that hold to this share of their terms hold in floating point.
ROUNDING = 1e-13


@dataclass(frozen=True, eq=False)
class Multipliers:
    """Dual variables: three (N, C) arrays, and the flow (pairs, P) behind G if known."""

    alpha: Floats
    phi: Floats
    beta: Floats
    flow: Floats | None = None

    def slopes(self, y: Codes) -> Floats:
        """g, shape (N, C)."""
        slope = self.alpha + self.beta - self.phi
        slope[np.arange(len(y)), y] -= self.alpha.sum(axis=1)
        return np.asarray(slope)


class Certificate(NamedTuple):
    """What is known of a classifier's training optimality."""

    objective: float
    dual_bound: float
    lam: float

    @property
    def gap(self) -> float:
        return self.objective - self.dual_bound

    def holds(self, tol: float) -> bool:
        """Whether the relative duality gap is at most ``tol``."""
        return self.gap <= tol * max(self.objective, 1e-2)


def certify(
    problem: RobustProblem, coef: Floats, intercept: Floats, multipliers: Multipliers
) -> Certificate:
    """Objective recomputed from (coef, intercept), bound from the multipliers."""
    value, lam = problem.risk(coef, intercept)
    return Certificate(value, dual_bound(problem, multipliers), lam)


def dual_bound(problem: RobustProblem, multipliers: Multipliers) -> float:
    """A lower bound of the optimum; 0, which always holds, if there is no better."""
    cost = problem.attainable_flip_cost()
    feasible = _restore_rows(problem, multipliers, cost)
    restored = _restore_equalities(problem, feasible)
    if restored is None:
        return 0.0
    spent = budget_spent(problem, restored, cost)
    share = 1.0 if spent <= problem.radius else problem.radius / spent
    zero_piece = restored.alpha[np.arange(problem.n_rows), problem.y]
    return share * float((problem.weight - zero_piece).sum())


def budget_spent(problem: RobustProblem, multipliers: Multipliers, cost: Floats) -> float:
    """sigma(G) + sum k phi."""
    on_flips = float((np.where(multipliers.phi > 0, cost, 0.0) * multipliers.phi).sum())
    touchable = np.isfinite(problem.attainable_feature_cost())
    if not touchable.any():
        return on_flips
    slopes = multipliers.slopes(problem.y)
    gradient = np.asarray((problem.X.T @ slopes).T)[:, touchable]
    flow = None if multipliers.flow is None else multipliers.flow[:, touchable]
    feature_cost = problem.feature_cost[touchable]
    return on_flips + polar(gradient, problem.ball.norm, feature_cost, flow)


def _restore_rows(
    problem: RobustProblem, multipliers: Multipliers, cost: Floats
) -> Multipliers:
    """Nonnegative multipliers with the right row sums and no impossible flip."""
    alpha = np.maximum(multipliers.alpha, 0.0)
    phi = np.where(np.isfinite(cost), np.maximum(multipliers.phi, 0.0), 0.0)
    beta = np.maximum(multipliers.beta, 0.0)
    total = alpha.sum(axis=1) + phi.sum(axis=1)
    alpha[np.arange(problem.n_rows), problem.y] += total == 0
    scale = (problem.weight / np.where(total == 0, 1.0, total))[:, None]
    alpha, phi = alpha * scale, phi * scale
    # Without a winner the flipped class itself wins, which leaves no slope.
    lost = beta.sum(axis=1) == 0
    beta[lost] = phi[lost]
    winners = beta.sum(axis=1)
    share = phi.sum(axis=1) / np.where(winners == 0, 1.0, winners)
    return Multipliers(alpha, phi, beta * share[:, None], multipliers.flow)


def untouchable_design(problem: RobustProblem) -> Matrix:
    """The columns that the adversary cannot move, the intercept's ones among them."""
    fixed = np.isinf(problem.attainable_feature_cost())
    columns = problem.X[:, np.flatnonzero(fixed)]
    dense = columns.toarray() if sparse.issparse(columns) else np.asarray(columns)
    if problem.fit_intercept:
        return np.column_stack([dense, np.ones(problem.n_rows)])
    return dense


def _restore_equalities(
    problem: RobustProblem, multipliers: Multipliers, n_rounds: int = 20
) -> Multipliers | None:
    """Move mass within rows until sum_n g_n e_n' = 0 on the untouchable design ``e``.

    The smallest move in the metric of the multipliers themselves, so that small ones
    stay positive; clipped and repeated where it does not.  None if it does not end.
    """
    design = untouchable_design(problem)
    if design.shape[1] == 0:
        return multipliers
    scale = np.abs(design).max(axis=0)
    design = design[:, scale > 0] / scale[scale > 0]
    for _ in range(n_rounds):
        residual = multipliers.slopes(problem.y).T @ design
        if np.abs(residual).max(initial=0.0) <= ROUNDING:
            return multipliers
        multipliers = _moved(problem, multipliers, design, residual)
    return None


def _moved(
    problem: RobustProblem, multipliers: Multipliers, design: Floats, residual: Floats
) -> Multipliers:
    """One weighted projection step against ``residual`` (C, E)."""
    n_classes, n_columns = residual.shape
    curvature = _row_curvature(multipliers.alpha) + _row_curvature(multipliers.beta)
    system = np.einsum("nij,nd,ne->idje", curvature, design, design, optimize=True)
    system = system.reshape(n_classes * n_columns, n_classes * n_columns)
    step = linalg.lstsq(system, residual.ravel(), cond=1e-12)[0]
    pull = -design @ step.reshape(n_classes, n_columns).T
    return _restore_rows(
        problem,
        Multipliers(
            _pulled(multipliers.alpha, pull),
            multipliers.phi,
            _pulled(multipliers.beta, pull),
            multipliers.flow,
        ),
        problem.attainable_flip_cost(),
    )


def _row_curvature(mass: Floats) -> Floats:
    """diag(m) - m m' / sum(m) for every row of masses, shape (N, C, C)."""
    total = mass.sum(axis=1)
    share = mass / np.where(total == 0, 1.0, total)[:, None]
    curvature = -mass[:, :, None] * share[:, None, :]
    diagonal = np.arange(mass.shape[1])
    curvature[:, diagonal, diagonal] += mass
    return curvature


def _pulled(mass: Floats, pull: Floats) -> Floats:
    """Shift mass along ``pull`` within each row, by at most what is there."""
    total = mass.sum(axis=1, keepdims=True)
    mean = (mass * pull).sum(axis=1, keepdims=True) / np.where(total == 0, 1.0, total)
    return np.asarray(mass * np.maximum(1.0 + pull - mean, 0.0))
