"""The first point: the direction of a ridge regression on the labels, best length."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ....arrays import Floats
from ....problem import RobustProblem
from ....problem.norms import TINY
from ....rows.reduce import MemoryReduction
from ...result import Start
from .. import kernels
from .design import Design
from .settings import PRODUCTS

LENGTHS = np.geomspace(0.1, 1000.0, 25)


def first_point(
    problem: RobustProblem,
    design: Design,
    start: Start | None,
    modulus: Callable[[Floats], float],
) -> Floats:
    """Coefficients (C, Q) in the solver's columns; ``modulus`` is L of such ones."""
    if start is not None:
        return design.scaling.scaled(start.coef, start.intercept)
    direction = _ridge(problem, design)
    some, part = _some_rows(problem)
    scores = _scores(direction, part, design, some)
    steepness = problem.radius / design.scaling.unit * modulus(direction)

    def rises(k: int) -> bool:
        """Whether the risk rises between this length and the next one."""
        between = float(np.sqrt(LENGTHS[k] * LENGTHS[k + 1]))
        return _slope(part, scores, between) + steepness >= 0

    return np.asarray(LENGTHS[_first(rises, len(LENGTHS))] * direction)


def _some_rows(problem: RobustProblem) -> tuple[Any, RobustProblem]:
    """Numbers of at most ``start_rows`` rows, and the problem of these."""
    n_rows = problem.n_rows
    if n_rows <= PRODUCTS.start_rows and not problem.is_distributed:
        return slice(None), problem
    some = np.linspace(0, n_rows - 1, min(n_rows, PRODUCTS.start_rows)).astype(np.intp)
    return some, problem.take(some)


def _scores(direction: Floats, part: RobustProblem, design: Design, rows: Any) -> Floats:
    """The scores (C, n) of a part of the problem, that of these rows."""
    if isinstance(design.reduction, MemoryReduction):
        chosen = design.problem_of_rows.X[rows]
        return np.asarray(design.on_columns(direction) @ chosen.T)
    return np.asarray(direction @ design.scaling.design(part.X).T)


def _first(holds: Callable[[int], bool], count: int) -> int:
    """The first number at which this holds, as it does from there on; else the last."""
    low, high = 0, count - 1
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle + 1, high)
    return low


def _ridge(problem: RobustProblem, design: Design) -> Floats:
    sums, second = design.class_sums(), design.second_moment()
    centred = sums - sums.mean(axis=0)
    if problem.fit_intercept:
        centred = sums - sums[:, -1:] * sums.sum(axis=0)
    direction = _divided(centred, second)
    if problem.fit_intercept:
        direction[:, -1] = 0.0
    return direction


def _divided(sums: Floats, second: Floats) -> Floats:
    """The sums (C, Q) over the moment, a matrix or its diagonal, with a ridge added."""
    n_columns = max(len(second), 1)
    if second.ndim == 1:
        raised = second + PRODUCTS.start_ridge * second.sum() / n_columns
        return np.asarray(sums / np.maximum(raised, TINY))
    # Rows that are all zero have no moment.
    ridge = max(PRODUCTS.start_ridge * np.trace(second) / n_columns, TINY)
    return np.asarray(np.linalg.solve(second + ridge * np.eye(len(second)), sums.T).T)


def _slope(part: RobustProblem, scores: Floats, length: float) -> float:
    """How fast the mean loss rises along scores (C, n), at a multiple of them."""
    slopes = length * scores
    y, weight = np.ascontiguousarray(part.y), np.ascontiguousarray(part.weight)
    told = y, weight, part.loss.temperature, part.loss.margin, False
    kernels.soften_columns(slopes, *told)
    return float(np.vdot(slopes, scores) / part.weight.sum())
