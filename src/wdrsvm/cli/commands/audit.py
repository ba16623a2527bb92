"""``wdrsvm audit``."""

from __future__ import annotations

from pathlib import Path
from shlex import quote
from typing import Annotated, Any

import typer

from ...report import Page, review_page
from ...report.review import mostly_suspected
from ...robustness import LabelAudit, audit_labels
from ..options import TableOptions
from ..output import (
    Categories,
    Decimal,
    Drop,
    Json,
    LabelKind,
    MergeRare,
    MinRows,
    Numbers,
    Output,
    Share,
    Target,
)
from ..tables.features import Labelled, Prepared
from ..tables.files import TABLE_ENDINGS, checked_output, write_table
from ..tables.labels import about_folds
from ..tables.trust import TrustColumn
from .relabel import REVIEWED

PAGE = ".html"
SHOWN = 5
# Names of the table to write next; a second audit reads the first.
CHECKED = ("checked.csv", "checked2.csv", "checked3.csv")

EXAMPLES = """Examples:

wdrsvm audit penguins.csv --target species --out suspects.csv

wdrsvm audit penguins.csv --target species --out suspects.html

Check the labels in the page, download reviewed.csv, then:

wdrsvm relabel penguins.csv reviewed.csv --target species --out checked.csv

wdrsvm audit checked.csv --target species --trust-column label_trust --out more.html
"""


def register(app: Any) -> None:
    """Add the command."""
    app.command("audit", epilog=EXAMPLES)(audit)


def audit(
    train: Annotated[Path, typer.Argument(help="Table with labels.")],
    target: Target,
    out: Annotated[Path, typer.Option(help="Table or .html page of suspects to write.")],
    everything: Annotated[
        bool, typer.Option("--all", help="List all labels, not only those worth a check.")
    ] = False,
    drop: Drop = None,
    numbers: Numbers = None,
    categories: Categories = None,
    decimal: Decimal = None,
    labels: LabelKind = None,
    min_rows: MinRows = None,
    merge_rare: MergeRare = None,
    trust_column: TrustColumn = None,
    as_json: Json = False,
) -> None:
    """Find labels that look wrong, the most suspicious first, and say how many to check.

    Every label is checked by models that were not trained on it.  Rows are counted from 0.
    On an .html page labels can be confirmed and corrected.
    """
    output = Output(as_json)
    asked = TableOptions(
        *(drop, numbers, categories, decimal, labels, min_rows, merge_rare, trust_column)
    )
    asked.check()
    checked_output(out, train, endings=(*TABLE_ENDINGS, PAGE))
    with output.working("Auditing"):
        data, columns = asked.prepared(train, target)
        output.notes += [*data.notes, *columns.notes, *about_folds(data.y)]
        found = audit_labels(columns.features, data.y, label_trust=data.trust)
    n_listed = len(found.row) if everything else found.n_suspects
    if out.suffix.lower() == PAGE:
        beside = _as_read(data, columns)
        _page(found, data, beside, train, target, n_listed).write(out)
    else:
        write_table(_listed(found, data, n_listed), out)
    output.notes += mostly_suspected(found)
    if found.n_suspects:
        output.notes.append(_next_step(train, target, out))
    output.show(_facts(found, data, out))


def _next_step(train: Path, target: str, out: Path) -> str:
    """What to do with the list, as a command that can be copied."""
    is_page = out.suffix.lower() == PAGE
    reviewed, how = (
        ("reviewed.csv", "decide on the page and download the list")
        if is_page
        else (
            out.name,
            f"write the right label into the column {REVIEWED} where you know it",
        )
    )
    checked = next(name for name in CHECKED if name not in (train.name, reviewed))
    command = (
        f"wdrsvm relabel {quote(str(train))} {quote(reviewed)} --target {quote(target)} "
        f"--out {checked}"
    )
    return f"Next: {how}, then run {command}."


def _listed(found: LabelAudit, data: Labelled, n_listed: int) -> Any:
    """The labels to check with all columns of the table, also those that were left out.

    The column ``reviewed`` is empty; a person writes the right label there.
    """
    frame = found.to_frame().head(n_listed)
    suspects = frame["row"].to_numpy()
    frame = frame.assign(row=data.row[suspects], given=data.texts[suspects])
    frame.insert(3, REVIEWED, "")
    if data.beside is None:
        return frame
    beside = data.beside.iloc[suspects].reset_index(drop=True)
    taken = beside.columns.intersection(frame.columns)
    return frame.join(beside.rename(columns={name: f"{name} (table)" for name in taken}))


def _facts(found: LabelAudit, data: Labelled, out: Path) -> dict[str, Any]:
    first = [
        f"{data.row[row]} ({given}, perhaps {suggested})"
        for row, given, suggested in zip(
            found.row[: min(SHOWN, found.n_suspects)],
            found.given,
            found.suggested,
            strict=False,
        )
    ]
    low, high = found.wrong_share_interval
    return {
        "rows": len(found.row),
        "to check": found.n_suspects,
        "share that is wrong": Share(found.wrong_share),
        "at least": Share(low),
        "at most": Share(high),
        "most suspicious": first or "none",
        "written to": str(out),
    }


def _as_read(data: Labelled, columns: Prepared) -> Any:
    """The table with its numbers as they were read, so that they have medians."""
    if data.beside is None or columns.columns is None:
        return data.beside
    shown = data.beside.copy()
    shown[list(columns.columns.columns)] = columns.columns
    return shown


def _page(
    found: LabelAudit,
    data: Labelled,
    beside: Any,
    train: Path,
    target: str,
    n_listed: int,
) -> Page:
    lead = f"Labels in column {target} of {train.name}, the most suspicious first."
    return review_page(
        found,
        table=beside,
        rows=data.row,
        given=data.texts,
        lead=lead,
        n_labels=n_listed,
    )
