"""``wdrsvm report``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from ..report import model_page
from .models import in_use, labelled_for, loaded, within_limits
from .output import Json, Output, Radius, Target
from .promises import about_comparison, budget_of, check_radius, promised
from .tables import checked_output, read_table

EXAMPLES = """Examples:

wdrsvm report penguins.wdrsvm test.csv --target species --out penguins.html
"""


def register(app: Any) -> None:
    """Add the command."""
    app.command("report", epilog=EXAMPLES)(report)


def report(
    model: Annotated[Path, typer.Argument(help="Model file.")],
    table: Annotated[Path, typer.Argument(help="Table with labels.")],
    target: Target,
    out: Annotated[Path, typer.Option(help="Page to write, .html.")],
    radius: Radius = None,
    as_json: Json = False,
) -> None:
    """Write a page about a model: its accuracy, its promises, and labels to check.

    The page is one file that loads nothing from the network.
    """
    output = Output(as_json)
    check_radius("--radius", radius)
    checked_output(out, model, table, endings=(".html", ".htm"))
    with output.working("Reporting"), in_use(model):
        classifier = loaded(model)
        rows = labelled_for(classifier, read_table(table), target)
        output.notes += rows.notes
        rows = within_limits(classifier, rows)
        output.notes += rows.notes
        title = f"{model.name} on {table.name}"
        output.notes += about_comparison(classifier)
        budget = budget_of(classifier, radius)
        page = model_page(
            classifier, rows.X, rows.y, title=title, row=rows.row, radius=budget
        )
        page.write(out)
        features = classifier[:-1].transform(rows.X)
        promise = promised(classifier, features, rows.y, radius)
    output.show({"page": str(out), "rows": len(rows.y)}, promise)
