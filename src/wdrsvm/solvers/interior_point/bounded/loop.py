r"""Interior point for bounded balls: features in a box, categories.

The program is exact for l1 transport, and for categories in every norm.  For a box with l2
or linf transport, all rows share the variables of the box (``layout``).  Then the program
is a safe upper bound of the worst-case risk.  ``problem.risk`` gives the exact risk of a
classifier.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from ....problem import RobustProblem
from ....problem.bounded.certificate import bounded_dual_bound
from ....problem.certificate.gap import allowed_gap
from ...result import History, Incumbent, SolverResult, SolverSettings, SolverStatus, Start
from ..settings import INTERIOR_POINT
from .evaluation import BoundedEvaluation
from .point import BoundedPoint
from .smooth_point import SmoothBoundedPoint

# A certificate gains if it leaves no more than this share of the gap.
GAIN = 0.9


def bounded_interior_point(
    problem: RobustProblem, settings: SolverSettings, start: Start | None = None
) -> SolverResult:
    """Train to the requested gap; ``start`` is not used."""
    evaluation = BoundedEvaluation.of(problem.without_idle_rows())
    result = follow(evaluation, settings)
    for first_lam in INTERIOR_POINT.bounded_lams:
        if result.status is not SolverStatus.STALLED:
            break
        again = follow(evaluation, settings, first_lam)
        result = min(again, result, key=lambda found: found.certificate.gap)
    return result


@dataclass
class Patience:
    """When to certify a point: each, until many certificates in turn have gained nothing.

    A certificate of few rows costs as much as dozens of steps.
    """

    gap: float = math.inf
    n_vain: int = 0
    n_waited: int = 0

    def is_due(self) -> bool:
        self.n_waited += 1
        n_beyond = max(self.n_vain - INTERIOR_POINT.bounded_patience, 0)
        return self.n_waited >= 1 << n_beyond

    def note(self, gap: float) -> None:
        """A certificate was computed; the best gap so far."""
        self.n_vain = 0 if gap < GAIN * self.gap else self.n_vain + 1
        self.gap, self.n_waited = gap, 0


def follow(
    evaluation: BoundedEvaluation, settings: SolverSettings, first_lam: float = 1.0
) -> SolverResult:
    """Run the method from the central point with this lam, in the normalised units."""
    layout, problem = evaluation.layout(), evaluation.normalised
    kind = SmoothBoundedPoint if problem.loss.temperature > 0 else BoundedPoint
    point = kind(layout, problem, first_lam=first_lam)
    best = Incumbent(*evaluation.classifier(point))
    history = History(settings.callback)
    limit = settings.max_iter
    max_iter = INTERIOR_POINT.max_iter if limit is None else limit
    looked_at, n_iter = max(settings.tol, INTERIOR_POINT.bounded_look), 0
    patience = Patience()
    while n_iter < max_iter:
        n_iter += 1
        point.predictor_corrector()
        near = point.gap <= allowed_gap(looked_at, point.objective)
        if (near and patience.is_due()) or point.is_stuck or n_iter == max_iter:
            _certify(evaluation, point, best)
            patience.note(best.certificate.gap)
        history.add(n_iter, point.objective, best.dual_bound)
        if point.is_stuck or best.certificate.holds(settings.tol):
            break
    return best.result("interior-point", settings.tol, point.is_stuck, n_iter, history)


def _certify(evaluation: BoundedEvaluation, point: BoundedPoint, best: Incumbent) -> None:
    """Offer a point's classifier and its bound."""
    evaluation.offer(point.layout, point, best)
    plan = point.plan(evaluation)
    best.raise_bound(bounded_dual_bound(evaluation.normalised, plan), None)
