"""How many rows are visited where not all of them are needed."""

from types import SimpleNamespace

import numpy as np

from wdrsvm.solvers.newton.products.row_steps import axes_step, row_step


def test_few_rows_are_all_visited():
    assert row_step(10_000, 500, 10) == 1
    assert row_step(10**6, 10, 7) == 100


def test_labels_in_turns_are_all_visited():
    step = row_step(10**6, 10, 60)
    assert len(set(np.arange(0, 10**6, step) % 60)) == 60
    assert 80 < step <= 100


def test_axes_are_told_by_some_rows_for_each_column():
    # At least 10 000 rows: rare, long rows may have most of the spread of few columns.
    assert axes_step(rows_of(n_rows=30_001, n_columns=4)) == 3
    assert axes_step(rows_of(n_rows=30_001, n_columns=2500)) == 1
    assert axes_step(rows_of(n_rows=9_000, n_columns=4)) == 1


def rows_of(n_rows, n_columns):
    """Only the shape of the rows counts."""
    X = np.broadcast_to(0.0, (n_rows, n_columns))
    return SimpleNamespace(X=X, n_classes=5)
