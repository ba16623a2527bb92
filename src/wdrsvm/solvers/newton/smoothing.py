"""How rows are smoothed: formulas of some rows, the same in memory and on a worker.

They hold no rows, so that they can be sent to where the rows are.
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


class Point(NamedTuple):
    """Where the rows are looked at: the problem's (coef, intercept), lam in the solver's
    units, and the smoothing."""

    coef: Floats
    intercept: Floats
    lam: float
    mu: float


class RowSums(NamedTuple):
    """What a pass adds up, over some rows; ``n_soft`` have curvature, some of which can
    speak for all of them, ``n_torn`` so much that none can be left out."""

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

    def sums(self, at: Point, problem: RobustProblem, rows: slice) -> tuple[RowSums, Any]:
        """Sums over some rows, and how soft each of them is."""
        X = problem.features(rows)
        scores = np.asarray(X @ at.coef.T) + at.intercept
        merit, loss, dual, on_flips, slopes, softness = self._soften(
            *self.arguments(problem, rows, scores), at.lam, at.mu
        )
        torn, soft = self.torn_and_soft(softness)
        sums = RowSums(
            merit,
            loss,
            dual,
            on_flips,
            gradient=np.asarray((X.T @ slopes).T),
            # NumPy's own sum along few columns is slower than all the rest.
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
        arguments = self.arguments(problem, rows, design @ coef.T)
        return GramSum.of(self._curve(*arguments, lam, mu), design)

    def margins(self, at: Point, problem: RobustProblem, rows: slice) -> Floats:
        """By how much each row's largest piece exceeds its second largest."""
        scores = problem.scores(at.coef, at.intercept, rows)
        arguments = self.arguments(problem, rows, scores)
        margin: Floats = kernels.piece_margins(*arguments, at.lam)
        return margin

    def arguments(
        self, problem: RobustProblem, rows: Any, scores: Floats
    ) -> tuple[Any, ...]:
        """What the compiled functions are told of some rows."""
        cost, cost_row = problem.flip_cost_table(rows)
        unit, scores = self.scaling.unit, np.ascontiguousarray(scores)
        return scores, problem.y[rows], cost / unit, cost_row, problem.weight[rows]

    def torn_and_soft(self, softness: Floats) -> tuple[Flags, Flags]:
        """Rows whose curvature counts: all of these, and a sample of those."""
        return np.zeros(len(softness), dtype=bool), softness > NEWTON.saturated

    def _soften(self, *arguments: Any) -> tuple[Any, ...]:
        """Merit, loss, dual value, flip cost, slopes and softness of some rows."""
        loss, *others = kernels.soften(*arguments)
        return loss, loss, *others

    def _curve(self, *arguments: Any) -> Floats:
        """Curvature (n, C+1, C+1) of some rows in (z, lam)."""
        curvature: Floats = kernels.soft_curvature(*arguments)
        return curvature

    def multipliers(self, at: Point, problem: RobustProblem, rows: slice) -> RowDuals:
        """The multipliers of some rows that come with the smoothing."""
        scores = problem.scores(at.coef, at.intercept, rows)
        arguments = self.arguments(problem, rows, scores)
        return RowMultipliers(*kernels.soft_multipliers(*arguments, at.lam, at.mu))


@dataclass(frozen=True, eq=False)
class LabelSmoothing(PieceSmoothing):
    """For a smooth loss: only the maximum over labels is smoothed, by a barrier or a
    softmax.  Softness has a second column: how stiffly labels are torn."""

    temperature: float = 1.0
    margin: float = 0.0
    is_barrier: bool = True

    def torn_and_soft(self, softness: Floats) -> tuple[Flags, Flags]:
        loose, tension = softness.T
        torn = tension > NEWTON.torn
        return torn, ~torn & (loose > NEWTON.stiff * loose.mean())

    def _family(self, mu: float) -> tuple[bool, float, float]:
        return self.is_barrier, max(self.temperature, mu), self.margin

    def _soften(self, *arguments: Any) -> tuple[Any, ...]:
        family = self._family(arguments[-1])
        sums: tuple[Any, ...] = kernels.soften_labels(*arguments, *family)
        return sums

    def _curve(self, *arguments: Any) -> Floats:
        family = self._family(arguments[-1])
        curvature: Floats = kernels.label_curvature(*arguments, *family)
        return curvature

    def multipliers(self, at: Point, problem: RobustProblem, rows: slice) -> RowDuals:
        scores = problem.scores(at.coef, at.intercept, rows)
        arguments = self.arguments(problem, rows, scores)
        masses = kernels.label_masses(*arguments, at.lam, at.mu, *self._family(at.mu))
        return RowTangents(problem.loss, scores, masses)


@dataclass(frozen=True, eq=False)
class TornRows:
    """Picks the rows whose curvature must not be left out."""

    smoothing: PieceSmoothing

    def __call__(self, problem: RobustProblem, softness: Floats) -> Codes:
        return np.flatnonzero(self.smoothing.torn_and_soft(softness)[0])


@dataclass(frozen=True, eq=False)
class SoftRows:
    """Picks each of the other rows with curvature with probability ``share``."""

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
    """The smoothing's multipliers at a point, computed block by block when asked for."""

    smoothing: PieceSmoothing
    at: Point
    flow: Floats | None = None
    gradient: Floats | None = None

    def rows(self, problem: RobustProblem, rows: slice) -> Any:
        return self.smoothing.multipliers(self.at, problem, rows)
