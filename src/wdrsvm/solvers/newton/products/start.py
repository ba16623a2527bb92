"""The first point: the direction of a ridge regression on the labels, best length."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ....arrays import Floats
from ....problem import RobustProblem
from ....problem.norms import TINY
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
    rows = np.linspace(0, problem.n_rows - 1, min(problem.n_rows, PRODUCTS.start_rows))
    part = problem.take(np.unique(rows.astype(np.intp)))
    scores = direction @ design.scaling.design(part.X).T
    steepness = problem.radius / design.scaling.unit * modulus(direction)

    def risk(k: int) -> float:
        return _loss(part, LENGTHS[k] * scores) + float(LENGTHS[k] * steepness)

    return np.asarray(LENGTHS[_lowest(risk, len(LENGTHS))] * direction)


def _lowest(values: Callable[[int], float], count: int) -> int:
    """The place of the least value; the values fall first and then rise."""
    low, high = 0, count - 1
    while low < high:
        middle = (low + high) // 2
        if values(middle) <= values(middle + 1):
            high = middle
        else:
            low = middle + 1
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
    if second.ndim == 1:
        raised = second + PRODUCTS.start_ridge * second.mean()
        return np.asarray(sums / np.maximum(raised, TINY))
    # Rows that are all zero have no moment.
    ridge = max(PRODUCTS.start_ridge * np.trace(second) / len(second), TINY)
    return np.asarray(np.linalg.solve(second + ridge * np.eye(len(second)), sums.T).T)


def _loss(part: RobustProblem, scores: Floats) -> float:
    """The mean loss at scores (C, n), which are overwritten."""
    told = part.y, part.weight, part.loss.temperature, part.loss.margin, False
    total, _ = kernels.soften_columns(scores, *told)
    return float(total / part.weight.sum())
