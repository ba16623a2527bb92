"""``wdrsvm demo``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from ... import demo as comparison

EXAMPLES = """Examples:

wdrsvm demo

wdrsvm demo --out comparison.html
"""


def register(app: Any) -> None:
    """Add the command."""
    app.command("demo", epilog=EXAMPLES)(demo)


def demo(
    out: Annotated[Path, typer.Option(help="Page to write.")] = comparison.PAGE,
) -> None:
    """Show on Wine how wrong labels are found, and what the classifier withstands."""
    comparison.main(out)
