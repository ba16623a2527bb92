"""The best constant classifier, which uses no feature.

It is often the optimum, for example at a large radius, or for a rare class against all
others.  Then nearly every row is at a kink of its loss, and methods that smooth kinks are
slow.  The best constant classifier itself is a small problem, with one row per class.
"""

from __future__ import annotations

import numpy as np

from ...arrays import Floats
from ...problem import RobustProblem
from ...problem.ball import WassersteinBall
from ...rows.reduce import Reduction, added
from ..result import SolverSettings
from .loop import interior_point
from .settings import INTERIOR_POINT

EXACT = SolverSettings(tol=INTERIOR_POINT.constant_tol)


def best_constant(problem: RobustProblem, reduction: Reduction) -> Floats:
    """The intercepts, for the Crammer-Singer loss and the same trust in all labels."""
    if not problem.fit_intercept:
        return np.zeros(problem.n_classes)
    ball = WassersteinBall(problem.radius, problem.label_cost, problem.ball.norm)
    rows_of_classes = RobustProblem.of(
        X=np.zeros((problem.n_classes, 1)),
        y=np.arange(problem.n_classes),
        weight=reduction.fold(_weight_of_classes, added),
        ball=ball,
        n_classes=problem.n_classes,
    )
    return interior_point(rows_of_classes, EXACT).intercept


def _weight_of_classes(problem: RobustProblem, rows: slice) -> Floats:
    y, weight = problem.y[rows], problem.weight[rows]
    return np.bincount(y, weight, problem.n_classes).astype(np.float64)
