r"""Dual bounds: lower bounds of the optimum, from multipliers and data alone.

Row n has three kinds of multipliers, all >= 0: alpha_nj for the pieces of the loss of the
true label (j = y_n is the zero piece), phi_nc for a flip to c, and beta_nj for the class j
that wins against the flipped label.  They satisfy

    sum_j alpha_nj + sum_c phi_nc = w_n,        sum_j beta_nj = sum_c phi_nc,
    g_n = alpha_n - (sum_j alpha_nj) e_y + beta_n - phi_n,        G = sum_n g_n x_n'.

They are dual feasible if and only if  sigma(G) + sum k phi <= radius,  G is zero on
features of infinite cost and, with an intercept, sum_n g_n = 0.  Then
sum_n (w_n - alpha_n,y)  is a lower bound of the optimum.  These are the formulas of the
Crammer-Singer loss.  Smooth losses have the same conditions, but other multipliers and
another value (``smooth.py``).

Approximate multipliers are made feasible in three steps: row by row, then the equalities
by tilting the rows (``repair.py``, ``tilts.py``), then the budget by scaling.
"""

from __future__ import annotations

import numpy as np

from ...arrays import Flags, Floats
from ..norms import polar
from ..pair_weights import PairWeights
from ..problem import RobustProblem
from .equalities import Equalities, Sums, largest_entries
from .gap import Certificate
from .joint import Joint
from .multipliers import Loosened, MultiplierSource
from .radius_envelope import NOTHING, DualPoint
from .repair import Repair
from .settings import CERTIFICATE
from .tilts import EQUALITY_ROUNDING


def certify(
    problem: RobustProblem,
    coef: Floats,
    intercept: Floats,
    multipliers: MultiplierSource,
) -> Certificate:
    """The certificate of a classifier: objective and lower bound, computed from the data.

    The objective is that of (coef, intercept), the bound that of the multipliers.
    """
    value, lam = problem.risk(coef, intercept)
    return Certificate(value, dual_bound(problem, multipliers), lam)


def dual_bound(
    problem: RobustProblem, multipliers: MultiplierSource, enough: float = np.inf
) -> float:
    """A lower bound of the optimum; 0, which is always valid, if none better is found.

    The search for a better bound stops as soon as the bound is at least ``enough``.
    """
    return dual_point(problem, multipliers, enough).bound(problem.radius)


def dual_point(
    problem: RobustProblem,
    multipliers: MultiplierSource,
    enough: float = np.inf,
    steering: bool = True,
) -> DualPoint:
    """The feasible multipliers of :func:`dual_bound`, which give bounds at other radii too.

    Without ``steering`` the multipliers are only balanced.  This is always cheap, and
    mostly good.
    """
    if enough <= 0:
        return NOTHING
    radius = problem.radius
    fixed = np.isinf(problem.attainable_feature_cost())
    after, rough = _balanced(problem, multipliers, Equalities.of(problem, fixed))
    if not after.is_feasible:
        multipliers = Loosened(multipliers)
        after, rough = _balanced(problem, multipliers, Equalities.of(problem, fixed))
    point = _point(after, multipliers.flow)
    unscaled = after.is_feasible and point.share(radius) == 1
    point = _drawn(problem, after, point)
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


def _point(
    balanced: Repair, flow: Floats | PairWeights | None, is_rounded: bool = False
) -> DualPoint:
    """Value and spending of balanced multipliers, before scaling into the budget.

    Nothing if the strict equalities could not be met.
    """
    if not balanced.is_feasible:
        return NOTHING
    sums, totals = balanced.sums, balanced.totals
    if is_rounded:
        totals = balanced.equalities.rounded(sums, totals)
    on_moves = _move_spending(balanced.problem, totals.gradient, flow)
    return DualPoint(totals.value, on_moves, sums.on_flips)


def _drawn(problem: RobustProblem, balanced: Repair, point: DualPoint) -> DualPoint:
    """A point that spends too much, with its tangents drawn towards the labels.

    Their slopes become shorter, and they lose less than in proportion: the loss of the rows
    as they are remains.  With flips, and with masses on pieces, nothing is gained.
    """
    share = point.share(problem.radius)
    if share == 1 or not problem.trusts_labels or problem.loss.temperature == 0:
        return point
    value, on_moves = balanced.value_drawn(share), share * point.on_moves
    return _better(DualPoint(value, on_moves, 0.0), point, problem.radius)


def _steered(
    problem: RobustProblem,
    multipliers: MultiplierSource,
    fixed: Flags,
    on_flips: float,
) -> DualPoint:
    """The multipliers after flips and the norm's gradient are scaled into the budget.

    At a tiny radius, scaling all multipliers loses more than this does.  Here the mass that
    the flips lose goes to the true label.  Then the gradient of the rows is steered to the
    scaled gradient of the norm's multipliers.  If ``on_flips`` is infinite, no flips and no
    gradient remain.  The result is the bound without a budget, valid at every radius.
    """
    gradient = np.where(fixed, 0.0, np.asarray(multipliers.gradient))
    flow = multipliers.flow
    spent = on_flips + _move_spending(problem, gradient, flow)
    share = min(1.0, problem.radius / spent) if spent > 0 else 1.0
    costly = fixed | ~_cost_nothing(problem)
    best = NOTHING
    for _ in range(CERTIFICATE.max_steerings):
        equalities = Equalities.of(problem, costly, share * gradient)
        steered, _ = _balanced(problem, multipliers, equalities, flip_share=share)
        own_flow = share * flow if isinstance(flow, np.ndarray) else flow
        reached = _point(steered, own_flow, is_rounded=True)
        best = _better(best, reached, problem.radius)
        if (
            not steered.is_feasible
            or reached.share(problem.radius) >= 1 - EQUALITY_ROUNDING
        ):
            break
        # Tilting may have raised the spending on flips a little.
        share *= reached.share(problem.radius)
    return best


def _cost_nothing(problem: RobustProblem) -> Flags:
    """Features so small that multipliers on them spend a negligible part of the budget.

    The norm's gradient on these features is rounding, which the rows cannot match.
    """
    largest = largest_entries(problem, np.arange(problem.n_features))
    cost = np.where(np.isfinite(problem.feature_cost), problem.feature_cost, 0.0)
    return np.asarray(cost * largest < CERTIFICATE.negligible_share * problem.radius)


def _move_spending(
    problem: RobustProblem, gradient: Floats, flow: Floats | PairWeights | None
) -> float:
    """sigma(G) on the touchable features."""
    touchable = np.isfinite(problem.attainable_feature_cost())
    if not touchable.any():
        return 0.0
    return polar(
        gradient[:, touchable],
        problem.norm,
        problem.feature_cost[touchable],
        flow[:, touchable] if isinstance(flow, np.ndarray) else flow,
    )


def _balanced(
    problem: RobustProblem,
    multipliers: MultiplierSource,
    equalities: Equalities,
    flip_share: float = 1.0,
) -> tuple[Repair, Sums]:
    """The multipliers after all tilts, and their sums before."""
    before = Repair(problem, multipliers, equalities, flip_share)
    return before.balanced(), before.sums
