"""Splits with counted rows."""

import numpy as np

from wdrsvm.experiments.splits import AI4I_TEST, AI4I_TRAIN, counted_split


def test_rows_of_ai4i_are_counted_as_in_the_paper():
    y = np.repeat(range(5), [400, 46, 100, 90, 80])
    split = counted_split(np.arange(len(y)), y, AI4I_TRAIN, AI4I_TEST, 0)
    assert np.bincount(split.y).tolist() == [278, 6, 6, 5, 5]
    assert np.bincount(split.y_test).tolist() == [40] * 5
    assert set(split.X).isdisjoint(split.X_test)
