"""How many rows are visited where not all of them are needed."""

from types import SimpleNamespace

import numpy as np
import pytest

from wdrsvm.solvers.newton.products.row_steps import axes_share, row_step, spread_rows


def test_few_rows_are_all_visited():
    assert row_step(10_000, 500, 10) == 1
    assert row_step(10**6, 10, 7) == 100


def test_labels_in_turns_are_all_visited():
    step = row_step(10**6, 10, 60)
    assert len(set(np.arange(0, 10**6, step) % 60)) == 60
    assert 80 < step <= 100


def test_axes_are_told_by_some_rows_for_each_column():
    # At least 10 000 rows: rare, long rows may have most of the spread of few columns.
    assert axes_share(rows_of(n_rows=40_000, n_columns=4)) == 0.25
    assert axes_share(rows_of(n_rows=40_000, n_columns=2500)) == 0.5
    assert axes_share(rows_of(n_rows=9_000, n_columns=4)) == 1.0


def rows_of(n_rows, n_columns):
    """Only the shape of the rows counts."""
    return SimpleNamespace(X=np.broadcast_to(0.0, (n_rows, n_columns)))


@pytest.mark.parametrize("share", [0.5, 0.25, 0.1])
def test_rows_are_spread_over_all_labels_in_turns_and_in_order(share):
    blocks = [slice(first, first + 1000) for first in range(0, 20_000, 1000)]
    rows = np.concatenate([spread_rows(block, share) for block in blocks])
    assert len(rows) == pytest.approx(share * 20_000, rel=0.01)
    for labels in (rows % 100, rows // 200):
        assert np.bincount(labels).min() >= 0.8 * share * 200


def test_a_whole_share_is_the_block_itself():
    assert spread_rows(slice(3, 9), 1.0) == slice(3, 9)
