"""Files of models that the commands read."""

import io
import json

import numpy as np
import pandas
import pytest
from sklearn.preprocessing import MaxAbsScaler

from wdrsvm import load_model, model_files, save_model
from wdrsvm.cli.main import main

from ...fuzz.mutations import members, zipped
from ..flowers import flowers, run, run_json


@pytest.mark.parametrize("command", ["predict", "certify"])
def test_a_table_that_does_not_fit_the_model_is_one_sentence(model, capsys, command):
    target = [] if command == "predict" else ["--target", "kind"]
    for change, sentence in (
        (lambda t: t.drop(columns="width"), "lacks width, which the model needs"),
        (lambda t: t.assign(width="wide"), "width is a column of numbers, but row 0"),
    ):
        change(flowers()).to_csv("new.csv", index=False)
        code, _, error = run(capsys, command, "model", "new.csv", *target)
        assert (code, error.count("\n")) == (2, 1)
        assert sentence in error


def test_a_file_that_is_no_model_is_one_sentence(folder, capsys):
    code, _, error = run(capsys, "predict", "train.csv", "train.csv")
    assert (code, error.count("\n")) == (2, 1)
    assert "is not a model file" in error


def test_a_forged_model_of_the_wrong_shape(tmp_path, refused):
    rows = tmp_path / "rows.svmlight"
    rows.write_text("0 1:1 2:2\n1 1:2\n" * 3)
    model = tmp_path / "model"
    assert main(["fit", str(rows), "--target", "y", "--out", str(model)]) == 0
    parts = members(model.read_bytes())
    schema = json.loads(parts[model_files.SCHEMA])
    scale = io.BytesIO()
    np.save(scale, np.ones(7))
    name = next(
        each["file"]
        for part in _nodes(schema)
        if part.get("__class__") == MaxAbsScaler.__name__
        for key, each in part["content"]["content"].items()
        if key == "scale_"
    )
    del parts[model_files.ABOUT]
    model.write_bytes(model_files._with_about(zipped(parts | {name: scale.getvalue()})))
    assert "perhaps it is damaged: AssertionError" in refused("predict", model, rows)


def _nodes(part):
    if isinstance(part, dict):
        yield part
        part = list(part.values())
    if isinstance(part, list):
        for each in part:
            yield from _nodes(each)


def test_a_model_knows_the_column_of_its_labels(model, capsys):
    told = run_json(capsys, "certify", "model", "train.csv")
    assert told == run_json(capsys, "certify", "model", "train.csv", "--target", "kind")


def test_the_target_is_asked_for_if_the_model_does_not_know_it(model, capsys):
    older = load_model(model)
    del older.reading_
    save_model(older, "older")
    code, _, error = run(capsys, "report", "older", "train.csv", "--out", "page.html")
    assert (code, error.count("\n")) == (2, 1)
    assert "--target must name the column of the labels" in error
    assert run(capsys, "certify", "older", "train.csv", "--target", "kind")[0] == 0


def test_another_table_may_lack_the_column_of_the_labels(model, capsys):
    pandas.read_csv("train.csv").rename(columns={"kind": "sort"}).to_csv("new.csv")
    code, _, error = run(capsys, "certify", "model", "new.csv")
    assert (code, "new.csv has no column 'kind'" in error) == (2, True)
    assert run(capsys, "certify", "model", "new.csv", "--target", "sort")[0] == 0
