"""The first point of the method in products."""

import numpy as np
import pytest

from wdrsvm.solvers.newton.products.start import _lowest


@pytest.mark.parametrize("seed", range(20))
def test_the_least_of_values_that_fall_then_rise_is_found_without_looking_at_all(seed):
    rng = np.random.default_rng(seed)
    values = np.cumsum(np.sort(rng.normal(rng.normal(), 1.0, size=25)))
    looked = []

    def value(k):
        looked.append(k)
        return values[k]

    assert _lowest(value, len(values)) == values.argmin()
    assert len(looked) <= 10


def test_one_value_is_the_least():
    assert _lowest(lambda k: 1.0, 1) == 0
