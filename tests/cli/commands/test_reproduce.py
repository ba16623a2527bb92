"""Missing data before the first task, a page after an interruption, notes once."""

import urllib.request
import warnings
from urllib.error import URLError

import pytest

pytest.importorskip("typer")
pytest.importorskip("pandas")
pytest.importorskip("matplotlib")

from wdrsvm.cli.commands import reproduce
from wdrsvm.cli.main import main
from wdrsvm.cli.progress import time_left
from wdrsvm.experiments import EXPERIMENTS, Experiment, real_data, simulation


@pytest.fixture
def offline(monkeypatch, tmp_path):
    """No data folder, no cache, no network, no package with data."""

    def refused(*args, **kwargs):
        raise URLError("no network")

    monkeypatch.delenv("WDRSVM_DATA", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(urllib.request, "urlopen", refused)
    monkeypatch.setattr("importlib.util.find_spec", lambda name, package=None: None)
    return tmp_path


@pytest.mark.parametrize("name", ["real-data", "all"])
def test_missing_data_are_named_before_the_first_task(offline, capsys, monkeypatch, name):
    def run(task):
        raise AssertionError("a task was begun")

    for module in (real_data, simulation):
        monkeypatch.setattr(module, "run", run)
    out = offline / "out"
    assert main(["reproduce", name, "--out", str(out)]) == 2
    shown = capsys.readouterr()
    assert shown.err.count("\n") == 1
    assert "needs penguins.csv, seeds.csv, ai4i2020.csv" in shown.err
    assert "WDRSVM_DATA" in shown.err
    assert 'pip install "wdrsvm[data]"' in shown.err
    assert "0 of" not in shown.out
    assert not out.exists()


def test_what_is_done_needs_no_data(tmp_path):
    """Only tasks that wait are asked for their tables."""
    task = {"table": "penguins", "repetition": 0}
    experiment = Experiment(
        "done", "Done", 1, lambda preset, n: [task], lambda task: [{"v": 1}], dict
    )
    asked = reproduce.Asked("quick", tmp_path, 1, None)
    assert asked.waiting(experiment) == [task]
    asked.run(experiment, reproduce.Bar("Done", reproduce.Console(quiet=True)))
    assert asked.waiting(experiment) == []


@pytest.mark.parametrize("n_done", [1, 40])
def test_an_interruption_leaves_a_page(tmp_path, monkeypatch, capsys, n_done):
    """With a whole repetition its means are shown, without one the last records."""
    original, done = EXPERIMENTS["subgradient"], []
    per_repetition = len(original.tasks("quick", 1))

    def run(task):
        if len(done) == min(n_done, per_repetition + 1):
            raise KeyboardInterrupt
        done.append(task)
        values = dict.fromkeys(RECORD, 0.5)
        return [values | {"peer_reached": True}]

    stopped = Experiment(
        *("subgradient", original.title, 1, original.tasks, run, original.summarise)
    )
    monkeypatch.setattr(reproduce, "EXPERIMENTS", {"subgradient": stopped})
    assert main(["reproduce", "subgradient", "--out", str(tmp_path)]) == 130
    shown = capsys.readouterr()
    page = tmp_path / "subgradient-quick" / "index.html"
    total = 2 * per_repetition
    assert f"{len(done)} of {total} tasks: {page}" in shown.out
    html = page.read_text()
    assert f"{len(done)} of {total} tasks are done" in html
    is_whole = len(done) >= per_repetition
    assert ("repetitions that are whole" in html) is is_whole
    assert ("The last records" in html) is not is_whole


RECORD = (
    *("seconds", "peer_seconds", "peer_seconds_at_once", "step0", "above", "peer_above"),
    *("accuracy", "peer_accuracy", "exact_accuracy"),
)


def test_a_warning_is_a_note_and_said_once(tmp_path, monkeypatch, capsys):
    def tasks(preset, repetitions):
        warnings.warn("music is left out.", stacklevel=2)
        return [{"x": 0, "repetition": 0}]

    experiment = Experiment(
        "subgradient", "Squares", 1, tasks, lambda task: [{"value": 1}], dict
    )
    monkeypatch.setattr(reproduce, "EXPERIMENTS", {"subgradient": experiment})
    monkeypatch.setattr(reproduce, "write_experiment_page", lambda results: results.folder)
    assert main(["reproduce", "subgradient", "--out", str(tmp_path)]) == 0
    assert capsys.readouterr().out.count("Note: music is left out.") == 1


def test_a_guess_is_called_one():
    assert time_left(90, is_guess=True) == "perhaps 2 minutes left"
    assert time_left(30) == "30 seconds left"
