"""Categories as plain values."""

import numpy as np
import pandas as pd
import pytest

from wdrsvm import CategoryValues

MISSING = [None, np.nan, pd.NA, pd.NaT]


@pytest.mark.parametrize("value", MISSING, ids=repr)
def test_every_missing_value_is_none(value):
    frame = pd.DataFrame({"a": pd.Series(["u", value], dtype=object)})
    assert CategoryValues().fit_transform(frame).tolist() == [["u"], [None]]


def test_values_are_python_objects_and_the_frame_stays_as_it_is():
    frame = pd.DataFrame({"a": [True, False], "b": pd.array([1, None], dtype="Int64")})
    before = frame.copy()
    values = CategoryValues().fit_transform(frame)
    assert [[type(value) for value in row] for row in values.tolist()] == [
        [bool, int],
        [bool, type(None)],
    ]
    pd.testing.assert_frame_equal(frame, before)


def test_columns_keep_their_names_and_others_are_refused():
    frame = pd.DataFrame({"a": ["u"], "b": ["v"]})
    values = CategoryValues().fit(frame)
    assert values.get_feature_names_out().tolist() == ["a", "b"]
    with pytest.raises(ValueError, match="feature names"):
        values.transform(frame.rename(columns={"a": "c"}))


def test_unseen_categories_are_named_by_column_or_pass():
    frame = pd.DataFrame({"a": ["u"], "b": ["v"]})
    new = pd.DataFrame({"a": ["u", "u"], "b": ["w", None]})
    with pytest.raises(
        ValueError, match=r"column 'b' has categories .* not seen: None, 'w'"
    ):
        CategoryValues().fit(frame).transform(new)
    assert CategoryValues("ignore").fit(frame).transform(new).tolist() == [
        ["u", "w"],
        ["u", None],
    ]


@pytest.mark.parametrize("given", [np.array([["u"]], dtype=object), [["u"]]])
def test_only_frames_are_taken(given):
    frame = pd.DataFrame({"a": ["u"]})
    with pytest.raises(TypeError, match="X must be a pandas or polars DataFrame"):
        CategoryValues().fit(given)
    with pytest.raises(TypeError, match="X must be a pandas or polars DataFrame"):
        CategoryValues().fit(frame).transform(given)


def test_an_unknown_treatment_is_refused():
    with pytest.raises(ValueError, match="'error', 'ignore', got 'drop'"):
        CategoryValues("drop").fit(pd.DataFrame({"a": ["u"]}))
