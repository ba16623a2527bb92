"""One fold of a search: classifiers of all grid points on its training rows, scored."""

from __future__ import annotations

import copy
import inspect
import time
import warnings
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.metaestimators import _safe_split

from ..arrays import Floats
from ..robustness.paths.plane import solve_plane
from ..solvers import SolverStatus
from ._fit import RadiusWarning, solver_settings
from ._label_noise import DisbeliefWarning, doubts_labels


class Rows(NamedTuple):
    """What ``fit`` was given, checked."""

    X: Any
    y: Any
    sample_weight: Any
    label_trust: Any

    def part(self, estimator: Any, rows: Any, trained: Any = None) -> Rows:
        """Some rows; of a precomputed kernel, their values with those trained on."""
        X, y = _safe_split(estimator, self.X, self.y, rows, trained)
        weight, trust = self.sample_weight, self.label_trust
        return Rows(
            X,
            y,
            None if weight is None else weight[rows],
            None if trust is None else trust[rows],
        )


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
    """Scores of one fold, an array of all points for each scorer, and seconds a point."""

    scores: dict[str, Floats]
    fit_time: float
    score_time: float


def scored_fold(
    estimator: Any,
    rows: Rows,
    split: tuple[Any, Any],
    grid: Grid,
    scorers: dict[str, Any],
    score_params: dict[str, Any],
) -> FoldScores:
    """Train on the first part of the split, score on the second."""
    train, test = split
    held_out = rows.part(estimator, test, train)
    given = {name: value[test] for name, value in score_params.items()}
    began, scoring = time.perf_counter(), 0.0
    table: dict[str, list[float]] = {name: [] for name in scorers}
    for fitted in _path(estimator, rows.part(estimator, train), grid):
        start = time.perf_counter()
        for name, scorer in scorers.items():
            table[name].append(_score(scorer, fitted, held_out, given))
        scoring += time.perf_counter() - start
    n_points = len(grid.params)
    fitting = time.perf_counter() - began - scoring
    scores = {name: np.array(values) for name, values in table.items()}
    return FoldScores(scores, fitting / n_points, scoring / n_points)


def _score(scorer: Any, fitted: Any, held_out: Rows, given: dict[str, Any]) -> float:
    """By the scorer; None is the accuracy, without checks that every point would repeat."""
    if scorer is None:
        right = fitted.predict(held_out.X) == held_out.y
        return float(np.average(right, weights=given.get("sample_weight")))
    kept = given if _takes(scorer, given) else {}
    return scorer(fitted, held_out.X, held_out.y, **kept)


def _takes(scorer: Any, given: dict[str, Any]) -> bool:
    """Whether a function of the user's knows what else there is; scorers always do."""
    if not inspect.isfunction(scorer):
        return True
    parameters = inspect.signature(scorer).parameters.values()
    named = {each.name for each in parameters}
    return set(given) <= named or any(each.kind is each.VAR_KEYWORD for each in parameters)


def _path(estimator: Any, rows: Rows, grid: Grid) -> Iterator[Any]:
    """The fitted estimators of all points, in the order of ``grid.params``."""
    convex = not (hasattr(estimator, "label_noise") and doubts_labels(estimator))
    return (_solved if convex else _fitted)(estimator, rows, grid)


def _solved(estimator: Any, rows: Rows, grid: Grid) -> Iterator[Any]:
    """All points in one plane."""
    estimator = clone(estimator)
    data = estimator._training_data(*rows)
    found = solve_plane(
        estimator._problem(data, estimator._ball()),
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
            yield fitted


def _fitted(estimator: Any, rows: Rows, grid: Grid) -> Iterator[Any]:
    """One fit after the other, each from the last where the estimator can."""
    estimator = clone(estimator)
    if "warm_start" in estimator.get_params(deep=False):
        estimator.set_params(warm_start=True)
    for point in grid.params:
        with warnings.catch_warnings():
            # A grid is meant to reach beyond what is useful.
            warnings.simplefilter("ignore", RadiusWarning)
            warnings.simplefilter("ignore", DisbeliefWarning)
            fitted = estimator.set_params(**point).fit(*rows)
        yield fitted


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
