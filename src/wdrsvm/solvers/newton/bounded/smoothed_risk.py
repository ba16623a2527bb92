"""The smoothed risk of a bounded problem: value, gradient, curvature and masses."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple, Self

import numpy as np

from ....arrays import Codes, Floats
from ....problem import RobustProblem
from ....rows.reduce import Kept, Reduction, added
from ...interior_point.bounded.layout import BoundedLayout
from .pair_smoothing import PairFrames, PairPoint, PairSmoothing, softness_flags


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
        self, at: PairPoint, frame: Floats, now: SmoothedPairs, share: float, seed: int
    ) -> Floats:
        """Curvature by a random share of the soft rows, divided by it.

        ``frame`` (K, P + 1, W) turns (x, 1) into derivatives (``PairFrames``).
        """
        n_classes, n_shared = self.problem.n_classes, self.layout.n_shared
        size = n_classes * n_shared + 1 + n_classes**2
        frames = PairFrames(self._by_class(frame), n_shared, size)
        work = partial(self.smoothing.gram, at, frames)
        gram = self.reduction.fold_picked(_SoftRows(share, seed), now.softness, work, added)
        return np.zeros((size, size)) if gram is None else np.asarray(gram / share)

    def margins(self, at: PairPoint) -> Floats:
        """By how much each row's largest piece exceeds its second largest, (N,)."""
        work = partial(self.smoothing.margins, at)
        margins: Floats = self.reduction.fold_keeping(work, added)[1]
        return margins

    def masses(self, at: PairPoint) -> Floats:
        """The masses of the pairs, (K, N), of rows in memory."""
        return self._masses(at, self.layout.label, self.layout.winner)

    def stays(self, at: PairPoint) -> Floats:
        """The masses (C, N) of labels whose winner is the label itself."""
        each = np.arange(self.problem.n_classes)
        return self._masses(at, each, each)

    def _masses(self, at: PairPoint, label: Codes, winner: Codes) -> Floats:
        work = partial(_masses_of, self.smoothing, at)
        masses = self.reduction.fold_keeping(work, added)[1]
        return np.ascontiguousarray(masses.transpose(1, 2, 0)[label, winner])


def _masses_of(
    smoothing: PairSmoothing, at: PairPoint, problem: RobustProblem, rows: slice
) -> tuple[int, Floats]:
    X = problem.features(rows)
    found = smoothing.rows(at, problem, rows, X)
    masses = smoothing.masses(found, problem.y[rows], problem.weight[rows])
    return len(X), masses.transpose(2, 0, 1)


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
