"""Mixed tables: from a raw frame to a robust classifier in three lines."""

from importlib import import_module
from importlib.util import find_spec

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline

from wdrsvm import (
    RobustLinearSVC,
    RobustLogisticRegression,
    load_model,
    mixed_table,
    save_model,
)


def raw_table(n_rows=60, seed=0):
    """Numbers, texts and flags, some of them missing; and labels that depend on them."""
    rng = np.random.default_rng(seed)
    y = np.arange(n_rows) % 3
    frame = pd.DataFrame(
        {
            "size": 10 * y + rng.normal(size=n_rows),
            "colour": np.where(rng.random(n_rows) < 0.7, np.array([*"uvw"])[y], "u"),
            "count": rng.integers(0, 5, n_rows),
            "flag": rng.random(n_rows) < 0.5,
        }
    )
    frame.loc[3, "size"] = np.nan
    frame.loc[[5, 7], "colour"] = None
    return frame, np.array([*"klm"])[y]


@pytest.mark.parametrize("kind", [RobustLinearSVC, RobustLogisticRegression])
def test_three_lines_from_the_raw_frame_to_predictions(kind):
    frame, y = raw_table()
    encoder, groups, support = mixed_table(frame)
    model = make_pipeline(encoder, kind(norm="l1", categorical=groups, support=support))
    assert model.fit(frame, y).score(frame, y) > 0.9
    assert model[-1].duality_gap_ < 1e-5


def test_numbers_first_then_one_column_for_each_category():
    frame, _ = raw_table()
    encoder, groups, (low, high) = mixed_table(frame, category_cost=2.5)
    X = encoder.transform(frame)
    # size and count; u, v, w and missing; False and True.
    assert groups == [([2, 3, 4, 5], 2.5), ([6, 7], 2.5)]
    assert X.shape == (60, 8)
    for columns, _ in groups:
        assert (X[:, columns].sum(axis=1) == 1).all()
    np.testing.assert_array_equal(low, X.min(axis=0))
    np.testing.assert_array_equal(high, X.max(axis=0))
    np.testing.assert_allclose(X[:, :2].std(axis=0), 1.0)


def test_unseen_categories_are_refused():
    frame, y = raw_table()
    encoder, groups, support = mixed_table(frame)
    model = make_pipeline(encoder, RobustLinearSVC(categorical=groups, support=support))
    with pytest.raises(
        ValueError, match=r"column 'colour' has categories .* not seen: 'purple'; leave"
    ):
        model.fit(frame, y).predict(frame.assign(colour="purple"))
    with pytest.raises(ValueError, match="handle_unknown must be one of 'error', 'ignore'"):
        mixed_table(frame, handle_unknown="warn")


@pytest.mark.parametrize("kind", [RobustLinearSVC, RobustLogisticRegression])
def test_rare_categories_and_ranges_survive_cross_validation(kind):
    """Folds that lack a category, or the largest value, keep columns and limits."""
    frame, y = raw_table()
    frame.loc[11, "colour"] = "rare"
    frame.loc[12, "size"] = 1000.0
    encoder, groups, support = mixed_table(frame)
    classifier = kind(norm="l1", categorical=groups, support=support, tol=1e-3)
    scores = cross_val_score(
        make_pipeline(encoder, classifier), frame, y, cv=3, error_score="raise"
    )
    assert scores.min() > 0.3


def test_a_mixed_pipeline_can_be_saved(tmp_path):
    frame, y = raw_table()
    encoder, groups, support = mixed_table(frame)
    model = make_pipeline(encoder, RobustLinearSVC(categorical=groups, support=support))
    path = save_model(model.fit(frame, y), tmp_path / "mixed.wdrsvm")
    np.testing.assert_array_equal(load_model(path).predict(frame), model.predict(frame))


def frames_of_all_kinds():
    """The same table with the types of texts and missing values that libraries have."""
    frame, _ = raw_table()
    kinds = {
        kind: frame.astype({"colour": kind})
        for kind in ("object", "str", "string", "category")
    }
    kinds["nullable"] = frame.convert_dtypes()
    kinds["None and NaN"] = kinds["object"].copy()
    kinds["None and NaN"].loc[[5, 7], "colour"] = [None, np.nan]
    if find_spec("pyarrow"):
        kinds["pyarrow"] = frame.convert_dtypes(dtype_backend="pyarrow")
    if find_spec("polars"):
        kinds["polars"] = import_module("polars").from_pandas(frame)
    return kinds


def test_frames_of_all_kinds_are_one_table(tmp_path):
    """A table that was read by one library is judged in another, also from a file."""
    frames, (_, y) = frames_of_all_kinds(), raw_table()
    expected = None
    for frame in frames.values():
        encoder, groups, support = mixed_table(frame)
        assert groups == [([2, 3, 4, 5], 1.0), ([6, 7], 1.0)]
        classifier = RobustLinearSVC(norm="l1", categorical=groups, support=support)
        model = make_pipeline(encoder, classifier).fit(frame, y)
        read = load_model(save_model(model, tmp_path / "mixed.wdrsvm"))
        for other in frames.values():
            scores = read.decision_function(other)
            expected = scores if expected is None else expected
            np.testing.assert_array_equal(scores, expected)


def test_unseen_categories_can_be_ignored_but_not_judged():
    frame, y = raw_table()
    encoder, groups, support = mixed_table(frame, handle_unknown="ignore")
    model = make_pipeline(encoder, RobustLinearSVC(categorical=groups, support=support))
    model.fit(frame, y)
    strange = frame.assign(colour="purple")
    assert (encoder.transform(strange)[:, groups[0][0]] == 0).all()
    assert len(model.predict(strange)) == 60
    with pytest.raises(ValueError, match="0 or 1 with a single 1 per row"):
        model[-1].worst_case_risk(encoder.transform(strange), y)


def test_a_category_with_one_value_cannot_be_switched():
    frame = pd.DataFrame({"a": [1.0, 2.0], "b": ["x", "x"]})
    assert mixed_table(frame).groups == []


def test_polars_frames():
    polars = pytest.importorskip("polars")
    frame, y = raw_table()
    table = polars.from_pandas(frame)
    encoder, groups, support = mixed_table(table)
    assert [len(columns) for columns, _ in groups] == [4, 2]
    classifier = RobustLinearSVC(categorical=groups, support=support)
    model = make_pipeline(encoder, classifier).fit(table, y)
    assert model.score(table, y) > 0.9


def test_arrays_have_no_types():
    with pytest.raises(TypeError, match="frame must be a pandas or polars DataFrame"):
        mixed_table(np.zeros((2, 2)))


def test_dask_collections_are_named():
    frames = pytest.importorskip("dask.dataframe")
    with pytest.raises(TypeError, match=r"DataFrame.* got a dask collection"):
        mixed_table(frames.from_pandas(raw_table()[0], npartitions=2))


@pytest.mark.parametrize("kind", ["object", "string"])
def test_unseen_categories_are_named_by_column(kind):
    frame, _ = raw_table()
    frame = frame.astype({"colour": kind})
    table, new = mixed_table(frame), frame.head(4).copy()
    assert table.unseen(frame) == {}
    new.loc[[0, 1], "colour"] = ["z", "x"]
    assert table.unseen(new) == {"colour": ["x", "z"]}
    # A missing value is a category that a table without missing values has not.
    whole = mixed_table(frame.dropna())
    assert whole.unseen(frame) == {"colour": [None]}


def test_unseen_categories_of_a_polars_frame_are_named():
    polars = pytest.importorskip("polars")
    table = mixed_table(polars.DataFrame({"size": [1.0, 2.0], "colour": ["u", "v"]}))
    new = polars.DataFrame({"size": [1.0, 2.0], "colour": ["w", None]})
    assert table.unseen(new) == {"colour": ["w", None]}
