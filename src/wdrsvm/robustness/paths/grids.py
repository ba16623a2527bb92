"""Grids of radii and label costs: given ones checked, others made from the data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from numbers import Integral, Real
from typing import Any

import numpy as np

from ...arrays import Floats
from ...problem import RobustProblem
from ...solvers import SolverSettings, solve
from ..radius.radius_max import radius_max_of
from .constant_points import CONSTANT_SHARE, without_features

# The smallest radius of a default grid, relative to the largest.
RADIUS_RATIO = 1e-3
# Accuracy of the largest radius of a grid, as a share of it; a search, which steps down
# from this radius, needs less.
TOP_TOL, ROUGH_TOP_TOL = 1e-3, CONSTANT_SHARE
# Factor and number of the steps down, and settings of the rough solves on the way.
STEP, MAX_STEPS = 1.5, 8
ROUGHLY = SolverSettings(tol=3e-3)
# A larger number of radii is taken for a mistake.
MOST_RADII = 10_000


def checked_label_costs(label_costs: Any) -> list[Any]:
    """Label costs, each a number or a matrix; one alone is a list of one."""
    alone = isinstance(label_costs, Real) or getattr(label_costs, "ndim", 1) == 2
    if alone:
        label_costs = [label_costs]
    try:
        costs = [
            float(cost) if np.ndim(cost) == 0 else np.asarray(cost, dtype=np.float64)
            for cost in label_costs
        ]
    except (TypeError, ValueError, OverflowError):
        raise TypeError(
            f"label_costs must be numbers or matrices, got {label_costs!r}."
        ) from None
    if not costs:
        raise ValueError("label_costs must hold one label cost at least, got none.")
    return costs


def checked_radii(radii: Any) -> Floats | int:
    """Radii, or how many are wanted."""
    if isinstance(radii, Integral) and not isinstance(radii, bool):
        if radii < 1:
            raise ValueError(f"radii must be numbers or an integer >= 1, got {radii!r}.")
        count = int(radii)
        if count > MOST_RADII:
            raise ValueError(f"radii must be {MOST_RADII} radii at most, got {radii!r}.")
        return count
    try:
        given = np.asarray(radii, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        given = np.empty(0)
    if given.ndim != 1 or len(given) == 0:
        raise ValueError(f"radii must be numbers or an integer >= 1, got {radii!r}.")
    if not (np.isfinite(given).all() and (given >= 0).all()):
        raise ValueError(f"radii must be finite and >= 0, got {radii!r}.")
    return given


def radii_below(problem: RobustProblem, n_radii: int, label_costs: Sequence[Any]) -> Floats:
    """A log grid that descends from the largest ``radius_max`` of the label costs."""
    return _descending(_top(_problems(problem, label_costs), TOP_TOL), n_radii)


def useful_radii(
    problem: RobustProblem, n_radii: int, label_costs: Sequence[Any]
) -> Floats:
    """The same from a radius at which some classifier promises more than a constant one.

    Steps down from ``radius_max`` until a rough solve finds such a classifier at one of
    the label costs.  Where no step does, the data are noise and any radii will do.
    """
    problems = _problems(problem, label_costs)
    top = _top(problems, ROUGH_TOP_TOL)
    for k in range(1, MAX_STEPS + 1):
        radius = top / STEP**k
        if any(_says_something(each.with_radius(radius)) for each in problems):
            return _descending(radius, n_radii)
    return _descending(top / STEP, n_radii)


def _says_something(problem: RobustProblem) -> bool:
    """Whether a classifier promises clearly more than the best constant one."""
    alone = solve(without_features(problem), settings=ROUGHLY).certificate
    found = solve(problem, settings=ROUGHLY).certificate
    return found.objective < (1 - 2 * CONSTANT_SHARE) * alone.objective


def _problems(problem: RobustProblem, label_costs: Sequence[Any]) -> list[RobustProblem]:
    """The problems of the label costs that may have the largest ``radius_max``."""
    finite = [cost for cost in label_costs if np.ndim(cost) == 0 and np.isfinite(cost)]
    # A dearer flip needs a larger budget, so of finite prices the largest has the top.
    chosen = [max(finite)] if finite else []
    chosen += [cost for cost in label_costs if np.ndim(cost) or np.isinf(cost)]
    return [
        replace(problem, ball=replace(problem.ball, label_cost=cost)) for cost in chosen
    ]


def _top(problems: list[RobustProblem], tol: float) -> float:
    # If no radius is useful, any radii will do.
    return max(radius_max_of(each, tol) for each in problems) or 1.0


def _descending(top: float, n_radii: int) -> Floats:
    return np.geomspace(top, RADIUS_RATIO * top, n_radii)
