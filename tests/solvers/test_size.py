"""Sizes that choose a solver."""

import numpy as np
import pytest

from wdrsvm import WassersteinBall
from wdrsvm.problem import RobustProblem
from wdrsvm.solvers.size import coefficients, unknowns


@pytest.mark.parametrize(("norm", "expected"), [("l1", 33), ("l2", 21), ("linf", 33)])
def test_only_the_l2_norm_counts_rows_in_place_of_features(norm, expected):
    X, y = np.eye(6, 10), np.arange(6) % 3
    ball = WassersteinBall(0.1, norm=norm)
    problem = RobustProblem.of(X, y, np.full(6, 1 / 6), ball, 3)
    assert unknowns(problem) == expected
    assert coefficients(problem) == 33
