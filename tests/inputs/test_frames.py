"""What data frames say about their columns."""

from importlib import import_module

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from wdrsvm import RobustLinearSVC, RobustOneVsRestSVC
from wdrsvm.inputs.frames import _is_numeric, is_frame, observed_box, one_hot_groups


def dummies(kind=bool):
    colour = pd.get_dummies(pd.Series(["red", "blue", "red"]), prefix="colour", dtype=kind)
    return pd.concat([pd.DataFrame({"size": [1.0, 2.0, 4.0]}), colour], axis=1)


@pytest.mark.parametrize("kind", [bool, np.uint8, np.int8])
def test_groups_are_found_by_type_name_and_values(kind):
    assert one_hot_groups(dummies(kind)) == [([1, 2], 1.0)]
    assert one_hot_groups(dummies(kind), 3.0) == [([1, 2], 3.0)]


def test_what_is_no_group():
    """Other types, names that do not agree, and rows with none or two of the columns."""
    assert one_hot_groups(dummies(float)) == []
    assert one_hot_groups(dummies().rename(columns={"colour_red": "tint_red"})) == []
    assert (
        one_hot_groups(dummies().rename(columns=lambda name: name.replace("_", ""))) == []
    )
    both = dummies()
    both.loc[0, "colour_blue"] = True
    assert one_hot_groups(both) == []


def test_polars_frames_have_groups_too():
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame({"size": [1.0, 2.0], "c": ["u", "v"]}).to_dummies("c")
    assert is_frame(frame)
    assert one_hot_groups(frame) == [([1, 2], 1.0)]


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_boxes_are_the_observed_ranges_and_can_be_widened(form):
    X = form(np.array([[1.0, -2.0], [3.0, 5.0]]))
    low, high = observed_box(X)
    assert low.tolist() == [1.0, -2.0]
    assert high.tolist() == [3.0, 5.0]
    low, high = observed_box(X, (np.array([0.0, 0.0]), np.array([2.0, 9.0])))
    assert low.tolist() == [0.0, -2.0]
    assert high.tolist() == [3.0, 9.0]


def test_arrays_are_no_frames():
    assert not is_frame(np.zeros((2, 2)))
    assert not is_frame([[1.0]])
    assert is_frame(dummies())


@pytest.mark.parametrize("kind", [RobustLinearSVC, RobustOneVsRestSVC])
@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_columns_of_texts_are_named(kind, library):
    pytest.importorskip(library)
    frame = pd.DataFrame({"size": ["1", "2.5"], "colour": ["red", "blue"]})
    given = frame if library == "pandas" else import_module("polars").from_pandas(frame)
    with pytest.raises(ValueError, match=r"column 'colour' has texts: .*mixed_table"):
        kind(support="auto").fit(given, [0, 1])


def test_numbers_may_be_written_as_texts():
    assert _is_numeric(["1", "2.5"]) is True
    assert _is_numeric(["1", "two"]) is False


def test_one_column_is_no_group():
    assert one_hot_groups(pd.DataFrame({"colour_red": [True, True]})) == []
    both = pd.DataFrame({"colour_red": [True, False], "colour_blue": [False, True]})
    assert one_hot_groups(both, 0.5) == [([0, 1], 0.5)]
    neither = both.rename(columns={"colour_red": "red", "colour_blue": "blue"})
    assert one_hot_groups(neither) == []
