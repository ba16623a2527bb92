"""Grids of radii and label costs: given ones checked, others made from the data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from numbers import Integral, Real
from typing import Any

import numpy as np

from ...arrays import Floats
from ...problem import RobustProblem
from ..radius.radius_max import radius_max_of

# The smallest radius of a default grid, relative to the largest.
RADIUS_RATIO = 1e-3
# The top of a grid need not be found to more than this share of the ceiling.
TOP_TOL = 1e-3
# More are a mistake.
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
            raise ValueError(f"radii must be radii or an integer >= 1, got {radii!r}.")
        count = int(radii)
        if count > MOST_RADII:
            raise ValueError(f"radii must be {MOST_RADII} radii at most, got {radii!r}.")
        return count
    try:
        given = np.asarray(radii, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        given = np.empty(0)
    if given.ndim != 1 or len(given) == 0:
        raise ValueError(f"radii must be radii or an integer >= 1, got {radii!r}.")
    if not (np.isfinite(given).all() and (given >= 0).all()):
        raise ValueError(f"radii must be finite and >= 0, got {radii!r}.")
    return given


def radii_below(problem: RobustProblem, n_radii: int, label_costs: Sequence[Any]) -> Floats:
    """A log grid that descends from the largest ``radius_max`` of the label costs."""
    finite = [cost for cost in label_costs if np.ndim(cost) == 0 and np.isfinite(cost)]
    # A dearer flip needs a larger budget, so of finite prices the largest has the top.
    chosen = [max(finite)] if finite else []
    chosen += [cost for cost in label_costs if np.ndim(cost) or np.isinf(cost)]
    tops = [
        radius_max_of(
            replace(problem, ball=replace(problem.ball, label_cost=cost)), TOP_TOL
        )
        for cost in chosen
    ]
    # Where nothing can be learned, any radii will do.
    top = max(tops) or 1.0
    return np.geomspace(top, RADIUS_RATIO * top, n_radii)
