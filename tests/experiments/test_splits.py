"""Splits with counted rows."""

import os

import numpy as np
import pytest

from wdrsvm.experiments.splits import (
    AI4I_TEST,
    AI4I_TRAIN,
    INFERRED,
    counted_split,
    table_split,
)

needs_files = pytest.mark.skipif(
    not os.environ.get("WDRSVM_DATA"), reason="WDRSVM_DATA names no folder with the tables"
)


def test_rows_of_ai4i_are_counted_as_in_the_paper():
    y = np.repeat(range(5), [400, 46, 100, 90, 80])
    split = counted_split(np.arange(len(y)), y, AI4I_TRAIN, AI4I_TEST, 0)
    assert np.bincount(split.y).tolist() == [278, 6, 6, 5, 5]
    assert np.bincount(split.y_test).tolist() == [40] * 5
    assert set(split.X).isdisjoint(split.X_test)


@pytest.mark.data
@needs_files
def test_the_inferred_reading_has_training_faults_among_its_test_rows():
    split = table_split(INFERRED, 0)
    assert np.bincount(split.y).tolist() == [276, 6, 6, 6, 6]
    assert np.bincount(split.y_test).tolist() == [40] * 5
    tested = {tuple(row) for row in split.X_test}
    shared = [tuple(row) in tested for row in split.X]
    assert all(shared[276:])
    # Two healthy rows may have equal measurements.
    assert sum(shared[:276]) <= 2
    assert not np.array_equal(split.X, table_split(INFERRED, 1).X)
