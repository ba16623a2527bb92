r"""Structured primal-dual interior point: exact training at small and medium size.

Solves the compact program (3C - 1 rows per sample)

    min  eps lam + sum_n w_n s_n
    s_n >= 0,  s_n >= 1 + z_nj - z_ny,  h_n >= z_nj,  s_n >= 1 + h_n - z_nc - lam k_nc,
    lam >= ||M_i - M_j||_*

by Mehrotra's predictor-corrector method (``step``).  s and h are eliminated sample by
sample, and the norm adds one block.  One dense system of size C Q + 1 remains.  Iterations
run in one compiled call until complementarity is below the requested gap.  After that, each
iterate is certified.

A start is moved slightly into the interior (``warm_start``).  The intercept is one more
column, which the adversary cannot move.  The iterates stay primal feasible.  The returned
point is the analytic centre of the solutions within the gap, never a vertex of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from ...problem import RobustProblem
from ...problem.certificate.gap import relative_gap
from ..cones.settings import CONES
from ..result import History, Incumbent, SolverResult, SolverSettings, SolverStatus, Start
from ..scaling import Scaling
from .point import Iterate, ScaledData
from .settings import INTERIOR_POINT
from .warm_start import placed

# Called with every iterate and its relative gap.
Look = Callable[[Iterate, float], None]


def interior_point(
    problem: RobustProblem, settings: SolverSettings, start: Start | None = None
) -> SolverResult:
    """Train to the requested gap, from ``start`` if it is given and useful."""
    problem = problem.without_idle_rows()
    data = ScaledData.of(problem, Scaling.of(problem))
    near = None if start is None else placed(data, problem, start)
    return from_near(problem, settings, data, near)


def from_near(
    problem: RobustProblem,
    settings: SolverSettings,
    data: ScaledData,
    near: Iterate | None,
    look: Look | None = None,
) -> SolverResult:
    """Solve from the point ``near``; if that fails or is None, from a central point."""
    if near is not None:
        result = follow(problem, settings, near, look)
        if result.status is SolverStatus.CONVERGED or settings.max_iter is not None:
            return result
    result = follow(problem, settings, Iterate(data, problem.norm), look)
    if result.status is not SolverStatus.STALLED or problem.radius == 0:
        return result
    for lam in farther_lams(data):
        again = follow(problem, settings, Iterate(data, problem.norm, lam), look)
        result = min(again, result, key=lambda found: found.certificate.gap)
        if result.status is not SolverStatus.STALLED:
            break
    return result


def follow(
    problem: RobustProblem,
    settings: SolverSettings,
    iterate: Iterate,
    look: Look | None = None,
) -> SolverResult:
    """Run the method from a given interior point."""
    best = Incumbent.of_equal_scores(problem)
    history = History(settings.callback)
    max_iter = INTERIOR_POINT.max_iter if settings.max_iter is None else settings.max_iter
    n_iter, n_certified = 0, 0
    near = settings.tol * (INTERIOR_POINT.early_look if iterate.is_wide else 1.0)
    watched = look is not None or settings.callback is not None
    while n_iter < max_iter:
        lines = iterate.run(1 if watched else max_iter - n_iter, near)
        history.add_lines(n_iter, lines[:-1], best.dual_bound)
        n_iter += len(lines)
        if look is not None:
            look(iterate, relative_gap(iterate.gap, iterate.objective))
        if iterate.is_near(near) or iterate.is_stuck or n_iter == max_iter:
            # A few more steps cost less than steering, if more steps are possible.
            steering = (
                n_certified >= INTERIOR_POINT.patience
                or iterate.is_stuck
                or n_iter == max_iter
            )
            n_certified += 1
            if not (iterate.is_wide or steering):
                # To restore multipliers by a step costs less than to repair them.
                iterate.restore()
            point = iterate.data.scaling.original(iterate.coef)
            best.certify(problem, *point, iterate.multipliers(), settings.tol, steering)
        history.add(n_iter, iterate.objective, best.dual_bound)
        if iterate.is_stuck or best.certificate.holds(settings.tol):
            break
    stalled = iterate.is_stuck and not best.certificate.holds(settings.tol)
    if stalled and _radius_is_negligible(problem, best):
        # The optimum at radius 0 is a lower bound for all radii, and easier to certify.
        limit = interior_point(problem.with_radius(0.0), settings)
        if limit.multipliers is not None:
            point = (limit.coef, limit.intercept)
            best.certify(problem, *point, limit.multipliers, settings.tol)
    return best.result("interior-point", settings.tol, stalled, n_iter, history)


def farther_lams(data: ScaledData) -> Iterator[float]:
    """Values of lam to begin with, where a solve from the default one has stalled."""
    priced = data.kappa[np.isfinite(data.kappa) & (data.kappa > 0)]
    if len(priced):
        yield max(
            INTERIOR_POINT.share_of_flips / float(np.median(priced)), CONES.max_start_lam
        )
    yield from INTERIOR_POINT.farther_lams


def _radius_is_negligible(problem: RobustProblem, best: Incumbent) -> bool:
    return 0 < problem.radius * best.lam < INTERIOR_POINT.negligible_share * best.objective
