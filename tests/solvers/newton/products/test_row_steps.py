"""How many rows are visited where not all of them are needed."""

import numpy as np

from wdrsvm.solvers.newton.products.row_steps import axes_step, row_step
from wdrsvm.solvers.newton.products.settings import PRODUCTS

from .test_loop import blobs


def test_few_rows_are_all_visited():
    assert row_step(10_000, 500, 10) == 1
    assert row_step(10**6, 10, 7) == 100


def test_labels_in_turns_are_all_visited():
    step = row_step(10**6, 10, 60)
    assert len(set(np.arange(0, 10**6, step) % 60)) == 60
    assert 80 < step <= 100


def test_axes_are_told_by_some_rows_for_each_column():
    problem = blobs(n_classes=5)
    n_rows, n_columns = problem.X.shape
    step = axes_step(problem)
    assert 1 < step <= n_rows / (PRODUCTS.axes_rows_per_column * n_columns)
    assert step % 5 != 0
