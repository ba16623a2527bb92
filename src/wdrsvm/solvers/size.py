"""How large a problem is for a solver."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..problem import RobustProblem


def coefficients(problem: RobustProblem) -> int:
    """Number of coefficients of all classes, with intercepts."""
    return problem.n_classes * (problem.n_features + 1)


def unknowns(problem: RobustProblem) -> int:
    """Coefficients, of which the l2 norm needs no more for a class than there are rows."""
    width = problem.n_features
    if problem.ball.norm == "l2":
        width = min(width, problem.n_rows)
    return problem.n_classes * (width + 1)


def is_mapped(X: Any) -> bool:
    """Whether these numbers are in a file: a map, or a view of one."""
    while X is not None and not isinstance(X, np.memmap):
        X = getattr(X, "base", None)
    return X is not None
