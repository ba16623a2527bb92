"""Labels as they stand, rare classes, and how far a cross-validation is."""

import re
import warnings

import pytest
from sklearn.exceptions import ConvergenceWarning

from wdrsvm import __version__, load_model
from wdrsvm.cli.commands.fit import _for_a_search
from wdrsvm.cli.output import Output

from ..flowers import FIT, N, flowers, run, run_json

CERTIFY = ("certify", "model", "train.csv", "--target", "kind")


def write(*names, **columns):
    """The flowers with other names of their classes."""
    kinds = dict(zip(["ash", "elm", "oak"], names, strict=False))
    table = flowers().replace({"kind": kinds}).assign(**columns)
    table.to_csv("train.csv", index=False)
    return table


def rare():
    """One yew and three firs."""
    kind = flowers()["kind"].where(lambda kind: kind.index != 0, "yew")
    write(kind=kind.where(~kind.index.isin([1, 2, 3]), "fir"))


def test_labels_are_texts_as_they_stand(folder, capsys):
    write("01", "1", "001")
    facts = run_json(capsys, *FIT)
    assert facts["classes"] == ["001", "01", "1"]
    assert any("001, 01, 1 in kind are different classes" in n for n in facts["notes"])
    assert run_json(capsys, *CERTIFY)["rows"] == N
    predicted = run_json(capsys, "predict", "model", "train.csv")["predicted"]
    assert set(predicted) == {"01", "1", "001"}


def test_labels_are_numbers_on_request(folder, capsys):
    write("01", "1.0", "2")
    assert run_json(capsys, *FIT, "--labels", "numbers")["classes"] == [1, 2]
    assert run_json(capsys, *CERTIFY)["rows"] == N
    write("01", "one", "2")
    code, _, error = run(capsys, *FIT, "--labels", "numbers")
    assert (code, error.count("\n")) == (2, 1)
    assert "row 20, counted from 0, has 'one'; --labels text takes texts" in error


def test_classes_that_look_like_gaps_are_classes(folder, capsys):
    write("NA", "None", "null")
    facts = run_json(capsys, *FIT)
    assert facts["classes"] == ["NA", "None", "null"]
    assert any("may be gaps: NA, None, null" in each for each in facts["notes"])
    assert run_json(capsys, *CERTIFY)["rows"] == N
    facts = run_json(capsys, "audit", "train.csv", "--target", "kind", "--out", "s.csv")
    assert facts["rows"] == N


def test_measured_numbers_are_classes_only_on_request(folder, capsys):
    write("0.5", "1", "2")
    code, _, error = run(capsys, *FIT)
    assert (code, "must hold classes" in error) == (2, True)
    assert "--labels text" in error
    assert run_json(capsys, *FIT, "--labels", "text")["classes"] == ["0.5", "1", "2"]


@pytest.mark.parametrize("command", ["fit", "audit", "explore"])
def test_a_class_of_one_row_has_remedies(folder, capsys, command):
    rare()
    out = {"fit": "model", "audit": "s.csv", "explore": "p.html"}[command]
    given = (command, "train.csv", "--target", "kind", "--out", out)
    code, shown, error = run(capsys, *given)
    assert (code, shown, error.count("\n")) == (2, "", 1)
    assert "has 1 of yew; --min-rows 2 leaves such classes out, --merge-rare NAME" in error
    shown = run_json(capsys, *given, "--min-rows", "5")
    assert "Rare classes left out: fir (3 rows), yew (1 row)." in shown["notes"]
    shown = run_json(capsys, *given, "--merge-rare", "other")
    assert "Rare classes joined to other: fir (3 rows), yew (1 row)." in shown["notes"]


@pytest.mark.parametrize(
    ("options", "classes", "rows"),
    [
        (("--min-rows", "5"), ["ash", "elm", "oak"], N - 4),
        (("--min-rows", "2"), ["ash", "elm", "fir", "oak"], N - 1),
        (("--merge-rare", "other"), ["ash", "elm", "oak", "other"], N),
    ],
)
def test_a_model_treats_rare_classes_as_its_table(folder, capsys, options, classes, rows):
    rare()
    facts = run_json(capsys, *FIT, *options)
    assert (facts["classes"], facts["rows"]) == (classes, rows)
    certified = run_json(capsys, *CERTIFY)
    assert certified["rows"] == rows
    assert certified["worst-case risk"] == pytest.approx(facts["certified worst-case risk"])


def test_fewer_folds_are_said(folder, capsys):
    rare()
    notes = run_json(capsys, *FIT, "--cv", "--min-rows", "2")["notes"]
    said = "3 folds in place of 5, because classes are rare: fir (3 rows); --min-rows 5"
    assert any(said in note for note in notes)


def test_a_search_tells_how_far_it_is(folder, capsys):
    code, _, error = run(capsys, *FIT, "--cv", "--verbose")
    assert code == 0
    lines = error.splitlines()
    shares = [int(re.search(r"(\d+) per cent", line)[1]) for line in lines]
    assert shares == [17, 33, 50, 67, 83, 100]
    assert all("left" in line for line in lines[:-1])
    assert "_on_fold" not in vars(load_model("model")[-1])


def test_a_search_does_not_advise_what_it_has_done(folder, capsys):
    notes = run_json(capsys, *FIT, "--radius", "100")["notes"]
    (note,) = [each for each in notes if "no classifier has a lower certified" in each]
    assert "Choose a radius below radius_max" in note
    assert "Choose" not in _for_a_search(note)
    assert _for_a_search("another note") == "another note"


def test_standardised_columns_need_no_advice_to_standardise_them():
    output = Output(as_json=True)
    with output.working("Fitting"):
        warnings.warn(
            "It stopped above tol=1e-06. Raise tol, or standardise the features.",
            ConvergenceWarning,
            stacklevel=1,
        )
    assert output.notes == ["It stopped above tol=1e-06."]


def test_the_version_is_told(capsys):
    assert run(capsys, "--version") == (0, f"wdrsvm {__version__}\n", "")


@pytest.mark.parametrize("label", ["1e30", "-1e300", "inf", "0.5"])
@pytest.mark.parametrize("ending", ["csv", "svmlight"])
def test_labels_that_are_no_classes(tmp_path, refused, label, ending):
    path = tmp_path / f"table.{ending}"
    line = "{},1.5,2\n" if ending == "csv" else "{} 1:1.5 2:2\n"
    lines = [line.format(each) for each in ["0", "1", label] * 3]
    path.write_text(("y,a,b\n" if ending == "csv" else "") + "".join(lines))
    refused("fit", path, "--target", "y", "--out", tmp_path / "model")


def test_a_rare_spelling_of_another_class_is_said(folder, capsys):
    kind = flowers()["kind"].where(lambda kind: kind.index != 0, "Ash")
    write(kind=kind)
    code, _, error = run(capsys, *FIT)
    assert (code, error.count("\n")) == (2, 1)
    assert "but has 1 of Ash (perhaps ash is meant)" in error
