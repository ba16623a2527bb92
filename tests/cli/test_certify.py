"""Promises of a model on a table."""

import numpy as np
import pandas
import pytest

from wdrsvm import load_model

from .flowers import flowers, run, run_json


def test_certify_recomputes_the_promise_of_the_fit(model, capsys):
    facts = run_json(
        capsys, "certify", "model", "train.csv", "--target", "kind", "--out", "radii.csv"
    )
    classifier = load_model(model)[-1]
    assert facts["worst-case risk"] == pytest.approx(classifier.objective_, rel=1e-9)
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
