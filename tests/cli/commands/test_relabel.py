"""Reviewed labels go back into the table, with their trust, or nothing is written."""

import numpy as np
import pandas
import pytest

from ..flowers import N, european, flowers, run, run_json, texts

RELABEL = ("relabel", "train.csv", "r.csv", "--target", "kind")


def review(*lines, path="r.csv"):
    frame = pandas.DataFrame(lines, columns=["row", "given", "reviewed"])
    frame.to_csv(path, index=False)


def relabelled(capsys, *more, out="new.csv"):
    return run_json(capsys, *RELABEL, "--out", out, *more)


def test_labels_are_corrected_and_confirmed(folder, capsys):
    before = (folder / "train.csv").read_bytes()
    review((3, "ash", "oak"), (30, "elm", "elm"), (31, "elm", ""))
    facts = relabelled(capsys)
    assert (facts["looked at"], facts["confirmed"], facts["corrected"]) == (2, 1, 1)
    table = pandas.read_csv("new.csv")
    expected = flowers()["kind"]
    expected[3] = "oak"
    assert table["kind"].tolist() == expected.tolist()
    assert np.flatnonzero(np.isinf(table["label_trust"])).tolist() == [3, 30]
    assert set(table["label_trust"]) == {1.0, np.inf}
    assert (folder / "train.csv").read_bytes() == before


def test_other_cells_stay_to_the_letter(folder, capsys):
    texts().to_csv("train.csv", index=False)
    review((3, "ash", "ash"))
    relabelled(capsys)
    old, new = ((folder / f"{n}.csv").read_text().splitlines() for n in ("train", "new"))
    assert [line.rpartition(",")[0] for line in new] == old


def test_decimal_commas_keep_their_semicolons(folder, capsys):
    (folder / "train.csv").write_text(european(texts()))
    review((3, "ash", "elm"))
    relabelled(capsys)
    first, fourth = ((folder / "new.csv").read_text().splitlines()[k] for k in (0, 4))
    assert first.split(";")[-1] == "label_trust"
    assert fourth.split(";")[3] == "elm"
    assert "," in fourth.split(";")[0]


def test_earlier_trust_is_kept(folder, capsys):
    table = flowers().assign(sure=0.5)
    table.loc[7, "sure"] = np.inf
    table.to_csv("train.csv", index=False)
    review((3, "ash", "ash"))
    relabelled(capsys, "--trust-column", "sure")
    trust = pandas.read_csv("new.csv")["sure"]
    assert np.flatnonzero(np.isinf(trust)).tolist() == [3, 7]
    assert trust[0] == 0.5


def test_numbers_stay_numbers_in_a_parquet_file(folder, capsys):
    table = flowers().assign(kind=np.repeat([1, 2, 3], N // 3))
    table.to_parquet("train.parquet")
    review((3, "1", "2"))
    given = ("relabel", "train.parquet", "r.csv", "--target", "kind", "--out")
    run_json(capsys, *given, "new.parquet")
    column = pandas.read_parquet("new.parquet")["kind"]
    assert column.dtype == table["kind"].dtype
    assert column[3] == 2
    review((3, "1", "two"))
    code, _, error = run(capsys, *given, "other.parquet")
    assert code == 2
    assert "kind holds numbers, but reviewed has 'two'" in error
    assert not (folder / "other.parquet").exists()


def test_a_label_that_is_new_is_mentioned(folder, capsys):
    review((3, "ash", "oakk"))
    notes = relabelled(capsys)["notes"]
    assert "Labels that no row had before: oakk." in notes
    assert "wdrsvm fit new.csv --target kind --cv --trust-column label_trust" in notes[-1]


def test_audit_relabel_and_fit_work_together(folder, capsys):
    table = flowers()
    table.loc[10, "kind"] = "oak"
    table.to_csv("train.csv", index=False)
    run_json(capsys, "audit", "train.csv", "--target", "kind", "--out", "r.csv")
    listed = pandas.read_csv("r.csv", dtype=str)
    listed["reviewed"] = flowers()["kind"].to_numpy()[listed["row"].astype(int)]
    listed.to_csv("r.csv", index=False)
    assert relabelled(capsys)["corrected"] >= 1
    learn = ("fit", "new.csv", "--target", "kind", "--trust-column", "label_trust")
    facts = run_json(capsys, *learn, "--out", "model")
    assert facts["training accuracy"] > 0.9
    assert facts["features"] == 5
    again = run_json(
        capsys,
        *("audit", "new.csv", "--target", "kind", "--trust-column", "label_trust"),
        *("--out", "more.csv"),
    )
    assert "10 (oak" not in str(again["most suspicious"])


@pytest.mark.parametrize(
    ("lines", "more", "message"),
    [
        ([(N, "ash", "oak")], (), "row must be from 0 to 59, the rows of the table, got"),
        ([("x", "ash", "oak")], (), "row must be from 0 to 59, the rows of the table, got"),
        (
            [(3, "ash", "oak"), (3, "ash", "elm")],
            (),
            "each row once, got 3 twice",
        ),
        ([(3, "elm", "oak")], (), "row 3 of train.csv has the label 'ash', not 'elm'"),
        ([(3, "ash", "")], (), "r.csv has no row with a label in reviewed"),
        ([(3, "ash", "oak")], ("--trust-column", "kind"), "--trust-column must be a name"),
        ([(3, "ash", "oak")], ("--target", "kid"), "train.csv has no column 'kid'"),
    ],
)
def test_bad_reviews_are_refused(folder, refused, lines, more, message):
    review(*lines)
    assert message in refused(*RELABEL, "--out", "new.csv", *more)
    assert not (folder / "new.csv").exists()


def test_bad_files_are_refused(folder, refused):
    pandas.DataFrame({"row": [3], "given": ["ash"]}).to_csv("r.csv", index=False)
    sentence = refused(*RELABEL, "--out", "new.csv")
    assert "must have the columns row, given and reviewed, but has no reviewed" in sentence
    review((3, "ash", "oak"))
    assert "--out must not be a file that is read" in refused(
        *RELABEL, "--out", "train.csv"
    )
    assert "--out must end in one of" in refused(*RELABEL, "--out", "new.txt")
    (folder / "t.svm").write_text("1 1:2\n0 1:3\n")
    given = ("relabel", "t.svm", "r.csv", "--target", "y", "--out", "new.csv")
    assert "must have named columns, got sparse rows" in refused(*given)
