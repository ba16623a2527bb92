"""One fold of a search: classifiers of all grid points on its training rows, scored."""

from __future__ import annotations

import copy
import time
import warnings
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from ..arrays import Floats
from ..robustness.paths.constant_points import constant_risks
from ..robustness.paths.plane import solve_plane
from ..solvers import SolverStatus
from ._fit import RadiusWarning, solver_settings
from ._judges import Judge, Rows
from ._label_noise import DisbeliefWarning
from ._ramp import constant_value, is_convex


class Grid(NamedTuple):
    """The points of a search, in the order of scikit-learn's parameter grids."""

    radii: Floats
    label_costs: list[Any]

    @property
    def params(self) -> list[dict[str, Any]]:
        return [
            {"label_cost": cost, "radius": float(radius)}
            for cost in self.label_costs
            for radius in self.radii
        ]


class FoldScores(NamedTuple):
    """Of one fold: an array of all points for each scorer, the points' certified risks
    and those of the best constant classifiers, and seconds a point."""

    scores: dict[str, Floats]
    risk: Floats
    constant_risk: Floats
    fit_time: float
    score_time: float


class Point(NamedTuple):
    """A classifier, and the risk of the best constant one in its ball."""

    fitted: Any
    constant_risk: float


def scored_fold(
    estimator: Any,
    rows: Rows,
    split: tuple[Any, Any],
    grid: Grid,
    judges: dict[str, Judge],
) -> FoldScores:
    """Train on the first part of the split, score on the second."""
    train, test = split
    held_out = rows.part(estimator, test, train)
    began, scoring = time.perf_counter(), 0.0
    table: dict[str, list[float]] = {name: [] for name in judges}
    risk, constant_risk = [], []
    for fitted, constant in _path(estimator, rows.part(estimator, train), grid):
        start = time.perf_counter()
        risk.append(fitted.objective_)
        constant_risk.append(constant)
        for name, judge in judges.items():
            table[name].append(judge.score(fitted, held_out, test))
        scoring += time.perf_counter() - start
    n_points = len(grid.params)
    fitting = time.perf_counter() - began - scoring
    return FoldScores(
        {name: np.array(values) for name, values in table.items()},
        np.array(risk),
        np.array(constant_risk),
        fitting / n_points,
        scoring / n_points,
    )


def _path(estimator: Any, rows: Rows, grid: Grid) -> Iterator[Point]:
    """The fitted estimators of all points, in the order of ``grid.params``."""
    return (_solved if is_convex(estimator) else _fitted)(estimator, rows, grid)


def _solved(estimator: Any, rows: Rows, grid: Grid) -> Iterator[Point]:
    """All points in one plane."""
    estimator = clone(estimator)
    data = estimator._training_data(*rows)
    problem = estimator._problem(data, estimator._ball())
    constant = constant_risks(problem, grid.radii.tolist(), grid.label_costs)
    found = solve_plane(
        problem,
        grid.radii.tolist(),
        grid.label_costs,
        estimator.solver,
        solver_settings(estimator),
        estimator._of_kernel,
    )
    _warn_about_gaps(estimator, list(found.values()))
    for j, cost in enumerate(grid.label_costs):
        for i, radius in enumerate(grid.radii):
            fitted = copy.copy(estimator).set_params(radius=float(radius), label_cost=cost)
            fitted._keep(found[i, j], data)
            yield Point(fitted, constant[i, j])


def _fitted(estimator: Any, rows: Rows, grid: Grid) -> Iterator[Point]:
    """One fit after the other, each from the last where the estimator can."""
    estimator = clone(estimator)
    if "warm_start" in estimator.get_params(deep=False):
        estimator.set_params(warm_start=True)
    data = estimator._training_data(*rows)
    for point in grid.params:
        with warnings.catch_warnings():
            # A grid is meant to reach beyond what is useful.
            warnings.simplefilter("ignore", RadiusWarning)
            warnings.simplefilter("ignore", DisbeliefWarning)
            fitted = estimator.set_params(**point).fit(*rows)
        yield Point(fitted, constant_value(fitted, data))


def _warn_about_gaps(estimator: Any, results: list[Any]) -> None:
    failed = [each for each in results if each.status is not SolverStatus.CONVERGED]
    if failed:
        warnings.warn(
            f"{len(failed)} of {len(results)} fits of {type(estimator).__name__} stopped "
            f"above tol={estimator.tol:.1e}. Raise max_iter or tol, or standardise the "
            "features.",
            ConvergenceWarning,
            stacklevel=3,
        )
