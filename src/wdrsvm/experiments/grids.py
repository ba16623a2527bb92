"""Scores of a robust machine over a grid of radii and label costs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float64]
# A robust machine with linear scores for a radius and a label cost, not fitted.
Make: TypeAlias = Callable[[float, float], Any]

# The accuracy of a grid does not depend on more: the relative duality gap of its fits.
GRID_TOL = 1e-4


def score_grid(
    make: Make, train: tuple[Any, Any], X_test: Any, radii: Any, label_costs: Any
) -> Floats:
    """Test scores, of shape (radii, label costs, rows) or (..., rows, classes).

    Radii ascend.  The least worst-case risk never falls as the radius grows, and a constant
    classifier without intercept has the risk 1 at every radius; so once 1 is the best there
    is, larger radii have the same answer and are not fitted.
    """
    columns = []
    for label_cost in label_costs:
        column: list[Floats] = []
        machine = None
        for radius in radii:
            if machine is None or not _is_constant(machine):
                machine = make(radius, label_cost).fit(*train)
                scores = machine.decision_function(X_test)
            column.append(scores)
        columns.append(np.stack(column))
    return np.stack(columns, axis=1)


def _is_constant(machine: Any) -> bool:
    known = not machine.fit_intercept and np.isfinite(machine.label_cost)
    return known and bool(machine.dual_bound_ >= 1 - 2 * machine.tol)


def one_vs_rest_grid(
    make: Make, train: tuple[Any, Any], X_test: Any, radii: Any, label_costs: Any
) -> Floats:
    """Test scores of one machine a class, side by side on the last axis."""
    X, y = train
    classes: Sequence[Any] = np.unique(y)
    grids = [
        score_grid(make, (X, y == label), X_test, radii, label_costs) for label in classes
    ]
    return np.stack(grids, axis=-1)


def accuracy_grid(scores: Floats, y_test: Any) -> Floats:
    """Share of right decisions by the largest score; labels are codes 0, 1, ..."""
    return np.asarray((scores.argmax(axis=-1) == y_test).mean(axis=-1))
