"""Passes over the rows: value, gradient, curvature and multipliers of the smoothed risk.

One door for all data: dense arrays, CSR, NumPy memory maps.  Rows are visited in fixed
blocks that threads share; block results are summed in the order of the blocks, so the
result does not depend on how many threads there are.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from ..problem import RobustProblem
from ..problem.multipliers import RowDuals, RowMultipliers
from ..problem.row_threads import Run
from ..problem.tangents import RowTangents
from . import smooth_rows, soft_rows
from .sample_rows import weighted_gram
from .scaling import Scaling

Floats = NDArray[np.float64]

# Rows whose curvature is left out: one piece has all but this share of the softmax.
SATURATED = 1e-5
CURVATURE_BLOCK = 4096


class Smoothed(NamedTuple):
    """The smoothed risk without its radius term, at a point.

    ``merit`` is what has the gradient, ``loss`` bounds the risk from above; ``dual`` and
    ``on_flips`` are the value and the flips' cost of the multipliers that come with the
    smoothing; ``softness`` (N,) tells which rows have curvature.
    """

    merit: float
    loss: float
    dual: float
    on_flips: float
    gradient: Floats
    softness: Floats


@dataclass(frozen=True, eq=False)
class Passes:
    """Passes over a problem's rows in the solver's units.

    ``flip_cost`` (rows, C) holds the distinct rows of label costs, ``cost_row`` (N,) tells
    which one a sample has.
    """

    problem: RobustProblem
    scaling: Scaling
    flip_cost: Floats
    cost_row: NDArray[np.intp]
    run: Run

    @classmethod
    def over(cls, problem: RobustProblem, scaling: Scaling, run: Run) -> Self:
        if problem.label_trust is None:
            each = replace(
                problem,
                X=np.zeros((problem.n_classes, 0)),
                y=np.arange(problem.n_classes),
                weight=np.ones(problem.n_classes),
            )
            cost, row = each.attainable_flip_cost(), problem.y
        else:
            cost, row = problem.attainable_flip_cost(), np.arange(problem.n_rows)
        return cls(problem, scaling, cost / scaling.unit, row, run)

    def on(self, rows: NDArray[np.intp]) -> Self:
        """Passes over a sample of the rows, held in memory, weights renormalised."""
        problem = self.problem
        weight = problem.weight[rows]
        trust = problem.label_trust
        part = replace(
            problem,
            X=problem.features(rows),
            y=problem.y[rows],
            weight=weight / weight.sum(),
            label_trust=None if trust is None else trust[rows],
        )
        return type(self).over(part, self.scaling, self.run)

    def evaluate(self, coef: Floats, lam: float, mu: float) -> Smoothed:
        """Value, gradient and softness at (coef, lam)."""
        plain = self.scaling.original(coef)
        results = list(
            self.run(lambda rows: self._block(rows, *plain, lam, mu), self.problem.blocks())
        )
        merit, loss, dual, on_flips, gradient, slope_sum = (
            sum(part[i] for part in results) for i in range(6)
        )
        softness = np.concatenate([part[6] for part in results])
        scaled = self.scaling.scaled_gradient(np.asarray(gradient), np.asarray(slope_sum))
        return Smoothed(
            float(merit), float(loss), float(dual), float(on_flips), scaled, softness
        )

    def _block(
        self, rows: slice, coef: Floats, intercept: Floats, lam: float, mu: float
    ) -> tuple[Any, ...]:
        X = self.problem.features(rows)
        arguments = self._arguments(rows, np.asarray(X @ coef.T) + intercept)
        *sums, slopes, softness = self._soften(*arguments, lam, mu)
        gradient = np.asarray((X.T @ slopes).T)
        # NumPy's own sum along few columns is slower than all the rest.
        return *sums, gradient, np.ones(len(slopes)) @ slopes, softness

    def _soften(self, *arguments: Any) -> tuple[Any, ...]:
        """Merit, loss, dual value, flip cost, slopes and softness of some rows."""
        loss, *others = soft_rows.soften(*arguments)
        return loss, loss, *others

    def _curve(self, *arguments: Any) -> Floats:
        """Curvature (n, C+1, C+1) of some rows in (z, lam)."""
        curvature: Floats = soft_rows.soft_curvature(*arguments)
        return curvature

    def multipliers(self, rows: slice, scores: Floats, lam: float, mu: float) -> RowDuals:
        """The multipliers of some rows that come with the smoothing."""
        arguments = self._arguments(rows, scores)
        return RowMultipliers(*soft_rows.soft_multipliers(*arguments, lam, mu))

    def _arguments(self, rows: Any, scores: Floats) -> tuple[Any, ...]:
        problem = self.problem
        return (
            scores,
            problem.y[rows],
            self.flip_cost,
            self.cost_row[rows],
            problem.weight[rows],
        )

    def margins(self, coef: Floats, lam: float) -> Floats:
        """By how much each row's largest piece exceeds its second largest."""
        plain = self.scaling.original(coef)
        blocks = self.run(
            lambda rows: self._margin(rows, *plain, lam), self.problem.blocks()
        )
        return np.concatenate(list(blocks))

    def _margin(self, rows: slice, coef: Floats, intercept: Floats, lam: float) -> Floats:
        scores = self.problem.scores(coef, intercept, rows)
        margin: Floats = soft_rows.piece_margins(*self._arguments(rows, scores), lam)
        return margin

    def curvature(
        self, coef: Floats, lam: float, mu: float, chosen: NDArray[np.intp], share: float
    ) -> Floats:
        """Curvature in (coef, lam) of the chosen rows, divided by the ``share`` of all
        rows with curvature that they are."""
        starts = range(0, len(chosen), CURVATURE_BLOCK)
        blocks = [chosen[start : start + CURVATURE_BLOCK] for start in starts]
        grams = self.run(lambda rows: self._gram(rows, coef, lam, mu), blocks)
        size = coef.size + 1
        return np.asarray(sum(grams, np.zeros((size, size))) / share)

    def _gram(self, rows: NDArray[np.intp], coef: Floats, lam: float, mu: float) -> Floats:
        design = self.scaling.design(self.problem.X[rows])
        arguments = self._arguments(rows, design @ coef.T)
        gram: Floats = weighted_gram(self._curve(*arguments, lam, mu), design)
        return gram


@dataclass(frozen=True, eq=False)
class LabelPasses(Passes):
    """Passes for a smooth loss: only the maximum over labels is smoothed, by a barrier
    or a softmax.  ``softness`` has a second column: how stiffly labels are torn."""

    is_barrier: bool = True

    @cached_property
    def has_flips(self) -> bool:
        return bool(np.isfinite(self.flip_cost).any())

    def on(self, rows: NDArray[np.intp]) -> Self:
        return replace(super().on(rows), is_barrier=self.is_barrier)

    def _family(self, mu: float) -> tuple[bool, float, float]:
        loss = self.problem.loss
        return self.is_barrier, max(loss.temperature, mu), loss.margin

    def _soften(self, *arguments: Any) -> tuple[Any, ...]:
        family = self._family(arguments[-1])
        sums: tuple[Any, ...] = smooth_rows.soften_labels(*arguments, *family)
        return sums

    def _curve(self, *arguments: Any) -> Floats:
        family = self._family(arguments[-1])
        curvature: Floats = smooth_rows.label_curvature(*arguments, *family)
        return curvature

    def multipliers(self, rows: slice, scores: Floats, lam: float, mu: float) -> RowDuals:
        arguments = self._arguments(rows, scores)
        masses = smooth_rows.label_masses(*arguments, lam, mu, *self._family(mu))
        return RowTangents(self.problem.loss, scores, masses)


@dataclass(frozen=True, eq=False)
class SoftmaxMultipliers:
    """The smoothing's multipliers at a point, computed block by block when asked for."""

    passes: Passes
    coef: Floats
    intercept: Floats
    lam: float
    mu: float
    flow: Floats | None
    gradient: Floats | None

    def rows(self, rows: slice) -> Any:
        scores = self.passes.problem.scores(self.coef, self.intercept, rows)
        return self.passes.multipliers(rows, scores, self.lam, self.mu)
