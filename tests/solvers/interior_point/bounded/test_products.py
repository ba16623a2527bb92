"""Products in short calls are the products in one call."""

from dataclasses import replace

import numpy as np
import pytest

from wdrsvm.solvers.interior_point.bounded import products


@pytest.mark.parametrize("work", [1, 7 * 7 * 20, 10**9])
def test_the_square_is_subtracted_from_the_lower_triangle(work, monkeypatch):
    settings = replace(products.CONES, max_product_work=work)
    monkeypatch.setattr(products, "CONES", settings)
    rng = np.random.default_rng(0)
    matrix, rows = rng.normal(size=(7, 7)), rng.normal(size=(50, 7))
    found = matrix.copy()
    products.subtract_square(found, rows)
    expected = np.tril(matrix - rows.T @ rows)
    np.testing.assert_allclose(np.tril(found), expected, rtol=1e-13)
    np.testing.assert_array_equal(np.triu(found, 1), np.triu(matrix, 1))


def test_no_call_has_more_work_than_allowed(monkeypatch):
    calls = []
    monkeypatch.setattr(
        products, "dsyrk", lambda factor, block, **options: calls.append(block.shape)
    )
    # The matrix stays empty: only its size matters.
    size = 2000
    products.subtract_square(np.empty((size, size)), np.empty((1300, size)))
    assert sum(n_rows for _, n_rows in calls) == 1300
    assert max(n_rows for _, n_rows in calls) * size**2 <= products.CONES.max_product_work
