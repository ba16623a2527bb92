r"""Dual bounds: a floor under the optimum, from multipliers and data alone.

Multipliers of row n, all >= 0: alpha_nj of the pieces of the true label (j = y_n is the
zero piece), phi_nc of a flip to c, beta_nj of the class j that wins there, with

    sum_j alpha_nj + sum_c phi_nc = w_n,        sum_j beta_nj = sum_c phi_nc,
    g_n = alpha_n - (sum_j alpha_nj) e_y + beta_n - phi_n,        G = sum_n g_n x_n'.

They are dual feasible iff  sigma(G) + sum k phi <= radius,  G vanishes on features of
infinite cost and, with an intercept, sum_n g_n = 0.  Then  sum_n (w_n - alpha_n,y)  is a
lower bound of the optimum.  That is the Crammer-Singer loss; smooth losses have the same
conditions and their own rows and value (``tangents``).  Approximate multipliers are made
feasible in that order: rows, equalities (by tilting the rows), budget (by scaling).
Everything needed is a sum over rows, so one sweep over blocks of rows serves data of any
size, wherever they are.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from ...arrays import Flags, Floats
from ...rows.reduce import added
from ..norms import polar
from ..problem import RobustProblem
from .equalities import EQUALITY_ROUNDING, Design, Sums, largest_entries
from .gap import Certificate
from .joint import Joint
from .multipliers import Loosened, MultiplierSource
from .radius_envelope import NOTHING, DualPoint
from .settings import CERTIFICATE


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
    return dual_point(problem, multipliers, enough).bound(problem.radius)


def dual_point(
    problem: RobustProblem,
    multipliers: MultiplierSource,
    enough: float = np.inf,
    steering: bool = True,
) -> DualPoint:
    """The feasible multipliers behind :func:`dual_bound`, which bound other radii too.

    Without ``steering`` they are only balanced, which is mostly good and always cheap.
    """
    nothing = problem.take(np.empty(0, dtype=np.intp))
    if not multipliers.rows(nothing, slice(0, 0)).belong_to(problem.loss):
        raise ValueError(f"these multipliers are not those of the loss {problem.loss}.")
    if enough <= 0:
        return NOTHING
    radius = problem.radius
    fixed = np.isinf(problem.attainable_feature_cost())
    feasible, rough = _balanced(problem, multipliers, Design.of(problem, fixed))
    if feasible is None:
        multipliers = Loosened(multipliers)
        feasible, rough = _balanced(problem, multipliers, Design.of(problem, fixed))
    point = _point(problem, feasible, multipliers.flow)
    unscaled = feasible is not None and point.share(radius) == 1
    unknowns = problem.n_classes * (problem.n_features + 1)
    steering = steering and multipliers.gradient is not None
    steerable = steering and problem.n_rows * unknowns**2 <= CERTIFICATE.max_steering_work
    steerable = steerable and unknowns <= CERTIFICATE.max_steering_unknowns
    if point.bound(radius) < enough and not unscaled and steerable:
        steered = _steered(problem, multipliers, fixed, rough.on_flips)
        point = _better(point, steered, radius)
        least = CERTIFICATE.tiny_radius
        tiny = radius < least * rough.on_flips + least
        if point.bound(radius) < enough and tiny:
            loose = Loosened(multipliers)
            point = _better(point, _steered(problem, loose, fixed, np.inf), radius)
        if point.bound(radius) < enough and _can_tilt_jointly(problem, rough.on_flips):
            joint = _steered(problem, Joint(multipliers), fixed, rough.on_flips)
            point = _better(point, joint, radius)
    return point


def _can_tilt_jointly(problem: RobustProblem, on_flips: float) -> bool:
    entries = problem.n_rows * (problem.n_classes**2 + (problem.n_features + 1) ** 2)
    kinks = problem.loss.temperature == 0 and not problem.is_distributed
    return kinks and on_flips > 0 and entries <= CERTIFICATE.max_joint_entries


def _better(one: DualPoint, other: DualPoint, radius: float) -> DualPoint:
    return other if other.bound(radius) > one.bound(radius) else one


def balanced_sums(problem: RobustProblem, multipliers: MultiplierSource) -> Sums | None:
    """Sums of multipliers that meet the equalities, before they are scaled."""
    fixed = np.isinf(problem.attainable_feature_cost())
    return _balanced(problem, multipliers, Design.of(problem, fixed))[0]


def _point(problem: RobustProblem, sums: Sums | None, flow: Floats | None) -> DualPoint:
    """What balanced multipliers are worth, before they are scaled into the budget."""
    if sums is None:
        return NOTHING
    on_moves = _move_spending(problem, sums.gradient, flow)
    return DualPoint(sums.value, on_moves, sums.on_flips)


def _steered(
    problem: RobustProblem,
    multipliers: MultiplierSource,
    fixed: Flags,
    on_flips: float,
) -> DualPoint:
    """The multipliers when flips and the norm's own gradient are shortened into the budget.

    At a tiny radius scaling all multipliers costs more than this: what the flips lose
    stays with the true label, and the samples' gradient is then steered to the norm's.
    Infinite spending leaves no flips and no gradient: the bound without a budget, which
    holds at every radius.
    """
    gradient = np.where(fixed, 0.0, np.asarray(multipliers.gradient))
    flow = multipliers.flow
    spent = on_flips + _move_spending(problem, gradient, flow)
    share = min(1.0, problem.radius / spent) if spent > 0 else 1.0
    costly = fixed | ~_cost_nothing(problem)
    best = NOTHING
    for _ in range(CERTIFICATE.max_steerings):
        design = Design.of(problem, costly, share * gradient)
        steered, _ = _balanced(problem, multipliers, design, flip_share=share)
        steered = None if steered is None else design.rounded(steered)
        own_flow = None if flow is None else share * flow
        reached = _point(problem, steered, own_flow)
        best = _better(best, reached, problem.radius)
        if steered is None or reached.share(problem.radius) >= 1 - EQUALITY_ROUNDING:
            break
        # Tilting may have spent a little more on flips.
        share *= reached.share(problem.radius)
    return best


def _cost_nothing(problem: RobustProblem) -> Flags:
    """Features so small that no multipliers on them could spend any of the budget.

    What the norm's own multipliers say of them is rounding, which nothing can meet.
    """
    largest = largest_entries(problem, np.arange(problem.n_features))
    cost = np.where(np.isfinite(problem.feature_cost), problem.feature_cost, 0.0)
    return np.asarray(cost * largest < CERTIFICATE.negligible_share * problem.radius)


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


def _balanced(
    problem: RobustProblem,
    multipliers: MultiplierSource,
    design: Design,
    flip_share: float = 1.0,
) -> tuple[Sums | None, Sums]:
    """Tilt rows until g is right on the design; the sums then, and those at first.

    Each tilt is the smallest change in the metric of the multipliers themselves, so that
    small ones stay positive; clipped where they do not, which calls for another.  One
    tilt mostly does: the system for a second is summed only once it is needed, and for the
    first as well where rows are few and a sweep costs little.  A tilt that leads away,
    where rows are too few to follow every one, is made stiffer.
    """
    tilts: list[Floats] = []
    many = problem.n_rows > CERTIFICATE.few_rows
    first = sums = _sweep(problem, multipliers, design, tilts, flip_share, many)
    # Rows too few to meet the aim everywhere can still meet it where they must.
    for columns in (np.ones_like(design.strict), design.strict):
        ridge, limit = CERTIFICATE.first_ridge, len(tilts) + CERTIFICATE.max_tilts
        while len(tilts) < limit and ridge < CERTIFICATE.last_ridge:
            miss = design.miss(sums, columns)
            if miss <= EQUALITY_ROUNDING:
                break
            if sums.system is None:
                sums = _sweep(problem, multipliers, design, tilts, flip_share, True)
            system = np.asarray(sums.system)
            tilts.append(_solve_tilt(system, design.lack(sums), ridge, columns))
            tilted = _sweep(problem, multipliers, design, tilts, flip_share, False)
            if design.miss(tilted, columns) < miss:
                sums = tilted
            else:
                tilts.pop()
                ridge *= CERTIFICATE.ridge_factor
    exact = design.miss(sums, design.strict) <= EQUALITY_ROUNDING
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
    work = partial(
        _sums_of_rows, multipliers, design, tuple(tilts), flip_share, with_system
    )
    with problem.reduction() as reduction:
        sums: Sums = reduction.fold(work, added)
    return sums


def _sums_of_rows(
    multipliers: MultiplierSource,
    design: Design,
    tilts: tuple[Floats, ...],
    flip_share: float,
    with_system: bool,
    problem: RobustProblem,
    rows: slice,
) -> Sums:
    y, weight = problem.y[rows], problem.weight[rows]
    cost = problem.attainable_flip_cost(rows)
    part = multipliers.rows(problem, rows).restored(weight, y, cost, flip_share)
    columns = design.rows(problem, rows)
    for tilt in tilts:
        part = part.tilted(columns @ tilt.T)
    slopes = part.slopes(y)
    return Sums(
        part.value(weight, y),
        part.spending(cost),
        np.asarray((design.features(problem, rows).T @ slopes).T),
        slopes.T @ columns,
        np.abs(slopes).T @ np.abs(columns),
        part.curvature(columns) if with_system else None,
    )


def _solve_tilt(system: Floats, lack: Floats, ridge: float, columns: Flags) -> Floats:
    """The tilt (C, E) that supplies what the sums ``lack`` on some columns.

    Shifts of all classes at once are in the kernel and are held at zero; the ridge
    serves columns that depend on each other.
    """
    n_classes, wanted = len(lack), lack[:, columns]
    square = system[:, columns][:, :, :, columns]
    stiffness = np.einsum("idid->d", square) / n_classes
    stiffness = np.where(stiffness > 0, stiffness, 1.0)
    each = np.arange(len(stiffness))
    square[:, each, :, each] += stiffness[:, None, None]
    square = square.reshape(wanted.size, wanted.size)
    square[np.diag_indices_from(square)] *= 1 + ridge
    try:
        solution = np.linalg.solve(square, wanted.ravel())
    except np.linalg.LinAlgError:
        solution = np.linalg.lstsq(square, wanted.ravel())[0]
    tilt = np.zeros_like(lack)
    tilt[:, columns] = solution.reshape(wanted.shape)
    return tilt
