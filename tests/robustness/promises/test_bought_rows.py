"""What a budget buys, with and without a sort."""

import numpy as np
import pytest

from wdrsvm.robustness.promises.bought_rows import breakpoints, error_at


@pytest.mark.parametrize("seed", range(6))
def test_one_radius_needs_no_curve(seed):
    """Free rows, rows that nothing makes wrong, equal costs, more rows than are sorted."""
    draw = np.random.default_rng(seed)
    cost = np.concatenate([draw.exponential(size=7000).round(seed), np.full(3000, np.inf)])
    cost[draw.random(10_000) < seed / 9] = 0.0
    for weight in (np.ones(10_000), draw.random(10_000) + 0.1):
        radii, errors = breakpoints(cost, weight)
        for radius in (0.0, 1e-4, 0.01, 0.3, radii[-1], 100.0):
            assert error_at(cost, weight, radius) == pytest.approx(
                np.interp(radius, radii, errors), rel=1e-12
            )
