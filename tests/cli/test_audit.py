"""Audits of a table."""

import numpy as np
import pandas
import pytest

from .flowers import LABELLED, N, flowers, run_json, texts


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
    assert facts["suspicious"] < 10
    text = (folder / out).read_text()
    if ending == "csv":
        suspects = pandas.read_csv(out)
        assert len(suspects) == facts["suspicious"]
        assert suspects["width"][0] == pytest.approx(table["width"][10])
    else:
        assert '<th scope="row">10</th>' in text


def test_rows_without_a_label_are_left_out_and_keep_their_numbers(folder, capsys):
    table = flowers()
    table.loc[0, "kind"] = np.nan
    table.loc[10, "kind"] = "oak"
    table.to_csv("train.csv", index=False)
    facts = run_json(capsys, "audit", "train.csv", "--target", "kind", "--out", "s.tsv")
    assert facts["rows"] == N - 1
    assert "1 row without a label in kind is left out." in facts["notes"]
    assert pandas.read_csv("s.tsv", sep="\t")["row"][0] == 10
