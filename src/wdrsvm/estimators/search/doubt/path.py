"""Fits that may disbelieve labels, for all points of a grid.

A single fit tries several starts (``solvers.label_noise``).  In a grid the neighbours are
good starts, so that one descent per point is enough: along falling radii while all labels
are believed, and from there along falling label costs.  The fit to all rows at the chosen
point takes the same way as the fits in the folds.  Another way may end at a lower
objective with more labels disbelieved, of which the folds know nothing.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.base import clone

from ....arrays import Flags
from ....solvers.descent_settings import DESCENT
from ....solvers.label_noise import AlternatingDescent, BelievedPoint
from ....solvers.result import History
from ...fitting.label_noise import (
    DOUBTING,
    doubted_constant_value,
    doubted_problem,
    keep_beliefs,
)
from ...fitting.steps import TrainingData, solver_of, solver_settings
from ..grid import FittedPoint, SearchGrid
from ..judges import GivenRows


def doubting_points(
    estimator: Any, rows: GivenRows, grid: SearchGrid, wanted: Flags
) -> Iterator[FittedPoint]:
    """The fitted estimators of the wanted points, radius by radius."""
    estimator = clone(estimator)
    data = estimator._training_data(*rows)
    descent = AlternatingDescent(solver_of(estimator), solver_settings(estimator))
    constants = _constant_values(estimator, data, grid)
    believing: BelievedPoint | None = None
    for i in np.argsort(-grid.radii, kind="stable"):
        at = _at(estimator, float(grid.radii[i]), np.inf)
        start = None if believing is None else believing.start
        doubted = doubted_problem(at, at._problem(data, at._ball()))
        believing = point = descent.round(doubted, doubted.all_believed, start)
        for j in _falling(grid.label_costs):
            k = j * len(grid.radii) + int(i)
            if wanted[k]:
                at = _at(estimator, float(grid.radii[i]), grid.label_costs[j])
                point = _descended(at, data, descent, point)
                yield FittedPoint(k, _kept(at, data, point), constants[j])


def fitted_like_folds(estimator: Any, rows: GivenRows, label_costs: list[Any]) -> Any:
    """The estimator fitted to all rows, through the label costs above its own."""
    data = estimator._training_data(*rows)
    settings = solver_settings(estimator)
    rough = replace(settings, tol=max(settings.tol, DESCENT.rough_tol), callback=None)
    descent = AlternatingDescent(solver_of(estimator), rough)
    problem = estimator._problem(data, estimator._ball())
    doubted = doubted_problem(estimator, problem)
    point = descent.round(doubted, doubted.all_believed, None)
    for cost in (*_above(label_costs, estimator.label_cost), estimator.label_cost):
        at = _at(estimator, estimator.radius, cost)
        point = _descended(at, data, descent, point)
    exact = AlternatingDescent(solver_of(estimator), settings, History(settings.callback))
    point = exact.run(doubted, point.beliefs, point.start)
    found = replace(point.found, n_iter=descent.n_iter + exact.n_iter)
    # The search has chosen the label cost: a warning that names it would be of no use.
    unguarded = point.beliefs._replace(guarded=False)
    point = point._replace(found=found, beliefs=unguarded)
    estimator._keep(DOUBTING.conclude(estimator, problem, data, point), data)
    estimator._review(data)
    return estimator


def _above(label_costs: list[Any], label_cost: Any) -> list[Any]:
    """Costs between belief in all labels and the given one, in the order of the path."""
    own = _least(label_cost)
    return [label_costs[j] for j in _falling(label_costs) if _least(label_costs[j]) > own]


def _at(estimator: Any, radius: float, label_cost: Any) -> Any:
    return copy.copy(estimator).set_params(radius=radius, label_cost=label_cost)


def _falling(label_costs: list[Any]) -> list[int]:
    """Places of the label costs; the costs at which most labels are believed come first."""
    return sorted(range(len(label_costs)), key=lambda j: -_least(label_costs[j]))


def _least(label_cost: Any) -> float:
    cost = np.asarray(label_cost, dtype=np.float64)
    return float(cost if cost.ndim == 0 else cost[~np.eye(len(cost), dtype=bool)].min())


def _descended(
    at: Any, data: TrainingData, descent: AlternatingDescent, point: BelievedPoint
) -> BelievedPoint:
    """A descent from a neighbouring point."""
    doubted = doubted_problem(at, at._problem(data, at._ball()))
    beliefs = doubted.beliefs(point.found.coef, point.found.intercept)
    if doubted.agree(beliefs, point.beliefs):
        # The same convex problem: only the price of disbelief is different.
        piece = doubted.convex_piece(beliefs)
        value = piece.certified(point.found.certificate).objective
        return BelievedPoint(point.found, beliefs, piece, value)
    return descent.run(doubted, beliefs, point.start)


def _kept(at: Any, data: TrainingData, point: BelievedPoint) -> Any:
    certificate = point.piece.certified(point.found.certificate)
    at._keep(replace(point.found, certificate=certificate), data)
    keep_beliefs(at, point.beliefs, data)
    return at


def _constant_values(estimator: Any, data: TrainingData, grid: SearchGrid) -> list[float]:
    """The objective of the best constant classifier, for each label cost.

    The radius does not matter, because a constant classifier does not use the features.
    """
    values = []
    for cost in grid.label_costs:
        at = _at(estimator, float(grid.radii[0]), cost)
        values.append(doubted_constant_value(at, at._problem(data, at._ball())))
    return values
