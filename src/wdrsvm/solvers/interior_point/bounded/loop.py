r"""Interior point for bounded balls: features in a box, categories.

Exact for l1 transport and for categories in every norm.  For a box with l2 or linf
transport all rows share what the box limits: a safe upper bound of the worst-case risk,
which ``problem.risk`` evaluates exactly for any one classifier.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ....arrays import Floats
from ....problem import RobustProblem
from ....problem.bounded.certificate import PairPlan, bounded_dual_bound
from ....problem.certificate.gap import allowed_gap
from ...result import History, Incumbent, SolverResult, SolverSettings, Start
from ..settings import INTERIOR_POINT
from .layout import BoundedLayout
from .point import BoundedPoint
from .units import BoundedUnits


def bounded_interior_point(
    problem: RobustProblem, settings: SolverSettings, start: Start | None = None
) -> SolverResult:
    """Train to the gap asked for.  ``start`` is not used: the method starts centrally."""
    problem = problem.without_idle_rows()
    evaluation = _Evaluation.of(problem)
    point = evaluation.start()
    best = Incumbent(*evaluation.classifier(point))
    history = History(settings.callback)
    limit = settings.max_iter
    max_iter = INTERIOR_POINT.max_iter if limit is None else limit
    looked_at, n_iter = max(settings.tol, INTERIOR_POINT.bounded_look), 0
    while n_iter < max_iter:
        n_iter += 1
        point.predictor_corrector()
        near = point.gap <= allowed_gap(looked_at, point.objective)
        if near or point.is_stuck or n_iter == max_iter:
            evaluation.certify(point, best)
        history.add(n_iter, point.objective, best.dual_bound)
        if point.is_stuck or best.certificate.holds(settings.tol):
            break
    return best.result("interior-point", settings.tol, point.is_stuck, n_iter, history)


@dataclass(frozen=True, eq=False)
class _Evaluation:
    """Points are of the ``normalised`` problem, risks are those of the problem itself."""

    problem: RobustProblem
    units: BoundedUnits
    normalised: RobustProblem

    @classmethod
    def of(cls, problem: RobustProblem) -> _Evaluation:
        units = BoundedUnits.of(problem)
        return cls(problem, units, units.normalised(problem))

    def start(self) -> BoundedPoint:
        problem, layout = self.normalised, BoundedLayout.of(self.normalised)
        return BoundedPoint(layout, problem.n_classes, problem.weight, problem.radius)

    def classifier(self, point: BoundedPoint) -> tuple[Floats, Floats]:
        return self.units.original(*_classifier(self.normalised, point))

    def certify(self, point: BoundedPoint, best: Incumbent) -> None:
        """Offer a point's classifier and its bound."""
        limited = self.units.original_slopes(point.layout.limited(point.own))
        classifier = self.classifier(point)
        lam = point.lam / self.units.unit
        best.offer(*classifier, self.problem.moves.trained_risk(*classifier, lam, limited))
        plan = plan_of(self.normalised, point)
        best.raise_bound(bounded_dual_bound(self.normalised, plan), None)


def _classifier(problem: RobustProblem, point: BoundedPoint) -> tuple[Floats, Floats]:
    """coef and intercept in the gauge where classes sum to zero."""
    coef = point.coef - point.coef.mean(axis=0)
    intercept = coef[:, -1] if problem.fit_intercept else np.zeros(len(coef))
    return coef[:, : problem.n_features].copy(), intercept.copy()


def plan_of(problem: RobustProblem, point: BoundedPoint) -> PairPlan:
    """The adversary's plan in a point's multipliers."""
    layout, (loss, _, sides, *cones) = point.layout, point.mults()
    pull = sides @ layout.sides
    if cones:
        pull -= cones[0] @ layout.cone
    moved = pull[:, : problem.n_features] / point.mass
    moved[:, np.isinf(problem.moves.cost)] = 0.0
    return PairPlan(
        winner=layout.winner,
        label=layout.label,
        mass=loss / point.mass,
        moved=moved,
        switched=[m / point.mass for m in layout.switch_multipliers(sides)],
    )
