"""Columns of frames: numbers, categories, and what is refused by name."""

import datetime

import numpy as np
import pandas as pd
import pytest
from sklearn.pipeline import make_pipeline

from wdrsvm import RobustLinearSVC, mixed_table
from wdrsvm.inputs import column_kinds

N_ROWS = 40
DAYS = [datetime.date(2020, 1, 1) + datetime.timedelta(days) for days in range(N_ROWS)]


def frame_with(column):
    rng = np.random.default_rng(0)
    y = np.arange(N_ROWS) % 2
    return pd.DataFrame({"size": y + rng.normal(size=N_ROWS), "more": column}), y


GOOD = {
    "flags": ([True, False] * 20, [2]),
    "flags with NA": (pd.array([True, False, None, True] * 10, dtype="boolean"), [3]),
    "whole numbers with NA": (pd.array([1, 2, None, 4] * 10, dtype="Int64"), []),
    "no number": (np.full(N_ROWS, np.nan), []),
    "no value": (pd.Series([None] * N_ROWS, dtype=object), []),
    "unused levels": (pd.Categorical(["u", "v"] * 20, categories=[*"uvwx"]), [2]),
    "missing level": (pd.Categorical([None, "v"] * 20), [2]),
    "texts with NA": (pd.array([None, "v"] * 20, dtype="string"), [2]),
    "texts with None": ([None, "u", "v", "w"] * 10, [4]),
    "numbers as objects": (pd.Series([1.5, 2] * 20, dtype=object), [2]),
}


@pytest.mark.parametrize("name", GOOD)
def test_columns_that_work_in_three_lines(name):
    column, sizes = GOOD[name]
    frame, y = frame_with(column)
    encoder, groups, support = mixed_table(frame)
    classifier = RobustLinearSVC(0.1, norm="l1", categorical=groups, support=support)
    model = make_pipeline(encoder, classifier).fit(frame, y)
    assert [len(columns) for columns, _ in groups] == sizes
    assert model[-1].n_features_in_ == len(support[0])


def test_encoded_columns_are_named_by_their_kind():
    """Those who select columns of the encoder by name rely on them."""
    frame, _ = frame_with(["u", "v"] * 20)
    names = mixed_table(frame).encoder.get_feature_names_out()
    assert [*names] == ["numbers__size", "categories__more_u", "categories__more_v"]


DATES = "has dates or times, which are neither numbers nor categories"
BAD = {
    "days": (pd.date_range("2020", periods=N_ROWS), DATES),
    "lengths of time": (pd.to_timedelta(np.arange(N_ROWS), "D"), DATES),
    "periods": (pd.period_range("2020-01", periods=N_ROWS, freq="D"), DATES),
    "dates as objects": (DAYS, DATES),
    "mixture": ([1, "v"] * 20, "has values of the types number, str: convert it"),
    "lists": ([[1, 2]] * N_ROWS, "has values that are no single texts or numbers"),
    "infinite": (np.r_[np.inf, np.zeros(N_ROWS - 1)], "has infinite values"),
    "complex": (np.ones(N_ROWS) * 1j, "has complex numbers"),
}


@pytest.mark.parametrize("name", BAD)
def test_columns_that_are_refused_by_name(name):
    column, words = BAD[name]
    with pytest.raises(ValueError, match=f"column 'more' of frame {words}"):
        mixed_table(frame_with(column)[0])


def test_too_many_categories():
    frame = pd.DataFrame({"key": [f"k{row}" for row in range(1001)]})
    with pytest.raises(ValueError, match="'key' of frame has 1001 different values"):
        mixed_table(frame)
    assert len(mixed_table(frame[:1000]).groups[0][0]) == 1000


@pytest.mark.parametrize("shape", [(0, 2), (40, 0)])
def test_empty_frames(shape):
    frame = frame_with("u")[0].iloc[: shape[0], : shape[1]]
    with pytest.raises(ValueError, match="frame must have rows and columns"):
        mixed_table(frame)


def test_names_that_stand_twice():
    frame = frame_with("u")[0]
    with pytest.raises(ValueError, match="two columns 'size'"):
        mixed_table(pd.concat([frame, frame], axis=1))


@pytest.mark.parametrize("cost", [0, -1.0, np.nan, "1"])
def test_costs_that_are_refused(cost):
    with pytest.raises(ValueError, match="category_cost must be a number > 0"):
        mixed_table(frame_with("u")[0], category_cost=cost)


def test_dates_and_missing_values_of_polars():
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame({"size": [1.0, None, 3.0], "flag": [True, None, False]})
    assert [len(columns) for columns, _ in mixed_table(frame).groups] == [3]
    with pytest.raises(ValueError, match=f"column 'day' of frame {DATES}"):
        mixed_table(frame.with_columns(polars.Series("day", DAYS[:3])))


def test_types_of_dates_and_times():
    polars = pytest.importorskip("polars")
    for kind in (polars.Date(), polars.Duration(), np.dtype("M8[s]"), np.dtype("m8[D]")):
        assert column_kinds._is_temporal(kind) is True
    assert column_kinds._is_temporal("period[M]") is True
    for kind in (polars.Int8(), np.dtype(float), np.dtype(object), "category"):
        assert column_kinds._is_temporal(kind) is False


def test_types_of_numbers():
    polars = pytest.importorskip("polars")
    numbers = (
        polars.Int8(),
        polars.Float64(),
        *map(np.dtype, (int, np.uint8, float, complex)),
    )
    for kind in (*numbers, pd.Int64Dtype()):
        assert column_kinds._is_number(kind) is True
    others = (
        polars.Boolean(),
        polars.String(),
        np.dtype(bool),
        pd.BooleanDtype(),
        "category",
    )
    for kind in (*others, np.dtype(object), np.dtype("M8[s]")):
        assert column_kinds._is_number(kind) is False
