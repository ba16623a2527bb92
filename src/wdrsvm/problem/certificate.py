r"""Dual bounds: a floor under the optimum, from multipliers and data alone.

Multipliers of row n, all >= 0: alpha_nj of the pieces of the true label (j = y_n is the
zero piece), phi_nc of a flip to c, beta_nj of the class j that wins there, with

    sum_j alpha_nj + sum_c phi_nc = w_n,        sum_j beta_nj = sum_c phi_nc,
    g_n = alpha_n - (sum_j alpha_nj) e_y + beta_n - phi_n,        G = sum_n g_n x_n'.

They are dual feasible iff  sigma(G) + sum k phi <= radius,  G vanishes on features of
infinite cost and, with an intercept, sum_n g_n = 0.  Then  sum_n (w_n - alpha_n,y)  is a
lower bound of the optimum.  Approximate multipliers are made feasible in that order: rows,
equalities (by tilting the rows), budget (by scaling).  Everything needed is a sum over
rows, so one sweep over blocks of rows serves data of any size.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from .loss import LOSSES
from .norms import polar
from .objective import Codes, Floats, RobustProblem
from .row_threads import row_threads

# Equalities that hold to this share of their terms hold in floating point.
ROUNDING = 1e-13
MAX_TILTS = 20
# Rows times squared unknowns up to which steering the gradient is worth its time.
MAX_STEERING_WORK = 1e11
# Rows with all but this share of their mass on one class cannot be tilted to any effect.
SPREAD = 1e-9
TRACE = 1e-9
# A radius below this is worth the bound without a budget.
TINY_RADIUS = 1e-7


class RowMultipliers(NamedTuple):
    """alpha, phi and beta of some rows, each (rows, C)."""

    alpha: Floats
    phi: Floats
    beta: Floats

    def slopes(self, y: Codes) -> Floats:
        """g, shape (rows, C)."""
        slope = self.alpha + self.beta - self.phi
        slope[np.arange(len(y)), y] -= self.alpha.sum(axis=1)
        return np.asarray(slope)


class MultiplierSource(Protocol):
    """Multipliers by blocks of rows, and what is known of the norm's own.

    ``gradient`` (C, P) is the G that the norm constraint's multipliers carry, ``flow``
    (pairs, P) the flow behind it; a solver that has them makes the bound tighter.
    """

    @property
    def flow(self) -> Floats | None: ...
    @property
    def gradient(self) -> Floats | None: ...
    def rows(self, rows: slice) -> RowMultipliers: ...


@dataclass(frozen=True, eq=False)
class Multipliers:
    """Multipliers kept as three (N, C) arrays."""

    alpha: Floats
    phi: Floats
    beta: Floats
    flow: Floats | None = None
    gradient: Floats | None = None

    def rows(self, rows: slice) -> RowMultipliers:
        return RowMultipliers(self.alpha[rows], self.phi[rows], self.beta[rows])


@dataclass(frozen=True, eq=False)
class Loosened:
    """Multipliers with a trace of mass everywhere: tilting cannot move what is zero."""

    problem: RobustProblem
    multipliers: MultiplierSource

    @property
    def flow(self) -> Floats | None:
        return self.multipliers.flow

    @property
    def gradient(self) -> Floats | None:
        return self.multipliers.gradient

    def rows(self, rows: slice) -> RowMultipliers:
        part = self.multipliers.rows(rows)
        trace = TRACE * self.problem.weight[rows, None] / self.problem.n_classes
        return part._replace(alpha=part.alpha + trace, beta=part.beta + trace)


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
    problem: RobustProblem,
    coef: Floats,
    intercept: Floats,
    multipliers: MultiplierSource,
) -> Certificate:
    """Objective recomputed from (coef, intercept), bound from the multipliers."""
    value, lam = problem.risk(coef, intercept)
    return Certificate(value, dual_bound(problem, multipliers), lam)


def dual_bound(
    problem: RobustProblem, multipliers: MultiplierSource, enough: float = np.inf
) -> float:
    """A lower bound of the optimum; 0, which always holds, if there is no better.

    A bound of ``enough`` is not improved any further.
    """
    if problem.loss != LOSSES["crammer-singer"]:
        raise ValueError(
            f"dual bounds are known for the Crammer-Singer loss, got {problem.loss}."
        )
    fixed = np.isinf(problem.attainable_feature_cost())
    feasible, rough = _balanced(problem, multipliers, Design(problem, fixed))
    if feasible is None:
        multipliers = Loosened(problem, multipliers)
        feasible, rough = _balanced(problem, multipliers, Design(problem, fixed))
    bound, share = _scaled_bound(problem, feasible, multipliers.flow)
    work = problem.n_rows * (problem.n_classes * (problem.n_features + 1)) ** 2
    steerable = multipliers.gradient is not None and work <= MAX_STEERING_WORK
    if bound < enough and share < 1 and steerable:
        bound = max(bound, _steered_bound(problem, multipliers, fixed, rough.on_flips))
        if bound < enough and problem.radius < TINY_RADIUS * rough.on_flips + TINY_RADIUS:
            loose = Loosened(problem, multipliers)
            bound = max(bound, _steered_bound(problem, loose, fixed, np.inf))
    return bound


class Sums(NamedTuple):
    """What a sweep returns: value sum (w - alpha_y), sum k phi, G, and, on the columns
    of a design, the sum of g e' (C, E) and, if asked for, the system (C, E, C, E) of a
    tilt."""

    value: float
    on_flips: float
    gradient: Floats
    on_design: Floats
    system: Floats | None

    def plus(self, other: Sums) -> Sums:
        return Sums(
            self.value + other.value,
            self.on_flips + other.on_flips,
            self.gradient + other.gradient,
            self.on_design + other.on_design,
            None if self.system is None else self.system + np.asarray(other.system),
        )


def _scaled_bound(
    problem: RobustProblem, sums: Sums | None, flow: Floats | None
) -> tuple[float, float]:
    """The bound after scaling into the budget, and the share that is left of it."""
    if sums is None:
        return 0.0, 0.0
    spent = sums.on_flips + _move_spending(problem, sums.gradient, flow)
    share = 1.0 if spent <= problem.radius else problem.radius / spent
    return share * sums.value, share


def _steered_bound(
    problem: RobustProblem,
    multipliers: MultiplierSource,
    fixed: NDArray[np.bool_],
    on_flips: float,
) -> float:
    """The bound when flips and the norm's own gradient are shortened into the budget.

    At a tiny radius scaling all multipliers costs more than this: what the flips lose
    stays with the true label, and the samples' gradient is then steered to the norm's.
    Infinite spending leaves no flips and no gradient: the bound without a budget, which
    holds at every radius.
    """
    gradient = np.where(fixed, 0.0, np.asarray(multipliers.gradient))
    spent = on_flips + _move_spending(problem, gradient, multipliers.flow)
    share = min(1.0, problem.radius / spent) if spent > 0 else 1.0
    design = Design(problem, np.ones_like(fixed), share * gradient)
    steered, _ = _balanced(problem, multipliers, design, flip_share=share)
    return _scaled_bound(problem, steered, multipliers.flow)[0]


def _move_spending(problem: RobustProblem, gradient: Floats, flow: Floats | None) -> float:
    """sigma(G) on the touchable features."""
    touchable = np.isfinite(problem.attainable_feature_cost())
    if not touchable.any():
        return 0.0
    return polar(
        gradient[:, touchable],
        problem.norm,
        problem.feature_cost[touchable],
        None if flow is None else flow[:, touchable],
    )


class Design:
    """Columns on which sum_n g_n e_n' must equal ``aim`` (C, E), the intercept's included.

    Strictly on columns the adversary cannot move; elsewhere scaling makes up the rest.
    """

    def __init__(
        self,
        problem: RobustProblem,
        columns: NDArray[np.bool_],
        gradient: Floats | None = None,
    ):
        self.problem = problem
        self.columns = np.flatnonzero(columns)
        self.scale = _largest_entries(problem, self.columns)
        self.columns = self.columns[self.scale > 0]
        self.scale = self.scale[self.scale > 0]
        fixed = np.isinf(problem.attainable_feature_cost())[self.columns]
        aim = np.zeros((problem.n_classes, len(self.columns)))
        if gradient is not None:
            aim = gradient[:, self.columns] / self.scale
        if problem.fit_intercept:
            fixed = np.append(fixed, True)
            aim = np.hstack([aim, np.zeros((problem.n_classes, 1))])
        self.strict, self.aim = fixed, aim

    def rows(self, rows: slice) -> Floats:
        """The design of some rows, scaled to entries of at most 1."""
        block = self.problem.features(rows)[:, self.columns]
        dense = block.toarray() if sparse.issparse(block) else np.asarray(block)
        dense = dense / self.scale
        if self.problem.fit_intercept:
            dense = np.column_stack([dense, np.ones(len(dense))])
        return dense


def _largest_entries(problem: RobustProblem, columns: NDArray[np.intp]) -> Floats:
    largest = np.zeros(len(columns))
    if len(columns):
        for rows in problem.blocks():
            block = np.abs(problem.features(rows)[:, columns]).max(axis=0)
            dense = block.toarray() if sparse.issparse(block) else np.asarray(block)
            largest = np.maximum(largest, dense.ravel())
    return largest


def _balanced(
    problem: RobustProblem,
    multipliers: MultiplierSource,
    design: Design,
    flip_share: float = 1.0,
) -> tuple[Sums | None, Sums]:
    """Tilt rows until g is right on the design; the sums then, and those at first.

    Each tilt is the smallest change in the metric of the multipliers themselves, so that
    small ones stay positive; clipped where they do not, which calls for another.  One
    tilt mostly does: the system for a second is summed only once it is needed.
    """
    tilts: list[Floats] = []
    first = sums = _sweep(problem, multipliers, design, tilts, flip_share, True)
    residual = sums.on_design - design.aim
    while len(tilts) < MAX_TILTS and np.abs(residual).max(initial=0.0) > ROUNDING:
        if sums.system is None:
            sums = _sweep(problem, multipliers, design, tilts, flip_share, True)
        tilts.append(_solve_tilt(np.asarray(sums.system), residual))
        sums = _sweep(problem, multipliers, design, tilts, flip_share, False)
        residual = sums.on_design - design.aim
    exact = np.abs(residual[:, design.strict]).max(initial=0.0) <= ROUNDING
    return (sums if exact else None), first


def _sweep(
    problem: RobustProblem,
    multipliers: MultiplierSource,
    design: Design,
    tilts: list[Floats],
    flip_share: float,
    with_system: bool,
) -> Sums:
    """Sums over all rows of the multipliers made feasible row by row, then tilted."""

    def block(rows: slice) -> Sums:
        y, cost = problem.y[rows], problem.attainable_flip_cost(rows)
        part = multipliers.rows(rows)
        part = _restored(part, problem.weight[rows], y, cost, flip_share)
        columns = design.rows(rows)
        for tilt in tilts:
            part = _tilted(part, columns @ tilt.T)
        slopes = part.slopes(y)
        return Sums(
            float((problem.weight[rows] - part.alpha[np.arange(len(y)), y]).sum()),
            float((np.where(part.phi > 0, cost, 0.0) * part.phi).sum()),
            np.asarray((problem.features(rows).T @ slopes).T),
            slopes.T @ columns,
            _system(part, columns) if with_system else None,
        )

    with row_threads(problem.n_rows) as run:
        sums: Sums = reduce(Sums.plus, run(block, problem.blocks()))
        return sums


def _system(part: RowMultipliers, columns: Floats) -> Floats:
    """How sum_n g_n e_n' answers a tilt of some rows."""
    n_classes, n_columns = part.alpha.shape[1], columns.shape[1]
    system = np.zeros((n_classes, n_columns, n_classes, n_columns))
    _add_curvature(system, part.alpha, columns)
    _add_curvature(system, part.beta, columns)
    return system


def _restored(
    part: RowMultipliers, weight: Floats, y: Codes, cost: Floats, flip_share: float
) -> RowMultipliers:
    """Nonnegative multipliers with the right row sums and no impossible flip."""
    alpha = np.maximum(part.alpha, 0.0)
    phi = np.where(np.isfinite(cost), np.maximum(part.phi, 0.0), 0.0)
    beta = np.maximum(part.beta, 0.0)
    total = alpha.sum(axis=1) + phi.sum(axis=1)
    alpha[np.arange(len(y)), y] += total == 0
    phi *= (weight / np.where(total == 0, 1.0, total))[:, None]
    phi *= np.where(cost > 0, flip_share, 1.0)
    flipped = phi.sum(axis=1)
    believed = alpha.sum(axis=1)
    alpha[np.arange(len(y)), y] += believed == 0
    alpha *= ((weight - flipped) / np.where(believed == 0, 1.0, believed))[:, None]
    # Without a winner the flipped class itself wins, which leaves no slope.
    lost = beta.sum(axis=1) == 0
    beta[lost] = phi[lost]
    winners = beta.sum(axis=1)
    beta *= (flipped / np.where(winners == 0, 1.0, winners))[:, None]
    return RowMultipliers(np.maximum(alpha, 0.0), phi, beta)


def _tilted(part: RowMultipliers, pull: Floats) -> RowMultipliers:
    return part._replace(alpha=_tilt(part.alpha, pull), beta=_tilt(part.beta, pull))


def _tilt(mass: Floats, pull: Floats) -> Floats:
    """Shift mass along ``pull`` within each row, by at most what is there."""
    total = mass.sum(axis=1, keepdims=True)
    safe = np.where(total == 0, 1.0, total)
    mean = (mass * pull).sum(axis=1, keepdims=True) / safe
    moved = mass * np.maximum(1.0 + pull - mean, 0.0)
    after = moved.sum(axis=1, keepdims=True)
    # Rounding of a huge pull may clip all that a row has: then it stays as it was.
    return np.where(after > 0, moved * (total / np.where(after > 0, after, 1.0)), mass)


def _add_curvature(system: Floats, mass: Floats, columns: Floats) -> None:
    """Add sum_n (diag(m_n) - m_n m_n' / sum(m_n)) kron e_n e_n'."""
    n_classes, n_columns = system.shape[:2]
    if n_columns == 0:
        return
    total = mass.sum(axis=1)
    spread_out = total - mass.max(axis=1, initial=0.0) > SPREAD * total
    mass, columns = mass[spread_out], columns[spread_out]
    share = mass / np.sqrt(total[spread_out, None])
    spread = (share[:, :, None] * columns[:, None, :]).reshape(
        len(mass), n_classes * n_columns
    )
    system -= (spread.T @ spread).reshape(system.shape)
    for i in range(n_classes):
        system[i, :, i] += (columns * mass[:, i, None]).T @ columns


def _solve_tilt(system: Floats, residual: Floats) -> Floats:
    """The tilt (C, E) that removes ``residual``.

    Shifts of all classes at once are in the kernel and are held at zero; the ridge
    serves columns that depend on each other.
    """
    n_classes, n_columns = residual.shape
    square = system.copy()
    stiffness = np.einsum("idid->d", square) / n_classes
    stiffness = np.where(stiffness > 0, stiffness, 1.0)
    columns = np.arange(n_columns)
    square[:, columns, :, columns] += stiffness[:, None, None]
    square = square.reshape(residual.size, residual.size)
    square[np.diag_indices_from(square)] *= 1 + 1e-12
    try:
        tilt = np.linalg.solve(square, -residual.ravel())
    except np.linalg.LinAlgError:
        tilt = np.linalg.lstsq(square, -residual.ravel())[0]
    return np.asarray(tilt.reshape(residual.shape))
