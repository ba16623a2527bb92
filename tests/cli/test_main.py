"""The command line: what it prints, what it writes, how it fails."""

import importlib
import shlex
import sqlite3
import sys
from contextlib import closing
from pathlib import Path

import pytest

pytest.importorskip("typer")
pytest.importorskip("pandas")

import typer

from wdrsvm.cli.commands import reproduce
from wdrsvm.cli.main import STORY, build, in_paragraphs, main
from wdrsvm.experiments import Experiment
from wdrsvm.experiments.running.store import FILE

from .flowers import run

ROOT = Path(__file__).parents[2]
COMMANDS = [command.name for command in typer.main.get_group(build()).commands.values()]


def squares(run=lambda task: [{"value": task["x"] ** 2}]):
    tasks = [{"x": x, "repetition": 0} for x in range(3)]
    return Experiment(
        "subgradient", "Squares", 1, lambda preset, repetitions: tasks, run, dict
    )


def page_of(results):
    return results.folder / "index.html"


@pytest.fixture
def quick(monkeypatch):
    """A stand-in for an experiment and its page."""

    def use(experiment):
        monkeypatch.setattr(reproduce, "EXPERIMENTS", {"subgradient": experiment})
        monkeypatch.setattr(
            reproduce,
            "write_experiment_page",
            lambda results: results.folder / "index.html",
        )

    return use


def test_help_lists_the_commands(capsys):
    assert main(["--help"]) == 0
    shown = capsys.readouterr().out
    for command in ("fit", "predict", "certify", "audit", "report", "demo", "reproduce"):
        assert command in shown


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help_with_examples(command, capsys):
    assert main([command, "--help"]) == 0
    shown = capsys.readouterr().out
    assert "Usage" in shown
    examples = shown.partition("Examples:")[2]
    assert f"wdrsvm {command}" in examples


def test_help_breaks_lines_only_between_paragraphs():
    text = """One  two
    three.

    Four.
    """
    assert in_paragraphs(text) == "One two three.\n\nFour."
    report = typer.main.get_group(build()).commands["report"]
    assert "one file that loads nothing" in report.help


def example_lines():
    """Every example of every command, and those of the story."""
    commands = typer.main.get_group(build()).commands.values()
    texts = [STORY, *(command.epilog for command in commands)]
    lines = (line.strip() for text in texts for line in text.splitlines())
    return [line for line in lines if line.startswith("wdrsvm ") and "  " not in line]


@pytest.mark.parametrize("line", example_lines())
def test_the_options_of_examples_exist(line):
    _, command, *arguments = shlex.split(line.partition(" > ")[0])
    known = typer.main.get_group(build()).commands[command]
    known.make_context(command, arguments, resilient_parsing=False)


def test_alone_it_tells_three_steps(capsys, monkeypatch):
    monkeypatch.setattr(sys, "argv", ["wdrsvm"])
    assert main() == 0
    shown = capsys.readouterr().out
    places = [shown.index(f"wdrsvm {step} ") for step in ("audit", "fit", "report")]
    assert places == sorted(places)
    assert main([]) == 0
    assert capsys.readouterr().out == shown
    assert len(shown.splitlines()) < 18
    assert max(map(len, shown.splitlines())) <= 88


def test_reproduce_runs_and_names_the_page(quick, tmp_path, capsys):
    quick(squares())
    assert main(["reproduce", "subgradient", "--out", str(tmp_path), "--jobs", "1"]) == 0
    shown = capsys.readouterr().out
    assert "Squares: 3 of 3" in shown
    assert str(tmp_path / "subgradient-quick" / "index.html") in shown


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["reproduce", "nothing"], "experiment must be one of simulation"),
        (
            ["reproduce", "simulation", "--preset", "slow"],
            "preset must be one of quick, full",
        ),
    ],
)
def test_bad_input_is_one_sentence_and_exit_code_2(arguments, sentence, capsys):
    assert main(arguments) == 2
    error = capsys.readouterr().err
    assert sentence in error
    assert error.count("\n") == 1


def test_an_unknown_command_is_exit_code_2(capsys):
    assert main(["fly"]) == 2


def test_missing_data_are_one_sentence(quick, tmp_path, capsys):
    def run(task):
        raise ConnectionError("seeds.csv could not be downloaded.")

    quick(squares(run))
    assert main(["reproduce", "subgradient", "--out", str(tmp_path)]) == 1
    assert capsys.readouterr().err == "wdrsvm: seeds.csv could not be downloaded.\n"


def test_an_interrupt_keeps_what_is_done(quick, tmp_path, capsys):
    def run(task):
        if task["x"] == 2:
            raise KeyboardInterrupt
        return [{"value": 1}]

    quick(squares(run))
    assert main(["reproduce", "subgradient", "--out", str(tmp_path)]) == 130
    with closing(sqlite3.connect(tmp_path / "subgradient-quick" / FILE)) as database:
        assert database.execute("SELECT count(*) FROM outcomes").fetchone() == (2,)


def test_benchmarks_are_looked_for_in_the_current_folder(monkeypatch, tmp_path, capsys):
    monkeypatch.chdir(tmp_path)
    for name in [name for name in sys.modules if name.split(".")[0] == "benchmarks"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setattr(sys, "path", [p for p in sys.path if Path(p) not in (ROOT, Path())])
    assert main(["bench"]) == 2
    assert "in a checkout" in capsys.readouterr().err


def test_without_typer_the_error_says_what_to_install(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "typer", None)
    assert main(["demo"]) == 1
    assert 'pip install "wdrsvm[cli]"' in capsys.readouterr().err


def test_python_dash_m_is_the_same():
    module = importlib.import_module("wdrsvm.__main__")
    assert module.main is main


@pytest.mark.parametrize(
    "command",
    ["fit", "predict", "certify", "audit", "relabel", "report", "explore", "export"],
)
def test_help_has_examples(command, capsys):
    code, shown, _ = run(capsys, command, "--help")
    assert code == 0
    assert f"wdrsvm {command} penguins" in shown


def test_names_that_would_steer_the_terminal(tmp_path, refused):
    path = tmp_path / "table.csv"
    path.write_text("a\x1b[2J,b\n1,2\n")
    said = refused("fit", path, "--target", "none", "--out", tmp_path / "model")
    assert "a?[2J" in said
