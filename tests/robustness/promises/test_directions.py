"""Steepest directions by hand."""

import numpy as np
import pytest

from wdrsvm.robustness.promises.directions import steepest_direction

SLOPE = np.array([3.0, -8.0, 100.0, 0.0])
COST = np.array([1.0, 2.0, np.inf, 1.0])


@pytest.mark.parametrize(
    ("norm", "expected"),
    [
        ("l1", [0.0, -0.5, 0.0, 0.0]),
        ("l2", [0.6, -0.4, 0.0, 0.0]),
        ("linf", [1.0, -0.5, 0.0, 0.0]),
    ],
)
def test_a_unit_of_cost_goes_where_the_slope_is_steepest_for_its_price(norm, expected):
    found = steepest_direction(SLOPE, norm, COST)
    np.testing.assert_allclose(found, expected)
