"""Audits of a table."""

import re

import numpy as np
import pandas
import pytest

from wdrsvm.cli.main import main

from ..flowers import LABELLED, N, flowers, run_json, texts


def test_the_audit_shows_columns_that_are_left_out(folder, capsys):
    table = texts().assign(sample=[f"s{k}" for k in range(N)])
    table.loc[10, "kind"] = "oak"
    table.to_csv("train.csv", index=False)
    given = ("audit", "train.csv", *LABELLED, "--drop", "sample", "--out", "s.csv")
    run_json(capsys, *given)
    assert pandas.read_csv("s.csv")["sample"][0] == "s10"


@pytest.mark.parametrize("ending", ["csv", "html"])
def test_the_audit_finds_a_wrong_label(folder, capsys, ending):
    table = flowers()
    table.loc[10, "kind"] = "oak"
    table.to_csv("train.csv", index=False)
    out = f"suspects.{ending}"
    facts = run_json(capsys, "audit", "train.csv", "--target", "kind", "--out", out)
    assert facts["most suspicious"][0] == "10 (oak, perhaps ash)"
    assert 1 <= facts["to check"] < 10
    assert facts["at least"] < facts["share that is wrong"] < facts["at most"] < 0.2
    text = (folder / out).read_text()
    if ending == "csv":
        suspects = pandas.read_csv(out)
        assert len(suspects) == facts["to check"]
        assert suspects["reviewed"].isna().all()
        assert suspects["width"][0] == pytest.approx(table["width"][10])
    else:
        assert "<legend>Row 10: oak, or ash?</legend>" in text
        assert text.count("<fieldset ") == facts["to check"]


@pytest.mark.parametrize(
    ("out", "reviewed"), [("s.csv", "s.csv"), ("s.html", "reviewed.csv")]
)
def test_people_read_per_cent_and_the_next_command(folder, capsys, out, reviewed):
    table = flowers().rename(columns={"kind": "the kind"})
    table.loc[10, "the kind"] = "oak"
    table.to_csv("train.csv", index=False)
    assert main(["audit", "train.csv", "--target", "the kind", "--out", out]) == 0
    told = capsys.readouterr().out
    assert re.search(r"^share that is wrong +\d+\.\d %$", told, re.M)
    assert f"wdrsvm relabel train.csv {reviewed} --target 'the kind' --out" in told


def test_rows_without_a_label_are_left_out_and_keep_their_numbers(folder, capsys):
    table = flowers()
    table.loc[0, "kind"] = np.nan
    table.loc[10, "kind"] = "oak"
    table.to_csv("train.csv", index=False)
    facts = run_json(capsys, "audit", "train.csv", "--target", "kind", "--out", "s.tsv")
    assert facts["rows"] == N - 1
    assert "1 row without a label in kind is left out." in facts["notes"]
    assert pandas.read_csv("s.tsv", sep="\t")["row"][0] == 10


def test_all_labels_can_be_listed_and_verified_ones_come_last(folder, capsys):
    table = flowers()
    table.loc[10, "kind"] = "oak"
    table["sure"] = ""
    table.loc[10, "sure"] = "inf"
    table.to_csv("train.csv", index=False)
    given = ("audit", "train.csv", *LABELLED, "--trust-column", "sure", "--all")
    run_json(capsys, *given, "--out", "s.csv")
    listed = pandas.read_csv("s.csv")
    assert len(listed) == N
    assert listed["row"].iloc[-1] == 10
    assert listed["wrong_probability"].iloc[-1] == 0


def test_labels_stand_as_the_table_writes_them(folder, capsys):
    table = flowers().replace({"kind": {"ash": "01", "elm": "02", "oak": "3"}})
    table.loc[10, "kind"] = "3"
    table.to_csv("train.csv", index=False)
    given = ("audit", "train.csv", *LABELLED, "--labels", "numbers", "--all")
    run_json(capsys, *given, "--out", "s.csv")
    listed = pandas.read_csv("s.csv", dtype=str).set_index("row")
    assert listed["given"]["11"] == "01"
    assert listed["suggested"]["10"] == "1"


def test_the_page_has_medians_of_numbers_with_decimal_commas(folder, capsys):
    table = flowers()
    table.loc[10, "kind"] = "oak"
    table.to_csv("train.csv", index=False, sep=";", decimal=",", na_rep="?")
    run_json(capsys, "audit", "train.csv", "--target", "kind", "--out", "s.html")
    median = table["length"][table["kind"] == "oak"].median()
    assert f"<td>{median:.4g}</td>" in (folder / "s.html").read_text()


def test_a_rare_class_that_is_suspected_as_a_whole_is_named(folder, capsys):
    table = flowers()
    table.loc[[2, 22, 42], "kind"] = "yew"
    table.to_csv("train.csv", index=False)
    facts = run_json(capsys, "audit", "train.csv", "--target", "kind", "--out", "s.csv")
    assert any("look wrong: yew (3 of 3)" in note for note in facts["notes"])


def test_the_report_suspects_the_same_labels(folder, capsys):
    table = flowers()
    table.loc[[10, 33], "kind"] = "oak"
    table.to_csv("train.csv", index=False)
    facts = run_json(capsys, "audit", "train.csv", *LABELLED, "--out", "s.csv")
    run_json(capsys, "fit", "train.csv", *LABELLED, "--out", "m.wdrsvm")
    told = run_json(
        capsys, "report", "m.wdrsvm", "train.csv", *LABELLED, "--out", "page.html"
    )
    looks = f"{facts['to check']} of {N} labels look"
    assert looks in told["check before use"]["Labels that look wrong"]


def test_the_next_command_writes_another_table(folder, capsys):
    table = flowers()
    table.loc[10, "kind"] = "oak"
    table.to_csv("checked.csv", index=False)
    assert main(["audit", "checked.csv", "--target", "kind", "--out", "s.html"]) == 0
    assert "--out checked2.csv." in capsys.readouterr().out
