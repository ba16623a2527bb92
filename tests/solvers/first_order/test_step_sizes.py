"""Step sizes of columns, and curvatures of rows, against dense sums."""

import numpy as np
import pytest
from scipy import sparse

from wdrsvm.solvers.first_order.kernels import column_squares, row_squares
from wdrsvm.solvers.first_order.samples import StoredMatrix
from wdrsvm.solvers.first_order.step_sizes import column_steps, effective_rows

pytestmark = pytest.mark.tiny


def some_rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(7, 5)) * (rng.random((7, 5)) < 0.6)
    return X, rng.uniform(0.5, 2.0, 7)


def test_squares_of_columns_and_rows_are_weighted_sums():
    X, weight = some_rows()
    design = StoredMatrix.of_sparse(sparse.csr_array(X))
    scale, by_column, by_row = np.arange(1.0, 6.0), np.ones(5), np.empty(7)
    column_squares(design.record, weight, by_column)
    row_squares(design.record, scale, by_row)
    np.testing.assert_allclose(by_column, 1.0 + weight @ X**2)
    np.testing.assert_allclose(by_row, X**2 @ scale)


@pytest.mark.parametrize("rarity", [0.0, 0.5])
def test_rare_columns_take_longer_steps(rarity):
    X, weight = some_rows()
    weight /= weight.sum()
    steps, curvature = column_steps(
        StoredMatrix.of_sparse(sparse.csr_array(X)), weight, 5, rarity
    )
    mass = weight @ X**2
    np.testing.assert_allclose(steps * mass**rarity, steps[0] * mass[0] ** rarity)
    np.testing.assert_allclose(curvature, X**2 @ steps)
    assert weight @ curvature == pytest.approx(effective_rows(weight))
