"""Tables of every format: read, or refused in one sentence that leaves nothing behind."""

import io
import struct

import numpy as np
import pandas
import pytest

from wdrsvm.cli.tables.files import MOST_FEATURES, read_table, write_table

from ...fuzz.mutations import zipped
from ..flowers import flowers, run, run_json


def write_as(ending, frame):
    path = f"table.{ending}"
    if ending == "tsv":
        frame.to_csv(path, index=False, sep="\t")
    elif ending == "parquet":
        frame.to_parquet(path)
    elif ending == "npz":
        numbers = frame[["x0", "x1"]].to_numpy()
        np.savez(path, x=numbers, kind=frame["kind"].to_numpy(dtype=str))
    elif ending == "csv":
        frame.to_csv(path, index=False, sep=";", encoding="utf-8-sig")
    return path


@pytest.mark.parametrize("ending", ["tsv", "parquet", "npz", "csv"])
def test_every_format_gives_the_same_model(folder, capsys, ending):
    frame = flowers().drop(columns="colour").rename(columns={"length": "x0", "width": "x1"})
    path = write_as(ending, frame)
    facts = run_json(capsys, "fit", path, "--target", "kind", "--out", "model")
    frame.to_csv("train.csv", index=False)
    same = run_json(capsys, "fit", "train.csv", "--target", "kind", "--out", "model")
    assert facts == same


def with_(text):
    return lambda folder: (folder / "train.csv").write_bytes(text)


BAD_TABLES = {
    "longer rows": (with_(b"a,kind\n1,x\n1,2,x\n"), "no readable .csv table"),
    "all rows longer": (with_(b"a,kind\n1,x,2\n1,x,2\n"), "no readable .csv table"),
    "open quote": (with_(b'a,kind\n"1,x\n'), "no readable .csv table"),
    "binary": (with_(bytes(range(256)) * 9), "it is a binary file"),
    "not utf-8": (with_(b"a,kind\n\xff\xfe,x\n"), "no readable .csv table"),
    "empty": (with_(b""), "train.csv is empty"),
    "blank": (with_(b"\n\n"), "no readable .csv table"),
    "header alone": (with_(b"a,kind\n"), "no rows"),
    "no target": (with_(b"a,b\n1,2\n"), "has no column 'kind'; it has a, b."),
    "one row of a class": (
        with_(b"a,kind\n1,x\n2,x\n3,y\n"),
        "2 rows of every class at least, but has 1 of y",
    ),
    "one class": (with_(b"a,kind\n1,x\n2,x\n"), "two classes at least, got ['x']"),
    "no labels": (with_(b"a,kind\n1,\n2,\n"), "no row with a label in kind"),
    "no features": (with_(b"kind\nx\nx\ny\ny\n"), "no column with values"),
    "numbers as labels": (with_(b"a,kind\n1,0.5\n2,0.7\n"), "must hold classes"),
    "infinity": (with_(b"a,kind\n1,x\ninf,x\n3,y\n4,y\n"), "a must hold finite numbers"),
    "names": (
        lambda folder: pandas.DataFrame(
            {"id": [f"n{i}" for i in range(300)], "kind": ["x", "y", "z"] * 100}
        ).to_csv("train.csv", index=False),
        "id has 300 different texts, which is more than the 100 that categories may have; "
        "leave it out by --drop id.",
    ),
    "missing": (lambda folder: (folder / "train.csv").unlink(), "There is no table"),
}


@pytest.mark.parametrize("name", BAD_TABLES)
@pytest.mark.parametrize("command", ["fit", "audit"])
def test_a_bad_table_is_one_sentence_and_leaves_nothing(folder, capsys, name, command):
    spoil, sentence = BAD_TABLES[name]
    spoil(folder)
    before = sorted(folder.iterdir())
    out = {"fit": "model", "audit": "suspects.csv"}[command]
    code, shown, error = run(capsys, command, "train.csv", "--target", "kind", "--out", out)
    assert (code, shown) == (2, "")
    assert sentence in error
    assert error.count("\n") == 1
    assert sorted(folder.iterdir()) == before


def test_a_reader_that_gives_no_reason(tmp_path, monkeypatch):
    path = tmp_path / "table.csv"
    path.write_text("a,b\n1,2\n")

    def read_csv(*given, **options):
        raise EOFError

    monkeypatch.setattr(pandas, "read_csv", read_csv)
    with pytest.raises(ValueError, match=r"no readable \.csv table: EOFError"):
        read_table(path)


def test_a_member_that_is_no_array(tmp_path):
    path = tmp_path / "table.npz"
    path.write_bytes(zipped({"a.npy": b"no array", "kind.npy": b""}))
    with pytest.raises(ValueError, match="a is no array"):
        read_table(path)


@pytest.mark.parametrize("code", [0x110000, 0xD800])
def test_texts_that_are_not_unicode(tmp_path, code):
    path = tmp_path / "table.npz"
    texts = np.array([code] * 4, dtype=np.uint32).view("U2")
    np.savez(path, kind=texts)
    with pytest.raises(ValueError, match="texts that are not Unicode"):
        read_table(path)


@pytest.mark.parametrize("index", [MOST_FEATURES + 1, 2**31, 2**64])
def test_an_index_that_no_memory_holds(tmp_path, index, refused):
    path = tmp_path / "table.svmlight"
    path.write_text(f"0 1:1\n1 1:2 {index}:1\n" * 3)
    refused("fit", path, "--target", "y", "--out", tmp_path / "model")
    assert not (tmp_path / "model").exists()


def test_an_array_that_swells(tmp_path):
    file = io.BytesIO()
    np.savez_compressed(file, kind=np.arange(3))
    # The sizes before compression, where the archive lists them, become 4 GiB.
    content = file.getvalue()
    place = content.index(b"PK\x01\x02") + 24
    path = tmp_path / "table.npz"
    path.write_bytes(content[:place] + struct.pack("<I", 2**32 - 2) + content[place + 4 :])
    with pytest.raises(ValueError, match="4 GiB are more than 100 times"):
        read_table(path)


def test_a_parquet_table_that_swells(tmp_path, monkeypatch):
    path = tmp_path / "table.parquet"
    pandas.DataFrame({"a": np.zeros(100_000)}).to_parquet(path)
    read_table(path)
    monkeypatch.setattr("wdrsvm.files.MUCH_MEMORY", 1000)
    with pytest.raises(ValueError, match="more than 100 times"):
        read_table(path)


def test_a_table_that_parquet_cannot_hold(tmp_path):
    frame = pandas.DataFrame({"a": np.arange(3) * 1j})
    with pytest.raises(ValueError, match="cannot hold this table"):
        write_table(frame, tmp_path / "table.parquet")
    assert list(tmp_path.iterdir()) == []


def test_an_archive_may_have_test_rows_and_names_beside_its_rows(folder, capsys):
    table = flowers()
    X, y = table[["length", "width"]].to_numpy(), table["kind"].to_numpy(str)
    np.savez("train.npz", X=X, y=y, X_test=X[:7], y_test=y[:7], names=np.unique(y))
    told = run_json(capsys, "fit", "train.npz", "--target", "y", "--out", "model")
    left_out = "Arrays that do not have one entry per row of X left out: X_test, y_test"
    assert told["rows"] == len(table)
    assert any(left_out in note for note in told["notes"])
    assert left_out in run(capsys, "predict", "model", "train.npz")[2]
    code, _, error = run(
        capsys, "audit", "train.npz", "--target", "names", "--out", "s.csv"
    )
    assert (code, "names must have one entry per row of X, which has 60" in error) == (2, 1)
    np.savez("train.npz", features=X, y=y[1:])
    code, _, error = run(capsys, "fit", "train.npz", "--target", "y", "--out", "model")
    assert (code, error.count("\n")) == (2, 1)
    assert "arrays have different lengths (features 60, y 59) and none is X" in error
