r"""Polish in a bounded ball: from a nearly optimal point to the gap asked for.

As in the unbounded ball (``newton.polish``), rows far from a kink are fixed to their
largest piece and become one linear term.  The interior point solves the rest; the
certificate judges on all rows; while the gap is too large, more rows are left free.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ....arrays import Codes, Floats
from ....problem import RobustProblem
from ....problem.bounded.certificate import bounded_dual_bound
from ....problem.bounded.masses import MassSource
from ....problem.certificate.gap import allowed_gap
from ...interior_point.bounded.evaluation import BoundedEvaluation
from ...interior_point.bounded.point import BoundedPoint, FixedRows
from ...result import Incumbent
from ..polish import HARD_MU, NearRows
from ..settings import NEWTON
from .pair_smoothing import PairPoint
from .smoothed_risk import BoundedSmoothedRisk


@dataclass(frozen=True, eq=False)
class FixedAndFreeMasses:
    """Masses: each fixed row has its whole weight on one piece; ``free`` (K, F) are those
    of the free rows, whose numbers are sorted."""

    fixed: MassSource
    free_rows: Codes
    free: Floats

    def rows(self, problem: RobustProblem, rows: slice) -> Floats:
        mass = self.fixed.rows(problem, rows)
        start, stop, _ = rows.indices(problem.n_rows)
        begin, end = problem.first_row + start, problem.first_row + stop
        first, last = np.searchsorted(self.free_rows, [begin, end])
        mass[:, self.free_rows[first:last] - begin] = self.free[:, first:last]
        return mass


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
    few = NEWTON.polished_rows_per_coefficient * smoothed.n_columns
    least, margins = smoothed.margins(hard, few + 1)
    width = NEWTON.bounded_near_margin * at.mu
    near, n_iter = NearRows(smoothed, margins, float(least[-1]), width), 0
    while n_iter < max_iter and not best.certificate.holds(tol) and near.are_few:
        free = near.rows()
        n_iter += _solve_free(evaluation, near, hard, free, best, tol, max_iter - n_iter)
        if len(free) == smoothed.problem.n_rows:
            break
        near = near.wider(NEWTON.bounded_widening)
    return n_iter


def _solve_free(
    evaluation: BoundedEvaluation,
    near: NearRows[BoundedSmoothedRisk],
    hard: PairPoint,
    free: Codes,
    best: Incumbent,
    tol: float,
    max_iter: int,
) -> int:
    """Solve the problem in which only some rows are free; returns the iterations."""
    smoothed = near.smoothed
    point = BoundedPoint(
        smoothed.layout, smoothed.problem.take(free), _fixed_rows(near, hard)
    )
    # The fixed rows may still change, so an exact solution would be wasted.
    share = NEWTON.polished if len(free) < smoothed.problem.n_rows else 0.0
    for n_iter in range(1, max_iter + 1):
        point.predictor_corrector()
        if point.gap <= allowed_gap(tol, point.objective) or point.is_stuck:
            loss, _, *mults = (part / point.mass for part in point.mults())
            masses = FixedAndFreeMasses(smoothed.masses(hard), free, loss)
            plan = evaluation.plan(smoothed.layout, masses, mults)
            evaluation.offer(smoothed.layout, point, best)
            best.raise_bound(bounded_dual_bound(evaluation.normalised, plan), None)
        solved = point.gap <= share * allowed_gap(tol, point.objective)
        # Too many rows are fixed if their problem has a value below the whole's bound.
        solved |= point.objective < best.dual_bound - allowed_gap(tol, best.objective)
        if best.certificate.holds(tol) or solved or point.is_stuck:
            return n_iter
    return max_iter


def _fixed_rows(near: NearRows[BoundedSmoothedRisk], at: PairPoint) -> FixedRows:
    layout = near.smoothed.layout
    sums = near.smoothed.far_sums(at, near.margins, near.reach)
    moments = sums.moments[layout.label, layout.winner]
    return FixedRows(sums.dual, moments @ layout.lift, sums.on_flips)
