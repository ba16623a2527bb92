"""The transcript of the page on the command line, made by running the commands.

Run as ``python docs/make_command_line.py`` with the Penguins table at hand.
"""

from __future__ import annotations

import contextlib
import io
import shlex
import tempfile
from pathlib import Path

from wdrsvm.cli.main import main
from wdrsvm.datasets.tables import _penguins_content

TRANSCRIPTS = Path(__file__).parent / "results"
TABLE = "penguins.csv"
COMMANDS = {
    "fit": "wdrsvm fit penguins.csv --target species --cv --out penguins.wdrsvm",
    "withstand": "wdrsvm fit penguins.csv --target species --withstand 0.1 --out p.wdrsvm",
    "predict": "wdrsvm predict penguins.wdrsvm penguins.csv --out predictions.csv",
    "certify": "wdrsvm certify penguins.wdrsvm penguins.csv",
    "audit": "wdrsvm audit penguins.csv --target species --out suspects.csv",
    "report": "wdrsvm report penguins.wdrsvm penguins.csv --out page.html",
    "explore": "wdrsvm explore penguins.csv --target species --out explore.html",
    "export": "wdrsvm export penguins.wdrsvm --out penguins.onnx",
    "json": "wdrsvm certify penguins.wdrsvm penguins.csv --json",
    "wrong": "wdrsvm fit penguins.csv --target spezies --out penguins.wdrsvm",
    "cell": "wdrsvm fit trees.csv --target kind --out trees.wdrsvm",
}
# A column of numbers with one cell that is none, and a column of dates.
TREES = "height,planted,kind\n" + "".join(
    f"{'tall' if k == 7 else 10 + k},2024-03-{10 + k},{'elm' if k % 2 else 'oak'}\n"
    for k in range(12)
)


PROGRESS = "Cross-validation: "


def transcript(command: str) -> str:
    """A command and what it prints, without the progress that slow machines show."""
    shown = io.StringIO()
    with contextlib.redirect_stdout(shown), contextlib.redirect_stderr(shown):
        main(shlex.split(command)[1:])
    lines = shown.getvalue().splitlines(keepends=True)
    told = "".join(line for line in lines if not line.startswith(PROGRESS))
    return f"$ {command}\n{told}"


def head(n_lines: int = 5) -> str:
    """The first lines of the table."""
    lines = Path(TABLE).read_text(encoding="utf-8").splitlines()[:n_lines]
    return "\n".join([f"$ head -n {n_lines} {TABLE}", *lines, ""])


def write_transcripts() -> None:
    """Run everything in an empty folder."""
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        Path(TABLE).write_bytes(_penguins_content())
        Path("trees.csv").write_text(TREES, encoding="utf-8")
        texts = {"head": head()}
        texts |= {name: transcript(command) for name, command in COMMANDS.items()}
    for name, text in texts.items():
        (TRANSCRIPTS / f"command_line_{name}.txt").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    write_transcripts()
