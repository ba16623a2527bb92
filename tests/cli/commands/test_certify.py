"""Promises of a model on a table."""

import numpy as np
import pandas
import pytest
from sklearn.linear_model import LogisticRegression

from wdrsvm import WassersteinBall, load_model, save_model, worst_case_error

from ..flowers import flowers, run, run_json


def test_certify_recomputes_the_promise_of_the_fit(model, capsys):
    facts = run_json(
        capsys, "certify", "model", "train.csv", "--target", "kind", "--out", "radii.csv"
    )
    classifier = load_model(model)[-1]
    # In a box the objective of the l2 norm is a safe upper bound.
    assert facts["worst-case risk"] <= classifier.objective_ * (1 + 1e-9)
    assert facts["worst-case risk"] == pytest.approx(classifier.objective_, rel=1e-2)
    radii = pandas.read_csv("radii.csv")
    right = radii["label"] == radii["prediction"]
    for distance in (0.1, 0.25, 0.5, 1.0):
        expected = np.mean(right & (radii["certified_radius"] > distance))
        assert facts[f"certified accuracy at {distance:g}"] == expected


def test_a_class_that_the_model_does_not_know_is_named(model, capsys):
    flowers().assign(kind="yew").to_csv("new.csv", index=False)
    code, _, error = run(capsys, "certify", "model", "new.csv", "--target", "kind")
    assert code == 2
    assert "has the class yew, but the model knows ash, elm, oak" in error


def test_error_rates_come_first_beside_their_baselines(model, capsys):
    given = ("certify", "model", "train.csv", "--target", "kind", "--radius", "0.3")
    facts = run_json(capsys, *given)
    pipeline, table = load_model(model), flowers()
    X, y = pipeline[0].transform(table.drop(columns="kind")), table["kind"].to_numpy()
    limits = {name: getattr(pipeline[-1], name) for name in ("support", "categorical")}
    ball = WassersteinBall(0.3, **limits)
    rival = LogisticRegression(max_iter=1000).fit(X, y)
    for name, judged in (("LogisticRegression", rival), (None, pipeline[-1])):
        told = facts if name is None else facts["baselines"][name]
        assert told["error"] == pytest.approx(1 - judged.score(X, y))
        expected = worst_case_error(judged, X, y, ball)
        assert told["worst_case_error"] == pytest.approx(expected)
    constant = facts["baselines"]["largest class"]
    assert constant == {"label": "ash", "error": 2 / 3, "worst_case_error": 2 / 3}
    for name, told in facts["by_class"].items():
        own = y == name
        expected = worst_case_error(pipeline[-1], X[own], y[own], ball)
        assert told["worst_case_error"] == pytest.approx(expected)
    code, out, _ = run(capsys, *given)
    worst = max(facts["by_class"], key=lambda k: facts["by_class"][k]["worst_case_error"])
    assert code == 0
    assert out.startswith("Of these 60 rows ")
    first = out.splitlines()[0]
    assert "move by 0.3 standard deviations on average" in first
    assert f"(class {worst} suffers most)" in first


def test_older_models_are_certified_without_a_comparison(model, capsys):
    older = load_model(model)
    del older.baselines_
    save_model(older, model)
    facts = run_json(capsys, "certify", "model", "train.csv", "--target", "kind")
    assert list(facts["baselines"]) == ["largest class"]
    assert any("no LogisticRegression to compare with" in note for note in facts["notes"])


def test_a_radius_is_a_distance(model, refused):
    for command in (("certify",), ("report", "--out", "page.html")):
        given = (*command, "model", "train.csv", "--target", "kind", "--radius", "-1")
        assert "--radius must be a finite number > 0, got -1." in refused(*given)
