"""Multipliers of the smoothed risk."""

import numpy as np
import pytest

from wdrsvm.problem import dual_bound
from wdrsvm.solvers.newton.smoothing import SoftmaxMultipliers

from ...agreement.instances import random_problem
from .cases import EVERY_SEED, LAM, MU, coefficients, smoothed_over


@pytest.mark.parametrize("seed", EVERY_SEED)
def test_multipliers_by_blocks_belong_to_the_pass(seed):
    problem = random_problem(seed)
    smoothed, coef = smoothed_over(problem), coefficients(problem)
    at = smoothed.point(coef, LAM, MU)
    source = SoftmaxMultipliers(smoothed.smoothing, at)
    now = smoothed.evaluate(coef, LAM, MU)
    part = source.rows(problem, slice(0, problem.n_rows))
    slopes = part.slopes(problem.y)
    gradient = slopes.T @ smoothed.scaling.design(problem.X)
    np.testing.assert_allclose(gradient, now.gradient, atol=1e-12)
    own = part.alpha[np.arange(problem.n_rows), problem.y]
    assert (problem.weight - own).sum() == pytest.approx(now.dual)
    middle = source.rows(problem, slice(1, 4))
    np.testing.assert_allclose(middle.alpha, part.alpha[1:4], atol=1e-15)
    assert dual_bound(problem, source) <= problem.risk(at.coef, at.intercept).value
