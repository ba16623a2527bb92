"""Predictions for a table."""

from pathlib import Path

import numpy as np
import pandas

from wdrsvm import load_model

from ..flowers import FIT, N, flowers, run, run_json, texts


def test_predictions_are_named_by_a_column_or_counted(folder, capsys):
    texts().assign(sample=[f"00{k}" for k in range(N)]).to_csv("train.csv", index=False)
    run_json(capsys, *FIT, "--drop", "sample")
    shown = run(capsys, "predict", "model", "train.csv")[1].splitlines()
    assert shown[:2] == ["row,prediction", "0,ash"]
    shown = run(capsys, "predict", "model", "train.csv", "--id", "sample")[1].splitlines()
    assert shown[:2] == ["sample,prediction", "000,ash"]
    code, _, error = run(capsys, "predict", "model", "train.csv", "--id", "name")
    assert (code, error.count("\n")) == (2, 1)
    assert "--id: train.csv has no column 'name'; it has length" in error


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


def test_other_models_have_no_probabilities(model, capsys):
    code, _, error = run(capsys, "predict", "model", "train.csv", "--probabilities")
    assert (code, error.count("\n")) == (2, 1)
    assert "--loss logistic" in error


def test_predictions_refuse_what_was_never_seen(model, capsys):
    flowers().assign(colour="green").to_csv("new.csv", index=False)
    code, shown, error = run(capsys, "predict", "model", "new.csv", "--out", "p.csv")
    assert (code, shown, error.count("\n")) == (2, "", 1)
    assert not Path("p.csv").exists()
    assert "colour has categories that the model has not seen: green;" in error


def test_predictions_ignore_labels_and_strange_columns(model, capsys):
    table = flowers().assign(other=1)[["other", "kind", "colour", "width", "length"]]
    table.to_csv("new.csv", index=False)
    assert run(capsys, "predict", "model", "new.csv", "--out", "predictions.csv")[0] == 0
    predictions = pandas.read_csv("predictions.csv")
    assert (predictions["prediction"] == table["kind"]).mean() > 0.9
    table.drop(columns="kind").to_csv("new.csv", index=False)
    printed = run(capsys, "predict", "model", "new.csv")[1]
    assert printed == predictions.to_csv(index=False)


def test_scores_are_those_of_the_model(model, capsys):
    assert (
        run(capsys, "predict", "model", "train.csv", "--scores", "--out", "p.csv")[0] == 0
    )
    scores = pandas.read_csv("p.csv").drop(columns=["row", "prediction"])
    assert list(scores) == ["score ash", "score elm", "score oak"]
    expected = load_model(model).decision_function(flowers()[["length", "width", "colour"]])
    np.testing.assert_allclose(scores, expected)


def test_an_unseen_category_is_ignored_on_request_and_said(model, capsys):
    table = flowers()[6:10].assign(colour="green")
    table.to_csv("new.csv", index=False)
    shown = run_json(capsys, "predict", "model", "new.csv", "--ignore-unseen")
    assert shown["predictions"]["prediction"] == ["ash"] * 4
    assert shown["notes"] == ["colour has categories that the model has not seen: green."]
