r"""Polish in a bounded ball: from a nearly optimal point to the gap asked for.

As in the unbounded ball (``newton.polish``), rows far from a kink are fixed to their
largest piece and become one linear term.  The interior point solves the rest; the
certificate judges on all rows; while the gap is too large, more rows are left free.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from ....arrays import Codes, Floats
from ....problem import RobustProblem
from ....problem.bounded.certificate import bounded_dual_bound
from ....problem.certificate.gap import allowed_gap
from ....rows.reduce import added
from ...interior_point.bounded.evaluation import BoundedEvaluation
from ...interior_point.bounded.point import BoundedPoint, FixedRows
from ...result import Incumbent
from ..polish import HARD_MU
from ..settings import NEWTON
from .pair_smoothing import PairPoint, PairSmoothing, PairSums
from .smoothed_risk import BoundedSmoothedRisk


def bounded_polish(
    evaluation: BoundedEvaluation,
    smoothed: BoundedSmoothedRisk,
    at: PairPoint,
    best: Incumbent,
    tol: float,
    max_iter: int,
) -> int:
    """Improve ``best`` until its gap is ``tol``; returns the number of iterations."""
    hard = at._replace(mu=HARD_MU)
    margins = smoothed.margins(hard)
    n_rows, width, n_iter = len(margins), NEWTON.bounded_near_margin * at.mu, 0
    few = min(n_rows - 1, NEWTON.polished_rows_per_coefficient * smoothed.n_columns)
    width = max(width, float(np.partition(margins, few)[few]))
    while n_iter < max_iter and not best.certificate.holds(tol):
        free = np.flatnonzero(margins <= width)
        n_iter += _solve_free(
            evaluation, smoothed, hard, free, best, tol, max_iter - n_iter
        )
        if len(free) == n_rows:
            break
        width *= NEWTON.bounded_widening
    return n_iter


def _solve_free(
    evaluation: BoundedEvaluation,
    smoothed: BoundedSmoothedRisk,
    hard: PairPoint,
    free: Codes,
    best: Incumbent,
    tol: float,
    max_iter: int,
) -> int:
    """Solve the problem in which only some rows are free; returns the iterations."""
    is_fixed = np.ones(evaluation.problem.n_rows)
    is_fixed[free] = 0.0
    fixed = _fixed_rows(smoothed, hard, is_fixed)
    point = BoundedPoint(smoothed.layout, smoothed.problem.take(free), fixed)
    mass = smoothed.masses(hard)
    # The fixed rows may still change, so an exact solution would be wasted.
    share = NEWTON.polished if is_fixed.any() else 0.0
    for n_iter in range(1, max_iter + 1):
        point.predictor_corrector()
        if point.gap <= allowed_gap(tol, point.objective) or point.is_stuck:
            loss, _, *mults = point.mults()
            mass[:, free] = loss / point.mass
            plan = evaluation.plan(
                smoothed.layout, mass, [part / point.mass for part in mults], 1.0
            )
            evaluation.offer(smoothed.layout, point, best)
            best.raise_bound(bounded_dual_bound(evaluation.normalised, plan), None)
        solved = point.gap <= share * allowed_gap(tol, point.objective)
        # Too many rows are fixed if their problem has a value below the whole's bound.
        solved |= point.objective < best.dual_bound - allowed_gap(tol, best.objective)
        if best.certificate.holds(tol) or solved or point.is_stuck:
            return n_iter
    return max_iter


def _fixed_rows(
    smoothed: BoundedSmoothedRisk, at: PairPoint, is_fixed: Floats
) -> FixedRows:
    work = partial(_sums_of_fixed, smoothed.smoothing, at)
    sums = smoothed.reduction.fold(work, added, is_fixed)
    moments = sums.moments[smoothed.layout.label, smoothed.layout.winner]
    return FixedRows(sums.dual, moments @ smoothed.layout.lift, sums.on_flips)


def _sums_of_fixed(
    smoothing: PairSmoothing,
    at: PairPoint,
    problem: RobustProblem,
    rows: slice,
    is_fixed: Floats,
) -> PairSums:
    part = problem.take(rows)
    part = part.with_rows(weight=part.weight * is_fixed)
    return smoothing.sums(at, part, slice(None))[0]
