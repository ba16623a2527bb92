"""A name that is nearly right is answered with the right one."""

from pathlib import Path

import pytest

from wdrsvm.cli.nearest import perhaps

from .flowers import run


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ("spezies", "; perhaps 'species' is meant"),
        ("SPECIES", "; perhaps 'species' is meant"),
        ("colour", ""),
        ("special", ""),
    ],
)
def test_similar_names(given, told):
    assert perhaps(given, ["island", "species"]) == told


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["fit", "trian.csv", "--target", "kind"], "trian.csv; perhaps 'train.csv' is"),
        (
            ["fit", "no/t.csv", "--target", "kind"],
            "no table no/t.csv; there is no folder no",
        ),
        (["fit", "train.csv", "--target", "kinds"], "'kinds'; perhaps 'kind' is meant; it"),
        (
            ["fit", "train.csv", "--target", "kind", "--drop", "lenght"],
            "--drop: train.csv has no column 'lenght'; perhaps 'length' is meant; it has",
        ),
        (
            ["predict", "modle", "train.csv"],
            "no model file modle; perhaps 'model' is meant",
        ),
        (["predict", "zzz", "train.csv"], "no model file zzz; wdrsvm fit writes one"),
        (
            ["predict", "model", "train.csv", "--id", "lenght"],
            "no column 'lenght'; perhaps 'length' is meant; it has",
        ),
        (
            ["explore", "train.csv", "--target", "kind", "--x", "lenght"],
            "got 'lenght'; perhaps 'length' is meant",
        ),
        (
            ["certify", "model", "train.csv", "--target", "colour"],
            "check --target, or correct the label",
        ),
    ],
)
def test_errors_name_what_may_be_meant(model, capsys, arguments, sentence):
    out = {"predict": "p.csv", "explore": "p.html"}.get(arguments[0], "new")
    written = [] if arguments[0] == "certify" else ["--out", out]
    code, _, error = run(capsys, *arguments, *written)
    assert (code, error.count("\n")) == (2, 1)
    assert sentence in error


def test_a_folder_that_is_not_there_is_named(model, capsys):
    code, _, error = run(
        capsys, "fit", "train.csv", "--target", "kind", "--out", str(Path("no") / "m")
    )
    assert (code, error.count("\n")) == (2, 1)
    assert "there is no folder no; make it first" in error
