"""One fold of a search: train the classifiers of all grid points, and score them."""

from __future__ import annotations

import copy
import time
import warnings
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from ...arrays import Flags, Floats
from ...robustness.paths.constant_points import constant_risks
from ...robustness.paths.plane import solve_plane
from ...solvers import SolverResult, SolverStatus
from ...solvers.runtime.blas_threads import single_threaded_blas
from ..fitting.steps import RadiusWarning, solver_settings
from ..fitting.training import constant_value, disbelieves, is_convex
from .doubt.opinions import Opinion, opinion_giver
from .doubt.path import doubting_points
from .doubt.ridge import ridge_points
from .grid import FittedPoint, SearchGrid
from .judges import GivenRows, Judge


class FoldScores(NamedTuple):
    """Scores of all grid points in one fold.

    For each scorer there is an array with one score per point.  The certified risks of
    the points, and of the best constant classifiers, follow.  Points that are left out
    have NaN.  Times are seconds per point.  With random label noise there is one opinion
    on the held-out labels per point; None if the point is left out.  Opinions of ridge
    points may follow.
    """

    scores: dict[str, Floats]
    risk: Floats
    constant_risk: Floats
    fit_time: float
    score_time: float
    opinions: Sequence[Opinion | None] = ()


def scored_fold(
    estimator: Any,
    rows: GivenRows,
    split: tuple[Any, Any],
    grid: SearchGrid,
    judges: dict[str, Judge],
    wanted: Flags,
    with_ridge: bool = False,
) -> FoldScores:
    """Train on the first part of the split, score on the second.

    ``with_ridge`` asks for the opinions of ``ridge_points`` too, after those of the grid.
    """
    train, test = split
    held_out = rows.part(estimator, test, train)
    began, scoring = time.perf_counter(), 0.0
    table = {name: np.full(len(wanted), np.nan) for name in judges}
    risk, constant_risk = np.full((2, len(wanted)), np.nan)
    trained = rows.part(estimator, train)
    points = _path(estimator, trained, grid, wanted)
    ask = opinion_giver(rows.y, test) if disbelieves(estimator) else None
    opinions: list[Opinion | None] = [None] * len(wanted)
    # These products are so small that starting a second thread takes longer.
    with single_threaded_blas():
        for k, fitted, constant in points:
            start = time.perf_counter()
            risk[k], constant_risk[k] = fitted.objective_, constant
            for name, judge in judges.items():
                table[name][k] = judge.score(fitted, held_out, test)
            if ask is not None:
                opinions[k] = ask(fitted, held_out.X)
            scoring += time.perf_counter() - start
        if ask is not None and with_ridge:
            ridge = ridge_points(estimator, trained)
            opinions += [None if each is None else ask(each, held_out.X) for each in ridge]
    fitting = time.perf_counter() - began - scoring
    n_points = np.count_nonzero(wanted)
    times = (fitting / n_points, scoring / n_points)
    return FoldScores(table, risk, constant_risk, *times, opinions)


def _path(
    estimator: Any, rows: GivenRows, grid: SearchGrid, wanted: Flags
) -> Iterator[FittedPoint]:
    """The fitted estimators of the wanted points, in the order of ``grid.params``."""
    if disbelieves(estimator):
        return doubting_points(estimator, rows, grid, wanted)
    train = _solved if is_convex(estimator) else _fitted
    return train(estimator, rows, grid, wanted)


def _solved(
    estimator: Any, rows: GivenRows, grid: SearchGrid, wanted: Flags
) -> Iterator[FittedPoint]:
    """Solve all points together; works for convex problems."""
    estimator = clone(estimator)
    data = estimator._training_data(*rows)
    problem = estimator._problem(data, estimator._ball())
    radii, costs = grid.radii.tolist(), grid.label_costs
    places = {divmod(int(k), len(radii))[::-1]: int(k) for k in np.flatnonzero(wanted)}
    constant = constant_risks(problem, radii, costs, places)
    found = solve_plane(
        problem,
        radii,
        costs,
        estimator.solver,
        solver_settings(estimator),
        estimator._of_kernel,
        places,
    )
    _warn_about_gaps(estimator, list(found.values()))
    return (
        FittedPoint(
            k, _kept(estimator, data, radii[i], costs[j], found[i, j]), constant[i, j]
        )
        for (i, j), k in places.items()
    )


def _kept(
    estimator: Any, data: Any, radius: float, label_cost: Any, result: SolverResult
) -> Any:
    fitted = copy.copy(estimator).set_params(radius=radius, label_cost=label_cost)
    fitted._keep(result, data)
    return fitted


def _fitted(
    estimator: Any, rows: GivenRows, grid: SearchGrid, wanted: Flags
) -> Iterator[FittedPoint]:
    """Fit the points in turn; each fit starts from the last one if warm starts exist."""
    estimator = clone(estimator)
    if "warm_start" in estimator.get_params(deep=False):
        estimator.set_params(warm_start=True)
    data = estimator._training_data(*rows)
    for k in np.flatnonzero(wanted):
        with warnings.catch_warnings():
            # A grid also has points that are not useful; they need no warning.
            warnings.simplefilter("ignore", RadiusWarning)
            fitted = estimator.set_params(**grid.params[k]).fit(*rows)
        yield FittedPoint(int(k), fitted, constant_value(fitted, data))


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
