"""A folder with a table, and a model learned from it."""

import pytest

pytest.importorskip("typer")
pytest.importorskip("pandas")
pytest.importorskip("skops")

from wdrsvm.cli.main import main

from .flowers import flowers


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    flowers().to_csv("train.csv", index=False)
    return tmp_path


@pytest.fixture(scope="module")
def fitted(tmp_path_factory):
    """A model file as bytes; fitted once."""
    folder = tmp_path_factory.mktemp("fitted")
    flowers().to_csv(folder / "train.csv", index=False)
    table, out = str(folder / "train.csv"), folder / "model"
    assert main(["fit", table, "--target", "kind", "--out", str(out)]) == 0
    return out.read_bytes()


@pytest.fixture
def model(folder, fitted):
    path = folder / "model"
    path.write_bytes(fitted)
    return path


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
