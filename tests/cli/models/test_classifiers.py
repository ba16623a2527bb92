"""Doubtful labels from the command line, and options that contradict each other."""

from types import SimpleNamespace

import numpy as np
import pytest

from wdrsvm import load_model
from wdrsvm.cli.commands import fit

from ..flowers import FIT, flowers, run_json


def test_labels_can_be_doubted(folder, capsys):
    table = flowers()
    table.loc[[2, 10, 25, 50], "kind"] = ["oak", "oak", "ash", "elm"]
    table.to_csv("train.csv", index=False)
    facts = run_json(capsys, *FIT, "--doubt-labels")
    chosen = load_model("model")[-1].best_estimator_
    assert chosen.label_noise == "random"
    assert facts["labels not believed"] == (chosen.label_belief_ < 0.5).sum()
    assert "Categories, which here can be touched like numbers: colour." in facts["notes"]
    assert facts["training accuracy"] > 0.8
    (told,) = (note for note in facts["notes"] if "not believed" in note)
    worst = int(chosen.label_belief_.argmin())
    assert f"counted from 0: {worst}" in told
    assert "wdrsvm audit train.csv --target kind --out suspects.html" in told


def test_the_rows_named_are_those_that_are_counted():
    """Labels that are believed for the most part are not among them."""
    beliefs = np.array([1.0, 0.2, 0.7, 0.0, 0.5])
    chosen = SimpleNamespace(label_noise="random", label_belief_=beliefs)
    data = SimpleNamespace(row=np.arange(10, 15))
    (told,) = fit._about_disbelief(chosen, data, "train.csv", "kind")
    assert fit._about_beliefs(chosen) == {"labels not believed": 2}
    assert "counted from 0: 13, 11. Next" in told


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (("--radius", "0.1"), "--radius"),
        (("--label-cost", "2"), "--label-cost"),
        (("--kernel", "rbf"), "--kernel rbf"),
        (("--loss", "smooth-max"), "--loss"),
        (("--norm", "l1"), "--norm l1"),
        (("--balanced",), "--balanced"),
    ],
)
def test_doubt_chooses_by_itself(folder, refused, given, told):
    sentence = refused(*FIT, "--doubt-labels", *given)
    assert "--doubt-labels chooses" in sentence or "--loss must be one of" in sentence
    assert told in sentence
    assert not (folder / "model").exists()


@pytest.mark.parametrize("given", [("--doubt-labels",), ("--trust-column", "kind")])
def test_what_is_to_withstand_trusts_all_labels(folder, refused, given):
    sentence = refused(*FIT, "--withstand", "0.1", *given)
    assert f"leave out either it or {given[0]}" in sentence
