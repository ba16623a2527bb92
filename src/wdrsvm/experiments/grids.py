"""Test scores of the paper's linear machines over a grid of radii and label costs."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ..problem import WassersteinBall
from ..solvers import SolverSettings, solve
from .timing import training_problem

Floats: TypeAlias = NDArray[np.float64]

# The accuracy of a grid does not depend on more: the relative duality gap of its fits.
GRID_TOL = 1e-4


def multiclass_grid(X: Any, y: Any, X_test: Any, radii: Any, label_costs: Any) -> Floats:
    """Scores of one machine for all classes, (radii, label costs, rows, classes)."""
    columns = [_coefficients(X, y, radii, cost) for cost in label_costs]
    return np.stack([X_test @ coef.transpose(0, 2, 1) for coef in columns], axis=1)


def one_vs_rest_grid(X: Any, y: Any, X_test: Any, radii: Any, label_costs: Any) -> Floats:
    """Scores of one machine a class, (radii, label costs, rows, classes)."""
    machines = [
        multiclass_grid(X, (y == code).astype(np.intp), X_test, radii, label_costs)
        for code in range(int(y.max()) + 1)
    ]
    return np.stack([scores[..., 1] - scores[..., 0] for scores in machines], axis=-1)


def _coefficients(X: Any, y: Any, radii: Any, label_cost: float) -> Floats:
    """Coefficients for ascending radii; zero from where nothing beats a constant.

    A constant classifier without intercept has the risk 1 at every radius, and the least
    risk never falls as the radius grows: where it has come to 1, it stays.
    """
    found = np.zeros((len(radii), int(y.max()) + 1, X.shape[1]))
    settings = SolverSettings(tol=GRID_TOL)
    for place, radius in enumerate(radii):
        problem = training_problem(X, y, WassersteinBall(radius, label_cost, "l1"))
        result = solve(problem, settings=settings)
        if result.certificate.dual_bound >= 1 - 2 * GRID_TOL:
            break
        found[place] = result.coef
    return found


def accuracy_grid(scores: Floats, y_test: Any) -> Floats:
    """Share of right decisions by the largest score, equal scores for the first class."""
    return np.asarray((scores.argmax(axis=-1) == y_test).mean(axis=-1))
