"""Multipliers become feasible before they bound."""

import numpy as np
import pytest

from wdrsvm.solvers.first_order.bound import feasible_pieces

from .cases import ascended, wide


@pytest.mark.parametrize("norm", ["l1", "l2", "linf"])
def test_multipliers_are_feasible_before_they_bound(norm):
    problem = wide(norm, 0.5)
    ascent = ascended(problem)
    made = feasible_pieces(ascent.rows, ascent.layout, ascent.duals)
    alpha, phi, beta = made.duals
    assert min(alpha.min(), phi.min(), beta.min()) >= 0
    np.testing.assert_allclose(alpha.sum(1) + phi.sum(1), problem.weight, rtol=1e-12)
    np.testing.assert_allclose(beta.sum(1), phi.sum(1), rtol=1e-12, atol=1e-18)
    slopes = made.multipliers(None).rows(problem, slice(None)).slopes(problem.y)
    np.testing.assert_allclose(slopes.sum(axis=0), 0.0, atol=1e-13)
    np.testing.assert_allclose(made.gradient, problem.X.T @ slopes, atol=1e-14)
