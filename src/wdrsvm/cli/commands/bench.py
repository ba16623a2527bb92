"""``wdrsvm bench``."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

EXAMPLES = """Examples:

wdrsvm bench --tiny

wdrsvm bench b1 b2
"""


def register(app: Any) -> None:
    """Add the command."""
    app.command("bench", epilog=EXAMPLES)(bench)


def bench(
    families: Annotated[
        list[str] | None, typer.Argument(help="Families, such as b1; all if not given.")
    ] = None,
    tiny: Annotated[
        bool, typer.Option("--tiny", help="Small sizes: seconds, not hours.")
    ] = False,
) -> None:
    """Compare the times of solvers; works only in a checkout of the project."""
    code = _benchmarks().main([*(families or []), *(["--tiny"] if tiny else [])])
    raise typer.Exit(code)


def _benchmarks() -> Any:
    """The module of the benchmarks, which is not installed with the package."""
    sys.path.insert(0, str(Path.cwd()))
    try:
        return importlib.import_module("benchmarks.__main__")
    except ModuleNotFoundError:
        raise FileNotFoundError(
            "There are no benchmarks here: run this in a checkout of the project."
        ) from None
    finally:
        sys.path.pop(0)
