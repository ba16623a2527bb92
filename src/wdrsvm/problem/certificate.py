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

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from .norms import polar
from .objective import Codes, Floats, RobustProblem

# Equalities that hold to this share of their terms hold in floating point.
ROUNDING = 1e-13
MAX_MOVES = 20
# Share of a bound that scaling may cost before steering the gradient is tried.
SCALING_LOSS = 1e-10


@dataclass(frozen=True, eq=False)
class Multipliers:
    """Dual variables: three (N, C) arrays, and what is known of the norm's own.

    ``gradient`` (C, P) is the G that the norm constraint's multipliers carry, ``flow``
    (pairs, P) the flow behind it; a solver that has them makes the bound tighter.
    """

    alpha: Floats
    phi: Floats
    beta: Floats
    flow: Floats | None = None
    gradient: Floats | None = None

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
        return self.gap <= tol * max(self.objective, 1e-2) < np.inf


def certify(
    problem: RobustProblem, coef: Floats, intercept: Floats, multipliers: Multipliers
) -> Certificate:
    """Objective recomputed from (coef, intercept), bound from the multipliers."""
    value, lam = problem.risk(coef, intercept)
    return Certificate(value, dual_bound(problem, multipliers), lam)


def dual_bound(problem: RobustProblem, multipliers: Multipliers) -> float:
    """A lower bound of the optimum; 0, which always holds, if there is no better."""
    cost = problem.attainable_flip_cost()
    rows = _restore_rows(problem, multipliers, cost)
    bound, share = _scaled_bound(problem, _restore_equalities(problem, rows), cost)
    if share < 1 - SCALING_LOSS and multipliers.gradient is not None:
        affordable = _afforded(problem, rows, cost)
        steered = _restore_equalities(problem, affordable, affordable.gradient)
        bound = max(bound, _scaled_bound(problem, steered, cost)[0])
    return bound


def _scaled_bound(
    problem: RobustProblem, multipliers: Multipliers | None, cost: Floats
) -> tuple[float, float]:
    """The bound after scaling into the budget, and the share that is left of it."""
    if multipliers is None:
        return 0.0, 0.0
    spent = budget_spent(problem, multipliers, cost)
    share = 1.0 if spent <= problem.radius else problem.radius / spent
    zero_piece = multipliers.alpha[np.arange(problem.n_rows), problem.y]
    return share * float((problem.weight - zero_piece).sum()), share


def _afforded(
    problem: RobustProblem, multipliers: Multipliers, cost: Floats
) -> Multipliers:
    """Flips and the norm's own gradient, shortened together into the budget.

    At a tiny radius scaling all multipliers costs more than this: what the flips lose
    stays with the true label, and the samples' gradient is then steered to the norm's.
    """
    assert multipliers.gradient is not None
    touchable = np.isfinite(problem.attainable_feature_cost())
    gradient = np.where(touchable, multipliers.gradient, 0.0)
    moved = _move_spending(problem, gradient, multipliers.flow)
    spent = moved + _flip_spending(multipliers, cost)
    share = min(1.0, problem.radius / spent) if spent > 0 else 1.0
    phi = share * multipliers.phi
    believed = multipliers.alpha.sum(axis=1)
    grown = (problem.weight - phi.sum(axis=1)) / np.where(believed > 0, believed, 1.0)
    return replace(
        multipliers,
        alpha=multipliers.alpha * grown[:, None],
        phi=phi,
        beta=share * multipliers.beta,
        gradient=share * gradient,
    )


def budget_spent(problem: RobustProblem, multipliers: Multipliers, cost: Floats) -> float:
    """sigma(G) + sum k phi."""
    gradient = np.asarray((problem.X.T @ multipliers.slopes(problem.y)).T)
    moved = _move_spending(problem, gradient, multipliers.flow)
    return _flip_spending(multipliers, cost) + moved


def _flip_spending(multipliers: Multipliers, cost: Floats) -> float:
    return float((np.where(multipliers.phi > 0, cost, 0.0) * multipliers.phi).sum())


def _move_spending(problem: RobustProblem, gradient: Floats, flow: Floats | None) -> float:
    touchable = np.isfinite(problem.attainable_feature_cost())
    if not touchable.any():
        return 0.0
    return polar(
        gradient[:, touchable],
        problem.ball.norm,
        problem.feature_cost[touchable],
        None if flow is None else flow[:, touchable],
    )


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
    return replace(multipliers, alpha=alpha, phi=phi, beta=beta * share[:, None])


def _design(problem: RobustProblem, columns: NDArray[np.bool_]) -> Floats:
    """The chosen columns of X, dense, and the intercept's ones."""
    chosen = problem.X[:, np.flatnonzero(columns)]
    dense = chosen.toarray() if sparse.issparse(chosen) else np.asarray(chosen)
    if problem.fit_intercept:
        return np.column_stack([dense, np.ones(problem.n_rows)])
    return dense


def _restore_equalities(
    problem: RobustProblem, multipliers: Multipliers, gradient: Floats | None = None
) -> Multipliers | None:
    """Move mass within rows until G is right where it must be.

    It must vanish on untouchable columns and the intercept's; given a ``gradient``, it is
    steered to that on all columns.  Each round is the smallest move in the metric of the
    multipliers themselves, so that small ones stay positive; clipped where they do not.
    None if the untouchable columns do not come to zero.
    """
    fixed = np.isinf(problem.attainable_feature_cost())
    columns = fixed if gradient is None else np.ones_like(fixed)
    design = _design(problem, columns)
    aim = np.zeros((problem.n_classes, design.shape[1]))
    if gradient is not None:
        aim[:, : problem.n_features] = gradient
    scale = np.abs(design).max(axis=0, initial=0.0)
    used = scale > 0
    design, aim = design[:, used] / scale[used], aim[:, used] / scale[used]
    strict = np.append(fixed[columns], np.full(int(problem.fit_intercept), True))[used]
    for _ in range(MAX_MOVES):
        residual = multipliers.slopes(problem.y).T @ design - aim
        if np.abs(residual).max(initial=0.0) <= ROUNDING:
            break
        multipliers = _moved(problem, multipliers, design, residual)
    return multipliers if np.abs(residual[:, strict]).max(initial=0.0) <= ROUNDING else None


def _moved(
    problem: RobustProblem, multipliers: Multipliers, design: Floats, residual: Floats
) -> Multipliers:
    """One weighted projection step against ``residual`` (C, E)."""
    curvature = _row_curvature(multipliers.alpha) + _row_curvature(multipliers.beta)
    step = _solve_blocks(curvature, design, residual)
    pull = -design @ step.T
    moved = replace(
        multipliers,
        alpha=_pulled(multipliers.alpha, pull),
        beta=_pulled(multipliers.beta, pull),
    )
    return _restore_rows(problem, moved, problem.attainable_flip_cost())


def _solve_blocks(curvature: Floats, design: Floats, rhs: Floats) -> Floats:
    """Solve (sum_n curvature_n kron e_n e_n') x = rhs, shapes (C, E).

    Shifts of all classes at once are in the kernel and are held at zero; the ridge
    serves columns that depend on each other.
    """
    n_classes, n_columns = rhs.shape
    system = np.empty((n_classes, n_columns, n_classes, n_columns))
    for i in range(n_classes):
        for j in range(n_classes):
            system[i, :, j] = (design * curvature[:, i, j, None]).T @ design
    stiffness = np.einsum("idid->d", system) / n_classes
    stiffness = np.where(stiffness > 0, stiffness, 1.0)
    columns = np.arange(n_columns)
    system[:, columns, :, columns] += stiffness[:, None, None]
    square = system.reshape(rhs.size, rhs.size)
    square[np.diag_indices_from(square)] *= 1 + 1e-12
    try:
        solution = np.linalg.solve(square, rhs.ravel())
    except np.linalg.LinAlgError:
        solution = np.linalg.lstsq(square, rhs.ravel())[0]
    return np.asarray(solution.reshape(rhs.shape))


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
