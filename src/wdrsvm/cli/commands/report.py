"""``wdrsvm report``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from ...files import write_text
from ...report.model.card import card_of
from ...report.model.flags import flags_of
from ...report.model.page import page_of
from ...report.model.reported import reported_model
from ...report.model.verdict import judgement_of
from ..models.promises import budget_of, check_radius
from ..models.saved import in_use, labelled_for, loaded, within_limits
from ..output import Json, LearnedTarget, Output, Radius, check_choice
from ..tables.files import checked_output, read_table

HTML, MARKDOWN = "html", "md"
ENDINGS = {HTML: (".html", ".htm"), MARKDOWN: (".md", ".markdown")}

EXAMPLES = """Examples:

wdrsvm report penguins.wdrsvm test.csv --out penguins.html

wdrsvm report penguins.wdrsvm test.csv --out card.md --format md

wdrsvm report penguins.wdrsvm test.csv --out penguins.html --radius 0.2

wdrsvm report penguins.wdrsvm field.csv --target kind --out field.html
"""


def register(app: Any) -> None:
    """Add the command."""
    app.command("report", epilog=EXAMPLES)(report)


def report(
    model: Annotated[Path, typer.Argument(help="Model file.")],
    table: Annotated[
        Path,
        typer.Argument(help="Table with labels, best with rows new to the model."),
    ],
    out: Annotated[Path, typer.Option(help="Page to write, .html, or model card, .md.")],
    target: LearnedTarget = None,
    kind: Annotated[
        str | None,
        typer.Option(
            "--format",
            help="html is a page, md a model card; the ending of --out if not given.",
        ),
    ] = None,
    radius: Radius = None,
    as_json: Json = False,
) -> None:
    """Write a page or a model card: errors, promises, baselines, what to check.

    First a box in plain words, then figures, then details.  The page is one file that
    loads nothing from the network.
    """
    output = Output(as_json)
    check_radius("--radius", radius)
    kind = _checked_kind(kind, out)
    checked_output(out, model, table, endings=ENDINGS[kind])
    with output.working("Reporting") as tell, in_use(model):
        classifier = loaded(model)
        rows = labelled_for(classifier, read_table(table), target)
        output.notes += rows.notes
        rows = within_limits(classifier, rows)
        output.notes += rows.notes
        budget = budget_of(classifier, radius)
        reported = reported_model(classifier, rows.X, rows.y, rows.row, budget)
        title = f"{model.name} on {table.name}"
        if kind == HTML:
            page_of(reported, title, tell).write(out)
        else:
            write_text(out, card_of(reported, title, model.name))
    output.show(_facts(out, kind, reported, output), reported.promise)


def _checked_kind(given: str | None, out: Path) -> str:
    """The format that the user asks for, else that of the ending."""
    if given is not None:
        check_choice("--format", given, tuple(ENDINGS))
        return given
    endings = {ending: kind for kind, each in ENDINGS.items() for ending in each}
    if out.suffix.lower() not in endings:
        raise ValueError(f"--out must end in one of {', '.join(endings)}, got {out}.")
    return endings[out.suffix.lower()]


def _facts(out: Path, kind: str, reported: Any, output: Output) -> dict[str, Any]:
    """Where the report is, and its verdict; flags are notes, or a fact for programs."""
    flags = flags_of(reported)
    facts: dict[str, Any] = {"verdict": judgement_of(reported.promise).text}
    if output.as_json:
        facts["check before use"] = flags
    else:
        output.notes += [f"{name}: {text}" for name, text in flags.items()]
    place = "page" if kind == HTML else "card"
    return facts | {place: str(out), "rows": len(reported.y)}
