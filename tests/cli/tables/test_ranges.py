"""Ranges that the user gives on the command line."""

import numpy as np
import pytest

from wdrsvm import load_model

from ..flowers import FIT, flowers, run_json


def ends_of(name):
    """The ends of a number's range in the model file, in units of the table."""
    pipeline = load_model("model")
    names = list(pipeline[0].get_feature_names_out())
    d, scaler = names.index(f"numbers__{name}"), pipeline[0].named_transformers_["numbers"]
    scaled = np.array([end[d] for end in pipeline[-1].support])
    return scaled * scaler[-1].scale_[d] + scaler[-1].mean_[d]


def test_a_given_range_replaces_the_observed_one(folder, capsys):
    run_json(capsys, *FIT, "--range", "length=-50:80.5")
    np.testing.assert_allclose(ends_of("length"), [-50, 80.5])
    width = flowers()["width"]
    np.testing.assert_allclose(ends_of("width"), [width.min(), width.max()])
    assert len(load_model("model")[-1].categorical) == 1


def test_an_end_may_be_missing(folder, capsys):
    run_json(capsys, *FIT, "--range", "length=-50:", "--range", "width=:99")
    assert ends_of("length").tolist() == [pytest.approx(-50), np.inf]
    assert ends_of("width").tolist() == [-np.inf, pytest.approx(99)]


def test_rows_outside_widen_the_range_and_are_counted(folder, capsys):
    length = flowers()["length"]
    beyond = np.sort(length.dropna())[-4]
    facts = run_json(capsys, *FIT, "--range", f"length=-50:{beyond}")
    assert "Outside the ranges of --range, which are widened: 3 rows." in facts["notes"]
    np.testing.assert_allclose(ends_of("length"), [-50, length.max()])


def test_without_categories_only_given_ranges_have_ends(folder, capsys):
    flowers().drop(columns="colour").to_csv("train.csv", index=False)
    run_json(capsys, *FIT, "--range", "length=-50:80")
    np.testing.assert_allclose(ends_of("length"), [-50, 80])
    assert ends_of("width").tolist() == [-np.inf, np.inf]
    run_json(capsys, *FIT)
    assert load_model("model")[-1].support is None


def test_categories_that_cannot_change_leave_given_ranges(folder, capsys):
    run_json(capsys, *FIT, "--category-cost", "inf", "--range", "length=-50:80")
    np.testing.assert_allclose(ends_of("length"), [-50, 80])
    assert load_model("model")[-1].categorical is None


REFUSED = {
    ("length",): "--range must be NAME=LOW:HIGH",
    ("length=3",): "--range must be NAME=LOW:HIGH",
    ("length=a:b",): "--range must be NAME=LOW:HIGH",
    ("=1:2",): "--range must be NAME=LOW:HIGH",
    ("length=nan:2",): "--range must be NAME=LOW:HIGH",
    ("length=5:5",): "--range must have LOW < HIGH, got 'length=5:5'",
    ("length=0:9", "length=1:8"): "must name a column once, got 'length' twice",
    ("lenght=0:9",): "perhaps 'length' is meant",
    ("colour=0:9",): "needs a column of numbers, but 'colour' has categories",
    ("kind=0:9",): "has no column of numbers 'kind'",
}


@pytest.mark.parametrize("given", REFUSED)
def test_bad_ranges_are_refused_with_a_sentence(folder, refused, given):
    options = [part for text in given for part in ("--range", text)]
    assert REFUSED[given] in refused(*FIT, *options)


@pytest.mark.parametrize("other", [("--kernel", "rbf"), ("--doubt-labels",)])
def test_ranges_belong_to_a_linear_classifier(folder, refused, other):
    assert "--range" in refused(*FIT, "--range", "length=0:9", *other)
