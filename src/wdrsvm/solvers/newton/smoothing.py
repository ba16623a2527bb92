"""Formulas of some smoothed rows, the same in memory and on a worker.

The objects have no rows.  Therefore they can be sent to the place where the rows are.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ...arrays import Codes, Flags, Floats
from ...problem import RobustProblem
from ...problem.certificate.multipliers import RowDuals, RowMultipliers
from ...problem.certificate.smooth import RowTangents
from ..cones.gram import GramSum
from ..scaling import Scaling
from . import kernels
from .settings import NEWTON


class EvaluationPoint(NamedTuple):
    """Where the rows are evaluated: the problem's (coef, intercept), lam in the solver's
    units, and the smoothing mu."""

    coef: Floats
    intercept: Floats
    lam: float
    mu: float


class RowSums(NamedTuple):
    """Sums over some rows.

    ``n_torn`` rows have so much curvature that none may be left out.  For ``n_soft`` other
    rows with curvature, a sample is enough.
    """

    merit: float
    loss: float
    dual: float
    on_flips: float
    gradient: Floats
    slope_sum: Floats
    n_soft: int
    n_torn: int


@dataclass(frozen=True, eq=False)
class PieceSmoothing:
    """A softmax over the pieces of the Crammer-Singer loss."""

    scaling: Scaling

    def sums(
        self, at: EvaluationPoint, problem: RobustProblem, rows: slice
    ) -> tuple[RowSums, Any]:
        """Sums over some rows, and how soft each of them is."""
        X = problem.features(rows)
        scores = np.asarray(X @ at.coef.T) + at.intercept
        scored = self.scored(problem, rows, scores, at.lam)
        merit, loss, dual, on_flips, slopes, softness = self._soften(scored, at.mu)
        torn, soft = self.torn_and_soft(softness)
        sums = RowSums(
            merit,
            loss,
            dual,
            on_flips,
            gradient=np.asarray((X.T @ slopes).T),
            # For few columns this is much faster than ``slopes.sum(axis=0)``.
            slope_sum=np.ones(len(slopes)) @ slopes,
            n_soft=int(np.count_nonzero(soft)),
            n_torn=int(np.count_nonzero(torn)),
        )
        return sums, softness

    def gram(
        self, coef: Floats, lam: float, mu: float, problem: RobustProblem, rows: Codes
    ) -> GramSum:
        """Curvature of some rows in (coef, lam), both the solver's."""
        design = self.scaling.design(problem.X[rows])
        scored = self.scored(problem, rows, design @ coef.T, lam)
        return GramSum.of(self._curve(scored, mu), design)

    def margins(self, at: EvaluationPoint, problem: RobustProblem, rows: slice) -> Floats:
        """By how much each row's largest piece exceeds its second largest."""
        scores = problem.scores(at.coef, at.intercept, rows)
        scored = self.scored(problem, rows, scores, at.lam)
        margin: Floats = kernels.piece_margins(scored)
        return margin

    def scored(self, problem: RobustProblem, rows: Any, scores: Floats, lam: float) -> Any:
        """The record of some rows that the compiled functions read."""
        cost, cost_row = problem.flip_cost_table(rows)
        cost, scores = cost / self.scaling.unit, np.ascontiguousarray(scores)
        weight = problem.weight[rows]
        return kernels.ScoredRows(scores, problem.y[rows], cost, cost_row, weight, lam)

    def torn_and_soft(self, softness: Floats) -> tuple[Flags, Flags]:
        """Rows whose curvature must be counted, and rows of which a sample is enough."""
        return np.zeros(len(softness), dtype=bool), softness > NEWTON.saturated

    def _soften(self, scored: Any, mu: float) -> tuple[Any, ...]:
        """Merit, loss, dual value, flip cost, slopes and softness of some rows."""
        loss, *others = kernels.soften(scored, mu)
        return loss, loss, *others

    def _curve(self, scored: Any, mu: float) -> Floats:
        """Curvature (n, C+1, C+1) of some rows in (z, lam)."""
        curvature: Floats = kernels.soft_curvature(scored, mu)
        return curvature

    def multipliers(
        self, at: EvaluationPoint, problem: RobustProblem, rows: slice
    ) -> RowDuals:
        """The multipliers of some rows that come with the smoothing."""
        scores = problem.scores(at.coef, at.intercept, rows)
        scored = self.scored(problem, rows, scores, at.lam)
        return RowMultipliers(*kernels.soft_multipliers(scored, at.mu))


@dataclass(frozen=True, eq=False)
class LabelSmoothing(PieceSmoothing):
    """For a smooth loss: only the maximum over labels is smoothed.

    The smoothing is a barrier or a softmax.  The second column of the softness is the
    curvature between labels.
    """

    temperature: float = 1.0
    margin: float = 0.0
    is_barrier: bool = True

    def torn_and_soft(self, softness: Floats) -> tuple[Flags, Flags]:
        loose, tension = softness.T
        torn = tension > NEWTON.torn
        mean = loose.sum() / len(loose)
        return torn, ~torn & (loose > NEWTON.stiff * mean)

    def _family(self, mu: float) -> tuple[bool, float, float]:
        return self.is_barrier, max(self.temperature, mu), self.margin

    def _soften(self, scored: Any, mu: float) -> tuple[Any, ...]:
        sums: tuple[Any, ...] = kernels.soften_labels(scored, mu, *self._family(mu))
        return sums

    def _curve(self, scored: Any, mu: float) -> Floats:
        curvature: Floats = kernels.label_curvature(scored, mu, *self._family(mu))
        return curvature

    def multipliers(
        self, at: EvaluationPoint, problem: RobustProblem, rows: slice
    ) -> RowDuals:
        scores = problem.scores(at.coef, at.intercept, rows)
        scored = self.scored(problem, rows, scores, at.lam)
        masses = kernels.label_masses(scored, at.mu, *self._family(at.mu))
        return RowTangents(problem.loss, scores, masses)


@dataclass(frozen=True, eq=False)
class TornRows:
    """Selects the rows whose curvature must not be left out."""

    smoothing: PieceSmoothing

    def __call__(self, problem: RobustProblem, softness: Floats) -> Codes:
        return np.flatnonzero(self.smoothing.torn_and_soft(softness)[0])


@dataclass(frozen=True, eq=False)
class SoftRows:
    """Selects each of the other rows with curvature with probability ``share``."""

    smoothing: PieceSmoothing
    share: float
    seed: int

    def __call__(self, problem: RobustProblem, softness: Floats) -> Codes:
        soft = np.flatnonzero(self.smoothing.torn_and_soft(softness)[1])
        if self.share >= 1:
            return soft
        rng = np.random.default_rng([self.seed, problem.first_row])
        return soft[rng.random(len(soft)) < self.share]


@dataclass(frozen=True, eq=False)
class SoftmaxMultipliers:
    """The smoothing's multipliers at a point, computed block by block on demand."""

    smoothing: PieceSmoothing
    at: EvaluationPoint
    flow: Floats | None = None
    gradient: Floats | None = None

    def rows(self, problem: RobustProblem, rows: slice) -> Any:
        return self.smoothing.multipliers(self.at, problem, rows)
