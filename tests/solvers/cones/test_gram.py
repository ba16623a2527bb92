"""Sums of Gram matrices: the same total, in fewer bytes."""

import pickle

import numpy as np
import pytest

from wdrsvm.solvers.cones.gram import GramSum
from wdrsvm.solvers.cones.kernels import weighted_gram

N_CLASSES, N_COLUMNS = 3, 20


def rows(n_rows, seed):
    rng = np.random.default_rng(seed)
    factor = rng.normal(size=(n_rows, N_CLASSES + 1, N_CLASSES + 1))
    return factor @ factor.swapaxes(1, 2), rng.normal(size=(n_rows, N_COLUMNS))


@pytest.mark.parametrize("sizes", [(1, 1), (5, 5, 200), (200, 1), (10,) * 12])
def test_the_total_does_not_depend_on_when_rows_are_multiplied_out(sizes):
    parts = [rows(size, seed) for seed, size in enumerate(sizes)]
    found = GramSum.of(*parts[0])
    for part in parts[1:]:
        found = found.joined(GramSum.of(*part))
    curvature, design = (np.concatenate(part) for part in zip(*parts, strict=True))
    expected = weighted_gram(curvature, design)
    np.testing.assert_allclose(found.total, expected, atol=1e-9 * np.abs(expected).max())


def test_few_rows_are_sent_as_they_are_and_many_as_a_matrix():
    matrix_bytes = 8 * (N_CLASSES * N_COLUMNS + 1) ** 2
    few, many = GramSum.of(*rows(5, 0)), GramSum.of(*rows(500, 0))
    assert few.matrix is None
    assert len(many.design) == 0
    assert len(pickle.dumps(few)) < 0.3 * matrix_bytes
    assert len(pickle.dumps(many)) < 1.1 * matrix_bytes
