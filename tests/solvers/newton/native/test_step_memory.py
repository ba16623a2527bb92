"""The loops over remembered steps against the recursion as it is written."""

import numpy as np
import pytest

from wdrsvm.solvers.newton import kernels

pytestmark = pytest.mark.tiny


def drawn(size, kind):
    rng = np.random.default_rng(0)
    steps, changes = rng.normal(size=(2, 4, size)).astype(kind)
    curved = rng.uniform(1, 2, 4) * size
    return steps, changes, curved, rng.normal(size=size).astype(kind)


@pytest.mark.parametrize("kind", [np.float64, np.float32])
@pytest.mark.parametrize("size", [1, 9, 1100])
def test_each_loop_follows_the_recursion(size, kind):
    """More entries than are summed at once, and an order that is not that of the rows."""
    steps, changes, curved, vector = drawn(size, kind)
    for table in (steps, changes, curved):
        table.flags.writeable = False
    order, shares = np.array([2, 0, 3]), np.empty(3)
    rest, told = vector.copy(), (steps, changes, curved, order, shares)
    kernels.take_changes(rest, *told)
    wanted, wanted_shares = vector.astype(float), np.empty(3)
    for k in (2, 1, 0):
        row = order[k]
        wanted_shares[k] = steps[row] @ wanted / curved[row]
        wanted -= wanted_shares[k] * changes[row]
    close = {"rtol": 1e-4 if kind == np.float32 else 1e-12, "atol": 1e-5}
    np.testing.assert_allclose(shares, wanted_shares, **close)
    np.testing.assert_allclose(rest, wanted, **close)
    kernels.add_steps(rest, *told)
    for k in (0, 1, 2):
        row = order[k]
        share = wanted_shares[k] - changes[row] @ wanted / curved[row]
        wanted += share * steps[row]
    np.testing.assert_allclose(rest, wanted, **close)


def test_definite_matrices_are_inverted_and_others_counted():
    roots = np.random.default_rng(0).normal(size=(3, 5, 5))
    matrices = roots @ roots.transpose(0, 2, 1) + np.eye(5)
    found = matrices.copy()
    assert kernels.invert_each(found) == 0
    np.testing.assert_allclose(found @ matrices, np.tile(np.eye(5), (3, 1, 1)), atol=1e-12)
    matrices[1] = -np.eye(5)
    assert kernels.invert_each(matrices.copy()) == 1
