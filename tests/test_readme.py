"""The README's example runs, and shows what the text around it says."""

import re
from pathlib import Path

README = Path(__file__).parents[1] / "README.md"


def test_the_example_prints_what_is_shown(capsys):
    text = README.read_text()
    (example, shown) = re.search(
        r"```python\n(.*?)```\n\n```\n(.*?)```", text, re.DOTALL
    ).groups()
    exec(compile(example, str(README), "exec"), {})
    assert capsys.readouterr().out == shown


def test_the_commands_exist():
    makefile = (README.parent / "Makefile").read_text()
    for target in re.findall(r"make (\w+)", README.read_text()):
        assert re.search(rf"^{target}:", makefile, re.MULTILINE), target


def test_the_pages_and_pictures_exist():
    for path in re.findall(r"\b(?:docs|examples)/[\w/]*(?:\.\w+)?", README.read_text()):
        assert (README.parent / path).exists(), path
