"""What fuzzing found, one test each."""

import io
import json
import sqlite3
import struct
import zipfile
from contextlib import closing

import numpy as np
import pytest

pytest.importorskip("pyarrow")
pytest.importorskip("skops")
pytest.importorskip("typer")

import pandas
from sklearn.preprocessing import MaxAbsScaler

from wdrsvm import model_files
from wdrsvm.cli.main import main
from wdrsvm.cli.tables import MOST_FEATURES, read_table, write_table
from wdrsvm.datasets import _sources, tables
from wdrsvm.experiments import collect, run_experiment
from wdrsvm.experiments.store import FILE

from .cases import SQUARES
from .mutations import TARGET, flowers, members, zipped


@pytest.fixture
def refused(capsys):
    """Run a command that must end with one sentence; returns it."""

    def run(*arguments):
        assert main([*map(str, arguments)]) == 2
        shown = capsys.readouterr()
        assert shown.err.startswith("wdrsvm: ")
        assert shown.err.endswith(".\n")
        line = shown.err[:-1]
        assert line.isprintable()
        return line

    return run


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "table.csv"
    flowers(np.random.default_rng(0)).to_csv(path, index=False)
    return path


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


def test_numbers_whose_squares_are_none(tmp_path, refused):
    path = tmp_path / "table.csv"
    frame = flowers(np.random.default_rng(0))
    frame.loc[0, "width"] = 1e200
    frame.to_csv(path, index=False)
    said = refused("fit", path, "--target", TARGET, "--out", tmp_path / "model")
    assert "width must hold finite numbers up to 1e+150, got 1e+200" in said


@pytest.mark.parametrize("label", ["1e30", "-1e300", "inf", "0.5"])
@pytest.mark.parametrize("ending", ["csv", "svmlight"])
def test_labels_that_are_no_classes(tmp_path, refused, label, ending):
    path = tmp_path / f"table.{ending}"
    line = "{},1.5,2\n" if ending == "csv" else "{} 1:1.5 2:2\n"
    lines = [line.format(each) for each in ["0", "1", label] * 3]
    path.write_text(("y,a,b\n" if ending == "csv" else "") + "".join(lines))
    refused("fit", path, "--target", "y", "--out", tmp_path / "model")


def test_complex_numbers(tmp_path, refused):
    path, model = tmp_path / "table.npz", tmp_path / "model"
    np.savez(path, a=np.arange(6) * 1j, b=np.arange(6.0), y=np.arange(6) % 2)
    said = refused("fit", path, "--target", "y", "--out", model)
    assert "a must hold real numbers" in said


def test_a_table_that_parquet_cannot_hold(tmp_path):
    frame = pandas.DataFrame({"a": np.arange(3) * 1j})
    with pytest.raises(ValueError, match="cannot hold this table"):
        write_table(frame, tmp_path / "table.parquet")
    assert list(tmp_path.iterdir()) == []


def test_names_that_would_steer_the_terminal(tmp_path, refused):
    path = tmp_path / "table.csv"
    path.write_text("a\x1b[2J,b\n1,2\n")
    said = refused("fit", path, "--target", "none", "--out", tmp_path / "model")
    assert "a?[2J" in said


def test_a_forged_model_of_the_wrong_shape(tmp_path, table, refused):
    rows = tmp_path / "rows.svmlight"
    rows.write_text("0 1:1 2:2\n1 1:2\n" * 3)
    model = tmp_path / "model"
    assert main(["fit", str(rows), "--target", "y", "--out", str(model)]) == 0
    parts = members(model.read_bytes())
    schema = json.loads(parts[model_files.SCHEMA])
    scale = io.BytesIO()
    np.save(scale, np.ones(7))
    name = next(
        each["file"]
        for part in _nodes(schema)
        if part.get("__class__") == MaxAbsScaler.__name__
        for key, each in part["content"]["content"].items()
        if key == "scale_"
    )
    del parts[model_files.ABOUT]
    model.write_bytes(model_files._with_about(zipped(parts | {name: scale.getvalue()})))
    assert "perhaps it is damaged: AssertionError" in refused("predict", model, rows)


def _nodes(part):
    if isinstance(part, dict):
        yield part
        part = list(part.values())
    if isinstance(part, list):
        for each in part:
            yield from _nodes(each)


@pytest.mark.parametrize(
    "change",
    [
        "outcome = replace(outcome, '4', '5')",
        "outcome = 'null'",
        "outcome = NULL",
        "outcome = 5",
        "outcome = CAST(x'ff' AS TEXT)",
        "sum = NULL",
        "key = 'x'",
    ],
)
def test_a_stored_result_that_was_changed(tmp_path, change):
    run_experiment(SQUARES, out=tmp_path)
    path = tmp_path / "squares-quick" / FILE
    with closing(sqlite3.connect(path)) as database, database:
        assert database.execute(f"UPDATE outcomes SET {change} WHERE rowid = 3").rowcount
    assert collect(SQUARES, out=tmp_path).frame["square"].tolist() == [0, 1, 9]


def test_a_download_with_a_damaged_member(tmp_path, monkeypatch):
    archive = zipped({tables.SEEDS.member: b"1 2 3\n" * 500}, zipfile.ZIP_DEFLATED)
    middle = archive.index(tables.SEEDS.member.encode()) + len(tables.SEEDS.member)
    archive = archive[: middle + 2] + b"\xff\xff\xff" + archive[middle + 5 :]
    monkeypatch.setenv(_sources.CACHE_VARIABLE, str(tmp_path))
    monkeypatch.delenv(_sources.DATA_VARIABLE, raising=False)
    monkeypatch.setattr("urllib.request.urlopen", lambda *_, **__: io.BytesIO(archive))
    with pytest.raises(ValueError, match="not an archive"):
        tables.load("seeds")
    assert list(tmp_path.iterdir()) == []


def test_a_kernel_model_of_sparse_rows_is_saved(tmp_path):
    rows, model = tmp_path / "rows.svmlight", tmp_path / "model"
    rows.write_text("0 1:1 2:2\n1 1:2\n" * 3)
    fit = ["fit", rows, "--target", "y", "--kernel", "rbf", "--out", model]
    assert main([*map(str, fit)]) == 0
    assert main(["predict", str(model), str(rows)]) == 0
