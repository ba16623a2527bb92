"""A page with sliders, from a table."""

import json
import re

import numpy as np
import pytest

from ..flowers import LABELLED, european, flowers, run, run_json, texts


def test_explore_reads_the_columns_it_shows(folder, capsys):
    (folder / "train.csv").write_text(european(texts()))
    given = ("explore", "train.csv", *LABELLED, "--radii", "2", "--out", "page.html")
    shown = run_json(capsys, *given, "--x", "length", "--y", "price")
    assert shown["columns"] == ["length", "price"]


EXPLORE = ("explore", "train.csv", "--target", "kind", "--radii", "3")


def on_page(path):
    text = path.read_text(encoding="utf-8")
    return json.loads(re.search(r'id="explore-data">(.*?)</script>', text)[1])


def test_columns_are_chosen_and_said(folder, capsys):
    table = flowers().assign(noise=np.random.default_rng(1).normal(size=60), same=1.0)
    table.to_csv("train.csv", index=False)
    shown = run_json(capsys, *EXPLORE, "--out", "page.html")
    assert sorted(shown["columns"]) == ["length", "width"]
    assert any("--x and --y choose others" in note for note in shown["notes"])
    data = on_page(folder / "page.html")
    assert data["classes"] == ["ash", "elm", "oak"]
    assert len(data["X"]) == 60
    assert (folder / "page.html").stat().st_size < 500_000


def test_columns_may_be_given(folder, capsys):
    options = ("--x", "width", "--y", "length", "--norm", "l1", "--out", "page.html")
    assert run_json(capsys, *EXPLORE, *options)["columns"] == ["width", "length"]
    assert on_page(folder / "page.html")["names"] == ["width", "length"]


def test_without_a_table_there_is_wine(folder, capsys):
    shown = run_json(capsys, "explore", "--radii", "2")
    assert shown["columns"] == ["flavanoids", "color_intensity"]
    assert len(on_page(folder / "wdrsvm-explore.html")["X"]) == 178


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (("train.csv",), "--target must name"),
        (("--x", "width"), "need a table"),
        ((*EXPLORE[1:4], "--x", "colour"), "--x must be a column of numbers"),
        ((*EXPLORE[1:4], "--y", "height"), "--y must be a column of train.csv"),
        ((*EXPLORE[1:4], "--x", "width", "--y", "width"), "'width' twice"),
        ((*EXPLORE[1:4], "--norm", "l3"), "--norm must be one of"),
        (("none.csv", "--target", "kind"), "There is no table"),
    ],
)
def test_what_cannot_be_explored_is_one_sentence(folder, capsys, options, sentence):
    before = sorted(folder.iterdir())
    code, shown, error = run(capsys, "explore", *options)
    assert (code, shown, error.count("\n")) == (2, "", 1)
    assert sentence in error
    assert sorted(folder.iterdir()) == before


def test_one_column_of_numbers_is_too_few(folder, capsys):
    flowers().drop(columns="width").to_csv("train.csv", index=False)
    code, _, error = run(capsys, *EXPLORE)
    assert (code, "two columns of numbers" in error) == (2, True)
