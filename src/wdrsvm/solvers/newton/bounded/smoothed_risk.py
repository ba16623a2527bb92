"""The smoothed risk of a bounded problem: value, gradient, curvature and masses."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple, Self

import numpy as np

from ....arrays import Codes, Floats
from ....problem import RobustProblem
from ....rows.blocks import dense_rows
from ....rows.reduce import Kept, Reduction, added
from ...interior_point.bounded.layout import BoundedLayout
from ..smoothed_risk import least_of
from .pair_smoothing import (
    PairFrames,
    PairPoint,
    PairSmoothing,
    PairSums,
    softness_flags,
)


class SmoothedPairs(NamedTuple):
    """The smoothed risk without its radius term, at a point.

    ``moments`` (K, P + 1) are the masses of the pairs times (x, 1).
    """

    loss: float
    dual: float
    on_flips: float
    moments: Floats
    n_soft: int
    softness: Kept

    @property
    def merit(self) -> float:
        return self.loss


@dataclass(frozen=True, eq=False)
class BoundedSmoothedRisk:
    """The smoothed risk over a problem's rows, in the solver's units."""

    problem: RobustProblem
    layout: BoundedLayout
    smoothing: PairSmoothing
    reduction: Reduction

    @classmethod
    def over(
        cls, problem: RobustProblem, layout: BoundedLayout, reduction: Reduction
    ) -> Self:
        loss = problem.loss
        has_flips = bool(reduction.fold(_has_flips, np.logical_or))
        smoothing = PairSmoothing(loss.temperature, loss.margin, has_flips)
        return cls(problem, layout, smoothing, reduction)

    @property
    def n_columns(self) -> int:
        """Coefficients per class."""
        return self.layout.n_shared

    def on(self, rows: Codes) -> Self:
        """The same over a sample of the rows, in memory, with weights that sum to one."""
        part = self.problem.take(rows)
        part = part.with_rows(weight=part.weight / part.weight.sum())
        return replace(self, problem=part, reduction=self.reduction.on(part))

    def point(self, local: Floats, lam: float, mu: float) -> PairPoint:
        """The point for the rows, from the variables v (K, V) of the pairs."""
        return PairPoint(self._by_class(local @ self.layout.lift.T), lam, mu)

    def _by_class(self, of_pairs: Floats) -> Floats:
        """Arrays of the pairs (K, ...) as (C, C, ...) by label and winner."""
        n_classes = self.problem.n_classes
        table = np.zeros((n_classes, n_classes, *of_pairs.shape[1:]))
        table[self.layout.label, self.layout.winner] = of_pairs
        return table

    def evaluate(self, at: PairPoint) -> SmoothedPairs:
        """Value, gradient and softness."""
        sums, softness = self.reduction.fold_keeping(
            partial(self.smoothing.sums, at), added
        )
        moments = sums.moments[self.layout.label, self.layout.winner]
        return SmoothedPairs(
            sums.loss, sums.dual, sums.on_flips, moments, sums.n_soft, softness
        )

    def curvature(
        self,
        at: PairPoint,
        frames: PairFrames,
        now: SmoothedPairs,
        share: float,
        seed: int,
    ) -> Floats:
        """Curvature by a random share of the soft rows, divided by it."""
        work = partial(self.smoothing.gram, at, frames)
        gram = self.reduction.fold_picked(_SoftRows(share, seed), now.softness, work, added)
        empty = np.zeros((frames.size, frames.size))
        return empty if gram is None else np.asarray(gram / share)

    def frames(self, basis: Floats) -> PairFrames:
        """How scores change along a basis (K, V, W) of the local variables."""
        n_shared = self.layout.n_shared
        n_own = basis.shape[2] - n_shared - 1
        return PairFrames(self._by_class(self.layout.lift @ basis), n_shared, n_own)

    def margins(self, at: PairPoint, n_least: int) -> tuple[Floats, Kept]:
        """By how much each row's largest piece exceeds its second largest.

        Returns the ``n_least`` smallest margins, sorted, and all margins, which stay where
        the rows are.
        """
        work = partial(_margins_of_rows, self.smoothing, at, n_least)
        least, margins = self.reduction.fold_keeping(work, partial(least_of, n_least))
        return least, margins

    def far_sums(self, at: PairPoint, margins: Kept, width: float) -> PairSums:
        """The sums over rows whose margin exceeds ``width``."""
        work = partial(_sums_of_far, self.smoothing, at, width)
        sums: PairSums = self.reduction.fold(work, added, margins)
        return sums

    def masses(self, at: PairPoint, with_stays: bool = False) -> SoftmaxMasses:
        """The masses of the pairs, then, if asked for, those that stay with a label."""
        label, winner = self.layout.label, self.layout.winner
        if with_stays:
            each = np.arange(self.problem.n_classes)
            label, winner = np.append(label, each), np.append(winner, each)
        return SoftmaxMasses(self.smoothing, at, label, winner)


@dataclass(frozen=True, eq=False)
class SoftmaxMasses:
    """The masses of some pairs (label, winner) at a point."""

    smoothing: PairSmoothing
    at: PairPoint
    label: Codes
    winner: Codes

    def rows(self, problem: RobustProblem, rows: slice) -> Floats:
        found = self.smoothing.rows(self.at, problem, rows, dense_rows(problem.X[rows]))
        masses = self.smoothing.masses(found, problem.y[rows], problem.weight[rows])
        return masses[self.label, self.winner]


def _margins_of_rows(
    smoothing: PairSmoothing,
    at: PairPoint,
    n_least: int,
    problem: RobustProblem,
    rows: slice,
) -> tuple[Floats, Floats]:
    margins = smoothing.margins(at, problem, rows)
    return least_of(n_least, margins, margins[:0]), margins


def _sums_of_far(
    smoothing: PairSmoothing,
    at: PairPoint,
    width: float,
    problem: RobustProblem,
    rows: slice,
    margins: Floats,
) -> PairSums:
    part = problem.take(rows)
    part = part.with_rows(weight=np.where(margins > width, part.weight, 0.0))
    return smoothing.sums(at, part, slice(None))[0]


def _has_flips(problem: RobustProblem, rows: slice) -> bool:
    return bool(np.isfinite(problem.flip_cost_table(rows)[0]).any())


@dataclass(frozen=True, eq=False)
class _SoftRows:
    """Picks each row with curvature with probability ``share``."""

    share: float
    seed: int

    def __call__(self, problem: RobustProblem, softness: Floats) -> Codes:
        soft = np.flatnonzero(softness_flags(softness))
        if self.share >= 1:
            return soft
        rng = np.random.default_rng([self.seed, problem.first_row])
        return soft[rng.random(len(soft)) < self.share]
