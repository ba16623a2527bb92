"""Passes over the rows: value, gradient, curvature and multipliers of the smoothed risk.

One door for all data: dense arrays, CSR, NumPy memory maps.  Rows are visited in fixed
blocks that threads share; block results are summed in the order of the blocks, so the
result does not depend on how many threads there are.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..problem import RobustProblem
from ..problem.certificate import RowMultipliers
from ..problem.row_threads import Run
from . import soft_rows
from .sample_rows import weighted_gram
from .scaling import Scaling

Floats = NDArray[np.float64]

# Rows whose curvature is left out: one piece has all but this share of the softmax.
SATURATED = 1e-5
CURVATURE_BLOCK = 4096


class Smoothed(NamedTuple):
    """The smoothed risk without its radius term, at a point.

    ``dual`` and ``on_flips`` are sum (w - alpha_y) and sum k phi of the softmax
    multipliers, ``softness`` (N,) tells which rows have curvature.
    """

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
    def over(cls, problem: RobustProblem, scaling: Scaling, run: Run) -> Passes:
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

    def on(self, rows: NDArray[np.intp]) -> Passes:
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
        return Passes.over(part, self.scaling, self.run)

    def evaluate(self, coef: Floats, lam: float, mu: float) -> Smoothed:
        """Value, gradient and softness at (coef, lam)."""
        plain = self.scaling.original(coef)
        results = list(
            self.run(lambda rows: self._block(rows, *plain, lam, mu), self.problem.blocks())
        )
        loss, dual, on_flips, gradient, slope_sum = (
            sum(part[i] for part in results) for i in range(5)
        )
        softness = np.concatenate([part[5] for part in results])
        scaled = self.scaling.scaled_gradient(np.asarray(gradient), np.asarray(slope_sum))
        return Smoothed(float(loss), float(dual), float(on_flips), scaled, softness)

    def _block(
        self, rows: slice, coef: Floats, intercept: Floats, lam: float, mu: float
    ) -> tuple[float, float, float, Floats, Floats, Floats]:
        X = self.problem.features(rows)
        loss, dual, on_flips, slopes, softness = soft_rows.soften(
            *self._arguments(rows, np.asarray(X @ coef.T) + intercept), lam, mu
        )
        gradient = np.asarray((X.T @ slopes).T)
        return loss, dual, on_flips, gradient, slopes.sum(axis=0), softness

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
        curvature = soft_rows.soft_curvature(
            *self._arguments(rows, design @ coef.T), lam, mu
        )
        gram: Floats = weighted_gram(curvature, design)
        return gram


@dataclass(frozen=True, eq=False)
class SoftmaxMultipliers:
    """The softmax multipliers at a point, computed block by block when asked for."""

    passes: Passes
    coef: Floats
    intercept: Floats
    lam: float
    mu: float
    flow: Floats | None
    gradient: Floats | None

    def rows(self, rows: slice) -> RowMultipliers:
        problem = self.passes.problem
        scores = problem.scores(self.coef, self.intercept, rows)
        arguments = self.passes._arguments(rows, scores)
        return RowMultipliers(*soft_rows.soft_multipliers(*arguments, self.lam, self.mu))
