"""Where a command cannot write it says so before the work, and leaves nothing behind."""

import os
import tempfile

import pytest

from wdrsvm.cli.output import FEW
from wdrsvm.cli.tables import files as tables

from .flowers import pandas, run, run_json

LABELLED = ("--target", "kind")
COMMANDS = {
    "fit": (("train.csv", *LABELLED), "out"),
    "audit": (("train.csv", *LABELLED), "out.csv"),
    "predict": (("model", "train.csv"), "out.csv"),
    "certify": (("model", "train.csv", *LABELLED), "out.csv"),
    "report": (("model", "train.csv", *LABELLED), "out.html"),
    "export": (("model",), "out.onnx"),
    "explore": (("train.csv", *LABELLED), "out.html"),
}


def assert_refused(capsys, folder, command, out, sentence):
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    code, shown, error = run(capsys, command, *COMMANDS[command][0], "--out", out)
    assert (code, shown, error.count("\n")) == (2, "", 1)
    assert sentence in error
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


@pytest.mark.parametrize("command", COMMANDS)
def test_folders_that_cannot_hold_it(model, capsys, command):
    name = COMMANDS[command][1]
    for place in ("missing", "train.csv", "/proc"):
        assert_refused(
            capsys, model.parent, command, f"{place}/{name}", "cannot be written"
        )


@pytest.mark.parametrize("command", ["fit", "audit"])
def test_a_folder_is_no_file(folder, capsys, command):
    (code, _, error) = run(capsys, command, "train.csv", *LABELLED, "--out", ".")
    assert (code, error.count("\n")) == (2, 1)
    assert "--out" in error


@pytest.mark.parametrize("command", COMMANDS)
def test_a_folder_without_permission(model, capsys, command, monkeypatch):
    def refused(*args, **kwargs):
        raise PermissionError(13, os.strerror(13))

    monkeypatch.setattr(tempfile, "TemporaryFile", refused)
    out = COMMANDS[command][1]
    assert_refused(
        capsys, model.parent, command, out, f"{out} cannot be written: Permission denied."
    )


@pytest.mark.parametrize("command", COMMANDS)
def test_a_file_without_permission(model, capsys, command, monkeypatch):
    out = model.parent / COMMANDS[command][1]
    out.write_text("written by others")
    monkeypatch.setattr(tables.os, "access", lambda path, mode: mode != os.W_OK)
    sentence = "cannot be written: Permission denied."
    assert_refused(capsys, model.parent, command, out.name, sentence)


@pytest.mark.parametrize("command", ["report", "export", "explore"])
def test_endings_are_checked(model, capsys, command):
    assert_refused(capsys, model.parent, command, "out.pdf", "--out must end in one of")


@pytest.mark.parametrize("command", ["fit", "predict", "certify", "audit"])
def test_what_is_read_is_not_written_over(model, capsys, command):
    before = {path.name: path.read_bytes() for path in model.parent.iterdir()}
    inputs = ["train.csv"] if command in ("fit", "audit") else ["model", "train.csv"]
    target = [] if command == "predict" else ["--target", "kind"]
    code, _, error = run(capsys, command, *inputs, *target, "--out", "./train.csv")
    assert (code, error.count("\n")) == (2, 1)
    assert "must not be a file that is read" in error
    assert {path.name: path.read_bytes() for path in model.parent.iterdir()} == before


def test_people_see_the_worst_of_many_classes_and_programs_all(folder, capsys):
    n_classes = FEW + 4
    table = pandas.DataFrame({"x": range(4 * n_classes)})
    table["kind"] = [f"k{k // 4}" for k in range(4 * n_classes)]
    table.to_csv("many.csv", index=False)
    given = ("fit", "many.csv", *LABELLED, "--out", "m.wdrsvm")
    code, shown, _ = run(capsys, *given)
    assert code == 0
    line = next(line for line in shown.splitlines() if line.startswith("wrong, by"))
    assert line.endswith("; and 4 more")
    facts = run_json(capsys, *given)
    worst = max(facts["by_class"].items(), key=lambda each: each[1]["worst_case_error"])
    assert f"  {worst[0]}: " in line
    assert len(facts["classes"]) == len(facts["by_class"]) == n_classes
