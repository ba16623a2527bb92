"""A page with sliders, a graph for other programs, and a logistic model."""

import json
import re
from pathlib import Path

import numpy as np
import pandas
import pytest

from wdrsvm import load_model
from wdrsvm.cli.main import main

from .flowers import flowers, run, run_json

FIT = ("fit", "train.csv", "--target", "kind", "--out", "model")
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


def test_a_logistic_model_gives_probabilities(folder, capsys):
    facts = run_json(capsys, *FIT, "--loss", "logistic", "--label-cost", "4")
    model = load_model("model")
    assert facts["training accuracy"] > 0.9
    assert (
        run(capsys, "predict", "model", "train.csv", "--probabilities", "--out", "p.csv")[0]
        == 0
    )
    shown = pandas.read_csv("p.csv").drop(columns=["row", "prediction"])
    assert list(shown) == ["probability ash", "probability elm", "probability oak"]
    X = flowers()[["length", "width", "colour"]]
    np.testing.assert_allclose(shown, model.predict_proba(X))


def test_a_logistic_search(folder, capsys):
    facts = run_json(capsys, *FIT, "--loss", "logistic", "--cv")
    assert facts["cross-validated score"] > 0.8
    assert load_model("model")[-1].radius_ == facts["radius"]


def test_other_models_have_no_probabilities(model, capsys):
    code, _, error = run(capsys, "predict", "model", "train.csv", "--probabilities")
    assert (code, error.count("\n")) == (2, 1)
    assert "--loss logistic" in error


def test_the_graph_scores_as_the_model(model, capsys):
    onnxruntime = pytest.importorskip("onnxruntime")
    pytest.importorskip("skl2onnx")
    shown = run_json(capsys, "export", "model", "--out", "model.onnx")
    assert shown["inputs"] == ["length", "width", "colour"]
    session = onnxruntime.InferenceSession("model.onnx", providers=["CPUExecutionProvider"])
    table = flowers()
    table.loc[8, "colour"] = "green"
    given = {name: table[name].to_numpy()[:, None] for name in ("length", "width")}
    given["colour"] = table["colour"].fillna("").to_numpy(dtype=object)[:, None]
    label, scores = session.run(["label", "scores"], given)
    pipeline, X = load_model(model), table[["length", "width", "colour"]]
    np.testing.assert_allclose(scores, pipeline.decision_function(X), atol=1e-5)
    assert label.tolist() == pipeline.predict(X).tolist()


@pytest.mark.parametrize("command", ["explore", "export"])
def test_help_has_examples(command, capsys):
    assert main([command, "--help"]) == 0
    assert f"wdrsvm {command} penguins" in capsys.readouterr().out


def test_predictions_refuse_what_was_never_seen(model, capsys):
    flowers().assign(colour="green").to_csv("new.csv", index=False)
    code, shown, error = run(capsys, "predict", "model", "new.csv", "--out", "p.csv")
    assert (code, shown, error.count("\n")) == (2, "", 1)
    assert not Path("p.csv").exists()
    assert "colour has categories that the model has not seen: green;" in error
