"""The smoothed risk of all rows: value, gradient, curvature and multipliers.

The same code serves dense arrays, CSR, NumPy memory maps, and chunks on the workers of a
cluster.  A formula of some rows (``smoothing``) is applied to each block of rows
(``problem.reduction``).  The results are added in the order of the rows, so that they do
not depend on the number of threads or workers.
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

    ``gradient`` is the gradient of ``merit``; ``loss`` bounds the risk from above.
    ``dual`` and ``on_flips`` are value and flip cost of the smoothing's multipliers.
    ``n_torn`` rows have so much curvature that none may be left out; for ``n_soft`` other
    rows a sample is enough.  ``softness`` tells which rows these are.  It stays where the
    rows are.
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
    """The smoothed risk of a problem in the solver's units."""

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
        """The risk of some rows, which are copied to memory; their weights sum to 1."""
        part = self.problem.take(rows)
        part = part.with_rows(weight=part.weight / part.weight.sum())
        return replace(self, problem=part, reduction=self.reduction.on(part))

    def point(self, coef: Floats, lam: float, mu: float) -> EvaluationPoint:
        """The solver's (coef, lam) in the units in which rows are evaluated."""
        return EvaluationPoint(*self.scaling.original(coef), lam, mu)

    def evaluate(self, coef: Floats, lam: float, mu: float) -> RiskAtPoint:
        """Value, gradient and softness at (coef, lam)."""
        work = partial(self.smoothing.sums, self.point(coef, lam, mu))
        return self._smoothed(*self.reduction.fold_keeping(work, added))

    def evaluate_far(
        self, coef: Floats, lam: float, mu: float, margins: Kept, width: float
    ) -> RiskAtPoint:
        """The same for the rows whose margin exceeds ``width``."""
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
        """Curvature in (coef, lam) at the point whose values are ``now``.

        All torn rows count, and a random ``share`` of the soft rows, divided by the share.
        """
        work = partial(self.smoothing.gram, coef, lam, mu)
        total = np.zeros((coef.size + 1, coef.size + 1))
        torn, soft = TornRows(self.smoothing), SoftRows(self.smoothing, share, seed)
        for count, pick, part in ((now.n_torn, torn, 1.0), (now.n_soft, soft, share)):
            if count:
                gram = self.reduction.fold_picked(pick, now.softness, work, GramSum.joined)
                total += 0.0 if gram is None else gram.total / part
        return total

    def margins(self, coef: Floats, lam: float, n_least: int) -> tuple[Floats, Kept]:
        """Margins of all rows: largest piece minus second largest.

        Returns the ``n_least`` smallest margins, sorted, and all margins, which stay where
        the rows are.
        """
        at = self.point(coef, lam, 0.0)
        work = partial(_margins_of_rows, self.smoothing, at, n_least)
        least, margins = self.reduction.fold_keeping(work, partial(least_of, n_least))
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
    return least_of(n_least, margins, margins[:0]), margins


def least_of(count: int, one: Floats, other: Floats) -> Floats:
    """The least of two sets of numbers, sorted."""
    both = np.concatenate([one, other])
    if count < len(both):
        both = np.partition(both, count)[:count]
    return np.sort(both)


@dataclass(frozen=True, eq=False)
class SmoothedLabelRisk(SmoothedRisk):
    """The smoothed risk of a smooth loss."""

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
