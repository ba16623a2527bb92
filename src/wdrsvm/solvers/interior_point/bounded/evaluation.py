"""Points of a normalised bounded problem, judged by risks and bounds of the problem."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from ....arrays import Floats
from ....cached import cached_property
from ....problem import RobustProblem
from ....problem.bounded.masses import Masses
from ....problem.bounded.plan_sums import PairPlan
from ...result import Incumbent, Start
from .layout import BoundedLayout
from .units import BoundedUnits


class LiftedPoint(Protocol):
    """Variables of the program by pairs."""

    coef: Floats
    lam: float
    own: Floats


@dataclass(frozen=True, eq=False)
class BoundedEvaluation:
    """Evaluates points of the ``normalised`` problem by risks of the problem itself."""

    problem: RobustProblem
    units: BoundedUnits
    normalised: RobustProblem

    @classmethod
    def of(cls, problem: RobustProblem) -> BoundedEvaluation:
        units = BoundedUnits.of(problem)
        return cls(problem, units, units.normalised(problem))

    def layout(self) -> BoundedLayout:
        return BoundedLayout.of(self.normalised, self.middle)

    @cached_property
    def middle(self) -> Floats:
        """The mean of the normalised rows, (P,)."""
        mean = self.problem.moves.facts.mean
        return np.asarray((mean - self.units.centre) / self.units.width)

    def normalised_start(self, start: Start) -> Start:
        """A given point in the units of the normalised problem."""
        table = self.units.normalised_classifier(start.coef, start.intercept)
        return Start(table[:, :-1], table[:, -1], start.lam * self.units.unit)

    def classifier(self, point: LiftedPoint) -> tuple[Floats, Floats]:
        """coef and intercept, centred so that they sum to zero over the classes."""
        coef, n_features = point.coef - point.coef.mean(axis=0), self.problem.n_features
        intercept = coef[:, -1] if self.problem.fit_intercept else np.zeros(len(coef))
        found = self.units.original(coef[:, :n_features].copy(), intercept.copy())
        return self._with_mean_categories(*found)

    def _with_mean_categories(
        self, coef: Floats, intercept: Floats
    ) -> tuple[Floats, Floats]:
        """The same scores, with coefficients of mean zero over the rows in each group.

        One-hot columns sum to one, like the intercept's column.  A row without a known
        category then counts as a mean row.
        """
        if not self.problem.fit_intercept:
            return coef, intercept
        for group in self.normalised.moves.groups:
            shift = coef[:, group.columns] @ self.middle[group.columns]
            coef[:, group.columns] -= shift[:, None]
            intercept = intercept + shift
        return coef, intercept

    def offer(self, layout: BoundedLayout, point: LiftedPoint, best: Incumbent) -> None:
        """Offer a point's classifier."""
        limited = self.units.original_slopes(layout.limited(point.own))
        classifier, lam = self.classifier(point), point.lam / self.units.unit
        best.offer(*classifier, self.problem.moves.trained_risk(*classifier, lam, limited))

    def plan(self, layout: BoundedLayout, masses: Masses, mults: list[Floats]) -> PairPlan:
        """The adversary's transport plan, from masses of the losses and multipliers of
        the sides and of the cones."""
        sides, *cones = mults
        pull = sides @ layout.sides
        if cones:
            pull -= cones[0] @ layout.cone
        moved = pull[:, : self.problem.n_features].copy()
        moved[:, np.isinf(self.normalised.moves.cost)] = 0.0
        return PairPlan(
            winner=layout.winner,
            label=layout.label,
            mass=masses,
            moved=moved,
            switched=layout.switch_multipliers(sides),
        )
