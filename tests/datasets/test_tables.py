"""Tables as Bunches, with the counts that are known of them."""

import os

import numpy as np
import pytest

from wdrsvm.datasets import NAMES, fetch_ai4i, fetch_seeds, load, load_penguins
from wdrsvm.datasets import tables as module
from wdrsvm.datasets._bunch import column, csv_columns, numbers

needs_files = pytest.mark.skipif(
    not os.environ.get("WDRSVM_DATA"), reason="WDRSVM_DATA names no folder with the tables"
)
COUNTS = {
    "wine": [59, 71, 48],
    "iris": [50, 50, 50],
    "seeds": [70, 70, 70],
    "penguins": [151, 68, 123],
    "ai4i": [9643, 46, 106, 94, 84],
    "ai4i_single_fault": [9661, 42, 106, 80, 78],
    "steel_plates": [402, 55, 391, 673, 158, 72, 190],
}


@pytest.mark.data
@needs_files
@pytest.mark.parametrize("name", COUNTS)
def test_counts_of_the_classes(name):
    bunch = load(name)
    assert np.bincount(bunch.target).tolist() == COUNTS[name]
    assert bunch.data.shape == (len(bunch.target), len(bunch.feature_names))
    assert len(bunch.target_names) == len(COUNTS[name])
    assert np.isfinite(bunch.data).all()


@pytest.mark.data
@needs_files
@pytest.mark.parametrize("fetch", [fetch_seeds, fetch_ai4i, load_penguins])
def test_frames_and_pairs_hold_the_same(fetch):
    pytest.importorskip("pandas")
    X, y = fetch(return_X_y=True)
    bunch = fetch(as_frame=True)
    assert bunch.frame.columns.tolist() == [*bunch.feature_names, "target"]
    np.testing.assert_array_equal(bunch.data, X)
    np.testing.assert_array_equal(bunch.target, y)


@pytest.mark.data
@needs_files
def test_the_crowd_is_wrong_as_often_as_is_known():
    music = load("music_genre")
    gold = music.target[~music.is_test]
    assert np.mean(music.crowd_random != gold) == pytest.approx(0.41, abs=0.01)
    assert np.mean(music.crowd_majority != gold) == pytest.approx(0.29, abs=0.01)


@pytest.mark.data
@needs_files
def test_news_are_sparse_and_have_no_frame():
    X, y = load("news20", return_X_y=True)
    assert X.shape == (18846, 44558)
    assert len(y) == 18846
    with pytest.raises(ValueError, match="as_frame"):
        load("news20", as_frame=True)


def test_an_unknown_name_lists_the_known_ones():
    with pytest.raises(ValueError, match=r"wine, iris.*got 'vine'"):
        load("vine")
    assert "wine" in NAMES


def test_a_missing_column_is_named():
    table = csv_columns(b"a,b\n1,2\n", "t.csv")
    assert numbers(table, ["b", "a"], "t.csv").tolist() == [[2.0, 1.0]]
    with pytest.raises(ValueError, match=r"t\.csv has no column 'c'; it has a, b"):
        column(table, "c", "t.csv")


def test_ragged_rows_are_refused():
    with pytest.raises(ValueError, match="unequal length"):
        csv_columns(b"a,b\n1,2\n3\n", "t.csv")


def test_the_raw_files_become_what_the_checksums_are_of():
    raw = b"15.26\t14.84\t0.871\t5.763\t3.312\t\t2.221\t5.22\t1\n"
    header, row = module._seeds_csv(raw).decode().splitlines()
    assert header.split(",")[-1] == "class"
    assert row == "15.26,14.84,0.871,5.763,3.312,2.221,5.22,1"
    assert module._without_mark(b"\xef\xbb\xbfa,b\r\n1,2\r\n") == b"a,b\n1,2\n"


@pytest.mark.data
@needs_files
def test_wine_quality_is_the_raw_file_with_commas():
    known = module.content(module.WINE_QUALITY).decode()
    header, _, rows = known.replace(",", ";").partition("\n")
    names = header.removesuffix("class").replace("_", " ") + "quality"
    quoted = ";".join(f'"{name}"' for name in names.split(";"))
    raw = f"{quoted}\n{rows}".replace("\n", "\r\n").encode()
    assert module._wine_quality_csv(raw).decode() == known


def test_another_copy_of_the_penguins_is_refused(monkeypatch, tmp_path):
    package = tmp_path / "palmerpenguins"
    (package / "data").mkdir(parents=True)
    (package / "__init__.py").touch()
    (package / "data" / "penguins.csv").write_text("species\nAdelie\n")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delenv("WDRSVM_DATA", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    with pytest.raises(ValueError, match=r"penguins\.csv is not the known"):
        load("penguins")


def test_a_row_with_several_faults_counts_for_the_rarest():
    flags = {
        "Machine failure": "0111011",
        "TWF": "0100000",
        "HDF": "0010010",
        "PWF": "0001000",
        "OSF": "0111010",
        "RNF": "0000100",
    }
    table = {name: np.array(list(values)) for name, values in flags.items()}
    names = ["healthy", "TWF", "HDF", "PWF", "OSF"]
    assert module._ai4i_target(table, names).tolist() == [0, 1, 4, 3, -1, 4, -1]
