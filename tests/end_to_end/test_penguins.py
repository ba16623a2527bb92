"""The commands of the documentation, one after the other, on the table itself."""

import importlib.util
from pathlib import Path

import pytest

pytest.importorskip("typer")
pytest.importorskip("pandas")
pytest.importorskip("skops")
pytest.importorskip("matplotlib")
pytest.importorskip("skl2onnx")

DOCS = Path(__file__).parents[2] / "docs"


@pytest.fixture
def scripts():
    spec = importlib.util.spec_from_file_location("made", DOCS / "make_command_line.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def words(text):
    """What does not depend on the last digits of a machine."""
    return [word for word in text.split() if not any(c.isdigit() for c in word)]


@pytest.mark.data
def test_the_transcripts_are_what_the_commands_print(scripts, tmp_path, monkeypatch):
    monkeypatch.setattr(scripts, "TRANSCRIPTS", tmp_path)
    try:
        scripts.write_transcripts()
    except FileNotFoundError as error:
        pytest.skip(str(error))
    made = sorted(tmp_path.iterdir())
    assert len(made) == len(scripts.COMMANDS) + 1
    for path in made:
        shown = (DOCS / "results" / path.name).read_text(encoding="utf-8")
        assert words(path.read_text(encoding="utf-8")) == words(shown), path.name
