"""Sums of rows for each label against the same in NumPy."""

import numpy as np
import pytest

from wdrsvm.solvers.newton import kernels

pytestmark = pytest.mark.tiny


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_each_row_is_added_to_its_label(kind):
    rng = np.random.default_rng(0)
    rows, factor = rng.normal(size=(9, 4)).astype(kind), rng.normal(size=9)
    y = np.array([0, 1, 3, 1, 1, 0, 3, 3, 1])
    sums = np.ones((4, 4))
    kernels.add_by_label(factor, y, rows, sums)
    expected = 1 + (factor * (y == np.arange(4)[:, None])) @ rows.astype(float)
    np.testing.assert_allclose(sums, expected, rtol=1e-12)
