"""``wdrsvm certify``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from ..models.promises import about_comparison, check_radius, promised
from ..models.saved import in_use, labelled_for, loaded, within_limits
from ..output import Json, LearnedTarget, Output, Radius, Share
from ..tables.files import TABLE_ENDINGS, checked_output, pandas, read_table, write_table

RADII = (0.1, 0.25, 0.5, 1.0)

EXAMPLES = """Examples:

wdrsvm certify penguins.wdrsvm test.csv

wdrsvm certify penguins.wdrsvm test.csv --radius 0.2

wdrsvm certify penguins.wdrsvm test.csv --out radii.csv
"""


def register(app: Any) -> None:
    """Add the command."""
    app.command("certify", epilog=EXAMPLES)(certify)


def certify(
    model: Annotated[Path, typer.Argument(help="Model file.")],
    table: Annotated[Path, typer.Argument(help="Table with labels.")],
    target: LearnedTarget = None,
    out: Annotated[
        Path | None, typer.Option(help="Table of every row's certified radius to write.")
    ] = None,
    radius: Radius = None,
    as_json: Json = False,
) -> None:
    """Print what a model promises on a table.

    How many rows are classified wrongly, and how many at most if they move; then the
    worst-case risk in the model's own ball around the rows, and how many rows stay right
    however they change by a distance.  Numbers move in standard deviations, and a category
    switches at its cost.
    """
    output = Output(as_json)
    check_radius("--radius", radius)
    if out is not None:
        checked_output(out, model, table, endings=TABLE_ENDINGS)
    with output.working("Certifying"), in_use(model):
        classifier = loaded(model)
        rows = labelled_for(classifier, read_table(table), target)
        output.notes += rows.notes
        rows = within_limits(classifier, rows)
        output.notes += rows.notes
        features, last = classifier[:-1].transform(rows.X), classifier[-1]
        promise = promised(classifier, features, rows.y, radius)
        output.notes += about_comparison(classifier)
        predicted, reach = last.predict(features), last.certified_radius(features)
        risk = last.worst_case_risk(features, rows.y)
    facts: dict[str, Any] = {
        "rows": len(rows.y),
        "accuracy": Share(np.mean(predicted == rows.y)),
        "worst-case risk": float(risk),
        **certified_accuracy(predicted == rows.y, reach),
        "median certified radius": float(np.median(reach)),
    }
    if out is not None:
        columns = {"row": rows.row, "label": rows.y, "prediction": predicted}
        frame = pandas().DataFrame(columns | {"certified_radius": reach})
        facts["radii"] = str(write_table(frame, out))
    output.show(facts, promise)


def certified_accuracy(is_right: Any, radius: Any) -> dict[str, Share]:
    """Share of the rows that stay correct under all moves up to a distance."""
    return {
        f"certified accuracy at {distance:g}": Share(
            np.mean(is_right & (radius > distance))
        )
        for distance in RADII
    }
