"""``wdrsvm audit``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from ..estimators import RobustLinearSVC
from ..files import write_text
from ..report import Page, Section, Table, Text
from ..robustness import audit_labels
from .labels import about_folds
from .options import TableOptions
from .output import (
    Categories,
    Decimal,
    Drop,
    Json,
    LabelKind,
    MergeRare,
    MinRows,
    Numbers,
    Output,
    Target,
)
from .tables import TABLE_ENDINGS, checked_output, write_table

PAGE = ".html"
SHOWN = 5

EXAMPLES = """Examples:

wdrsvm audit penguins.csv --target species --out suspects.csv

wdrsvm audit penguins.csv --target species --out suspects.html
"""


def register(app: Any) -> None:
    """Add the command."""
    app.command("audit", epilog=EXAMPLES)(audit)


def audit(
    train: Annotated[Path, typer.Argument(help="Table with labels.")],
    target: Target,
    out: Annotated[Path, typer.Option(help="Table or .html page of suspects to write.")],
    everything: Annotated[
        bool, typer.Option("--all", help="List all labels, not the suspicious ones only.")
    ] = False,
    drop: Drop = None,
    numbers: Numbers = None,
    categories: Categories = None,
    decimal: Decimal = None,
    labels: LabelKind = None,
    min_rows: MinRows = None,
    merge_rare: MergeRare = None,
    as_json: Json = False,
) -> None:
    """Find labels that look wrong, the most suspicious first.

    Every label is checked by models that were not trained on it.  Rows are counted from 0.
    """
    output = Output(as_json)
    asked = TableOptions(drop, numbers, categories, decimal, labels, min_rows, merge_rare)
    asked.check()
    checked_output(out, train, endings=(*TABLE_ENDINGS, PAGE))
    with output.working("Auditing"):
        data, columns = asked.prepared(train, target)
        output.notes += [*data.notes, *columns.notes, *about_folds(data.y)]
        model = RobustLinearSVC(feature_cost=columns.feature_cost)
        found = audit_labels(columns.features, data.y, model).to_frame()
    suspects = found if everything else found[found["gain"] > 0]
    listed = _with_columns(suspects, data)
    if out.suffix.lower() == PAGE:
        write_text(out, _page(listed, train, target).html())
    else:
        write_table(listed, out)
    output.show(_facts(found, listed, out))


def _with_columns(suspects: Any, data: Any) -> Any:
    """The suspects with all columns of the table, also those that were left out."""
    frame = suspects.assign(row=data.row[suspects["row"]]).reset_index(drop=True)
    if data.beside is None:
        return frame
    beside = data.beside.iloc[suspects["row"]].reset_index(drop=True)
    taken = beside.columns.intersection(frame.columns)
    return frame.join(beside.rename(columns={name: f"{name} (table)" for name in taken}))


def _facts(found: Any, listed: Any, out: Path) -> dict[str, Any]:
    first = [
        f"{row.row} ({row.given}, perhaps {row.suggested})"
        for row in listed.head(SHOWN).itertuples()
    ]
    return {
        "rows": len(found),
        "suspicious": int((found["gain"] > 0).sum()),
        "most suspicious": first or "none",
        "written to": str(out),
    }


def _page(listed: Any, train: Path, target: str) -> Page:
    lead = f"Labels in column {target} of {train.name}, the most suspicious first."
    how = Text(
        "gain: log-odds of the suggested label over the given one, from models that never "
        "saw the row; exposure: what an adversary would gain by changing the given label. "
        "Rows are counted from 0."
    )
    table = Table.of_frame("Suspicious labels", listed)
    return Page("Labels to check", lead, [Section("Suspects", [how, table])])
