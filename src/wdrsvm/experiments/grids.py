"""Test scores of the paper's linear machines over a grid of radii and label costs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..arrays import Floats
from ..robustness import RobustPath, one_vs_rest_path, robust_path

# Relative duality gap of the fits; a smaller gap does not change the accuracies of a grid.
GRID_TOL = 1e-4


def multiclass_grid(X: Any, y: Any, X_test: Any, radii: Any, label_costs: Any) -> Floats:
    """Scores of one machine for all classes, (radii, label costs, rows, classes)."""
    return _scores(robust_path, X, y, X_test, radii, label_costs)


def one_vs_rest_grid(X: Any, y: Any, X_test: Any, radii: Any, label_costs: Any) -> Floats:
    """Scores of one machine per class, (radii, label costs, rows, classes)."""
    return _scores(one_vs_rest_path, X, y, X_test, radii, label_costs)


def _scores(
    path_of: Callable[..., RobustPath], X: Any, y: Any, X_test: Any, radii: Any, costs: Any
) -> Floats:
    """Scores of a machine; all zero if no machine is better than a constant one.

    A constant machine without intercept has the risk 1.  In this case the library would
    return a machine that ranks the classes as without an adversary.  The paper's programs
    have no such rule.
    """
    path = path_of(
        X, y, radii, costs, norm="l1", fit_intercept=False, tol=GRID_TOL, n_jobs=None
    )
    bound = path.dual_bound.reshape(*path.coef.shape[:2], -1, 1)
    coef = np.where(bound >= 1 - 2 * GRID_TOL, 0.0, path.coef)
    return np.asarray(X_test @ np.swapaxes(coef, -1, -2))


def accuracy_grid(scores: Floats, y_test: Any) -> Floats:
    """Share of correct predictions; among equal scores the first class is predicted."""
    return np.asarray((scores.argmax(axis=-1) == y_test).mean(axis=-1))
