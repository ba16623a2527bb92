"""Files of models that the commands read."""

import io
import json

import numpy as np
import pytest
from sklearn.preprocessing import MaxAbsScaler

from wdrsvm import model_files
from wdrsvm.cli.main import main

from ...fuzz.mutations import members, zipped
from ..flowers import flowers, run


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
