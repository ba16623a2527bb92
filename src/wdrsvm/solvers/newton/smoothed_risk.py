"""Passes over the rows: value, gradient, curvature and multipliers of the smoothed risk.

One door for all data: dense arrays, CSR, NumPy memory maps, chunks on the workers of a
cluster.  A pass is a fold (``problem.reduction``) of a formula of some rows
(``smoothing``); results are combined in the order of the rows, so that they do not depend
on how many threads or workers there are.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple, Self

import numpy as np

from ...arrays import Codes, Floats
from ...cached import cached_property
from ...problem import RobustProblem
from ...rows.reduce import Kept, Reduction, added
from ..cones.gram import GramSum
from ..scaling import Scaling
from .smoothing import (
    EvaluationPoint,
    LabelSmoothing,
    PieceSmoothing,
    RowSums,
    SoftRows,
    TornRows,
)


class RiskAtPoint(NamedTuple):
    """The smoothed risk without its radius term, at a point.

    ``merit`` is what has the gradient, ``loss`` bounds the risk from above; ``dual`` and
    ``on_flips`` are the value and the flips' cost of the multipliers that come with the
    smoothing.  ``n_soft`` rows have curvature that a sample of them can tell, ``n_torn``
    more than that; ``softness`` says which, and stays with the rows.
    """

    merit: float
    loss: float
    dual: float
    on_flips: float
    gradient: Floats
    n_soft: int
    n_torn: int
    softness: Kept


@dataclass(frozen=True, eq=False)
class SmoothedRisk:
    """Passes over a problem's rows in the solver's units."""

    problem: RobustProblem
    smoothing: PieceSmoothing
    reduction: Reduction

    @classmethod
    def over(cls, problem: RobustProblem, scaling: Scaling, reduction: Reduction) -> Self:
        return cls(problem, cls.smoothing_of(problem, scaling), reduction)

    @staticmethod
    def smoothing_of(problem: RobustProblem, scaling: Scaling) -> PieceSmoothing:
        return PieceSmoothing(scaling)

    @property
    def scaling(self) -> Scaling:
        return self.smoothing.scaling

    @property
    def n_columns(self) -> int:
        """Coefficients per class."""
        return self.scaling.n_columns

    def on(self, rows: Codes) -> Self:
        """Passes over a sample of the rows, held in memory, weights renormalised."""
        part = self.problem.take(rows)
        part = part.with_rows(weight=part.weight / part.weight.sum())
        return replace(self, problem=part, reduction=self.reduction.on(part))

    def point(self, coef: Floats, lam: float, mu: float) -> EvaluationPoint:
        """The solver's (coef, lam) as the rows are told of them."""
        return EvaluationPoint(*self.scaling.original(coef), lam, mu)

    def evaluate(self, coef: Floats, lam: float, mu: float) -> RiskAtPoint:
        """Value, gradient and softness at (coef, lam)."""
        work = partial(self.smoothing.sums, self.point(coef, lam, mu))
        return self._smoothed(*self.reduction.fold_keeping(work, added))

    def evaluate_far(
        self, coef: Floats, lam: float, mu: float, margins: Kept, width: float
    ) -> RiskAtPoint:
        """The same of the rows whose margin exceeds ``width`` alone."""
        work = partial(_sums_of_far, self.smoothing, self.point(coef, lam, mu), width)
        return self._smoothed(self.reduction.fold(work, added, margins), None)

    def _smoothed(self, sums: RowSums, softness: Kept) -> RiskAtPoint:
        gradient = self.scaling.scaled_gradient(sums.gradient, sums.slope_sum)
        return RiskAtPoint(
            float(sums.merit),
            float(sums.loss),
            float(sums.dual),
            float(sums.on_flips),
            gradient,
            sums.n_soft,
            sums.n_torn,
            softness,
        )

    def curvature(
        self, coef: Floats, lam: float, mu: float, now: RiskAtPoint, share: float, seed: int
    ) -> Floats:
        """Curvature in (coef, lam) at the point where the rows are ``now``: that of the
        torn ones, and that of a random ``share`` of the soft ones, divided by it."""
        work = partial(self.smoothing.gram, coef, lam, mu)
        total = np.zeros((coef.size + 1, coef.size + 1))
        torn, soft = TornRows(self.smoothing), SoftRows(self.smoothing, share, seed)
        for count, pick, part in ((now.n_torn, torn, 1.0), (now.n_soft, soft, share)):
            if count:
                gram = self.reduction.fold_picked(pick, now.softness, work, GramSum.joined)
                total += 0.0 if gram is None else gram.total / part
        return total

    def margins(self, coef: Floats, lam: float, n_least: int) -> tuple[Floats, Kept]:
        """By how much each row's largest piece exceeds its second largest: the least of
        these margins, sorted, and all of them, which stay with the rows."""
        at = self.point(coef, lam, 0.0)
        work = partial(_margins_of_rows, self.smoothing, at, n_least)
        least, margins = self.reduction.fold_keeping(work, partial(_least, n_least))
        return least, margins


def _sums_of_far(
    smoothing: PieceSmoothing,
    at: EvaluationPoint,
    width: float,
    problem: RobustProblem,
    rows: slice,
    margins: Floats,
) -> RowSums:
    part = problem.take(rows)
    far = part.with_rows(weight=np.where(margins > width, part.weight, 0.0))
    return smoothing.sums(at, far, slice(None))[0]


def _margins_of_rows(
    smoothing: PieceSmoothing,
    at: EvaluationPoint,
    n_least: int,
    problem: RobustProblem,
    rows: slice,
) -> tuple[Floats, Floats]:
    margins = smoothing.margins(at, problem, rows)
    return _least(n_least, margins, margins[:0]), margins


def _least(count: int, one: Floats, other: Floats) -> Floats:
    """The least of two sets of numbers, sorted."""
    both = np.concatenate([one, other])
    if count < len(both):
        both = np.partition(both, count)[:count]
    return np.sort(both)


@dataclass(frozen=True, eq=False)
class SmoothedLabelRisk(SmoothedRisk):
    """Passes for a smooth loss."""

    smoothing: LabelSmoothing

    @staticmethod
    def smoothing_of(problem: RobustProblem, scaling: Scaling) -> LabelSmoothing:
        return LabelSmoothing(scaling, problem.loss.temperature, problem.loss.margin)

    @property
    def is_barrier(self) -> bool:
        return self.smoothing.is_barrier

    def with_barrier(self, is_barrier: bool) -> Self:
        return replace(self, smoothing=replace(self.smoothing, is_barrier=is_barrier))

    @cached_property
    def has_flips(self) -> bool:
        return bool(self.reduction.fold(_has_flips, np.logical_or))


def _has_flips(problem: RobustProblem, rows: slice) -> Any:
    return np.isfinite(problem.flip_cost_table(rows)[0]).any()
