"""``wdrsvm relabel``."""

from __future__ import annotations

from pathlib import Path
from shlex import quote
from typing import Annotated, Any

import numpy as np
import typer

from ..output import Json, Output, Target
from ..tables.columns import as_texts
from ..tables.files import (
    TABLE_ENDINGS,
    InputTable,
    checked_output,
    listed,
    pandas,
    read_table,
    write_table,
)
from ..tables.numerals import COMMA
from ..tables.trust import TRUST, read_trust

# Columns of a reviewed list: the row, its label in the table, and the right label.
ROW, GIVEN, REVIEWED = "row", "given", "reviewed"

EXAMPLES = """Examples:

wdrsvm audit penguins.csv --target species --out suspects.html

wdrsvm relabel penguins.csv reviewed.csv --target species --out checked.csv

wdrsvm fit checked.csv --target species --cv --trust-column label_trust --out p.wdrsvm
"""


def register(app: Any) -> None:
    """Add the command."""
    app.command("relabel", epilog=EXAMPLES)(relabel)


def relabel(
    table: Annotated[Path, typer.Argument(help="Table that was audited.")],
    reviewed: Annotated[
        Path,
        typer.Argument(help="List of the page or table of wdrsvm audit, with decisions."),
    ],
    target: Target,
    out: Annotated[Path, typer.Option(help="Table to write: .csv, .tsv or .parquet.")],
    trust_column: Annotated[
        str, typer.Option(metavar="COL", help="Column of the trust in the labels.")
    ] = TRUST,
    as_json: Json = False,
) -> None:
    """Write a table with the labels that a person has confirmed or corrected.

    The list has the columns row, given and reviewed; rows with an empty cell in reviewed
    have not been looked at.  Labels that were looked at get the trust inf.
    """
    output = Output(as_json)
    checked_output(out, table, reviewed, endings=TABLE_ENDINGS)
    with output.working("Relabelling"):
        data = read_table(table)
        _check_columns(data, target, trust_column)
        decisions = _decisions(read_table(reviewed), data, target)
        written, n_changed = _relabelled(data, decisions, target, trust_column)
        output.notes += _about_classes(data, decisions, target)
        _write(written, out, data)
    output.notes.append(
        f"Next: learn from the checked labels by wdrsvm fit {quote(str(out))} --target "
        f"{quote(target)} --cv --trust-column {quote(trust_column)} --out model.wdrsvm."
    )
    output.show(
        {
            "rows": len(written),
            "looked at": len(decisions),
            "confirmed": len(decisions) - n_changed,
            "corrected": n_changed,
            "trust in column": trust_column,
            "written to": str(out),
        }
    )


def _check_columns(table: InputTable, target: str, trust_column: str) -> None:
    there = list(table.columns.columns)
    if table.is_sparse:
        raise ValueError(f"{table.path} must have named columns, got sparse rows.")
    if target not in there:
        raise ValueError(f"{table.path} has no column {target!r}; it has {listed(there)}.")
    if target in table.same_names:
        raise ValueError(
            f"{table.path} has more than one column called {target!r}; rename all but one."
        )
    if trust_column == target or not trust_column.strip():
        raise ValueError(
            f"--trust-column must be a name that is not the labels', got {trust_column!r}."
        )


def _decisions(reviewed: InputTable, table: InputTable, target: str) -> Any:
    """The rows that were looked at, with the given and the right label as texts."""
    there = [] if reviewed.is_sparse else list(reviewed.columns.columns)
    for name in (ROW, GIVEN, REVIEWED):
        if name not in there:
            raise ValueError(
                f"{reviewed.path} must have the columns {ROW}, {GIVEN} and {REVIEWED}, but "
                f"has no {name}; wdrsvm audit writes them."
            )
    texts = {name: as_texts(reviewed.columns[name]) for name in (ROW, GIVEN, REVIEWED)}
    frame = pandas().DataFrame(texts)
    frame = frame[frame[REVIEWED].map(bool, na_action="ignore").fillna(False).astype(bool)]
    if not len(frame):
        raise ValueError(f"{reviewed.path} has no row with a label in {REVIEWED}.")
    frame[ROW] = _row_numbers(frame[ROW], len(table.columns), reviewed.path)
    _check_unchanged(frame, table, target, reviewed.path)
    return frame.set_index(ROW)


def _row_numbers(texts: Any, n_rows: int, path: Path) -> Any:
    for text in texts:
        if text is None or not text.isdecimal() or int(text) >= n_rows:
            raise ValueError(
                f"{path}: {ROW} must be from 0 to {n_rows - 1}, the rows of the table, got "
                f"{text!r}."
            )
    numbers = texts.map(int)
    repeated = numbers[numbers.duplicated()]
    if len(repeated):
        raise ValueError(f"{path} must have each row once, got {repeated.iloc[0]} twice.")
    return numbers


def _check_unchanged(frame: Any, table: InputTable, target: str, path: Path) -> None:
    """Refuse decisions about another table: rows are known by their numbers only."""
    labels = as_texts(table.columns[target]).iloc[frame[ROW]].to_numpy()
    differs = np.flatnonzero(labels != frame[GIVEN].to_numpy())
    if len(differs):
        k = int(differs[0])
        raise ValueError(
            f"{path} is about another table: row {frame[ROW].iloc[k]} of {table.path} has "
            f"the label {labels[k]!r}, not {frame[GIVEN].iloc[k]!r}."
        )


def _relabelled(
    table: InputTable, decisions: Any, target: str, trust_column: str
) -> tuple[Any, int]:
    """The table with the right labels and a column of trust, and how many changed."""
    frame, rows = table.columns.copy(), decisions.index.to_numpy()
    labels = _as_column(decisions[REVIEWED], frame[target], table.path)
    changed = decisions[REVIEWED] != decisions[GIVEN]
    # Only corrected cells are written, so that all others stay as they are, to the letter.
    place = frame.columns.get_loc(target)
    frame.iloc[rows[changed], place] = labels[changed.to_numpy()]
    known = trust_column in frame.columns
    trust = read_trust(table, trust_column) if known else np.ones(len(frame))
    trust[rows] = np.inf
    frame[trust_column] = trust
    return frame, int(changed.sum())


def _as_column(texts: Any, column: Any, path: Path) -> Any:
    """Labels in the type of the column: numbers stay numbers."""
    types = pandas().api.types
    if not types.is_numeric_dtype(column) or types.is_bool_dtype(column):
        return texts.to_numpy(dtype=object)
    numbers = pandas().to_numeric(texts, errors="coerce")
    if numbers.isna().any() or (numbers % 1 != 0).any():
        strange = texts[(numbers.isna() | (numbers % 1 != 0)).to_numpy()].iloc[0]
        raise ValueError(
            f"{path}: {column.name} holds numbers, but {REVIEWED} has {strange!r}."
        )
    return numbers.to_numpy().astype(column.to_numpy().dtype)


def _about_classes(table: InputTable, decisions: Any, target: str) -> list[str]:
    """A note about labels that the table does not have: new classes or misspelt ones."""
    known = set(as_texts(table.columns[target]).dropna())
    new = sorted(set(decisions[REVIEWED]) - known)
    return [f"Labels that no row had before: {listed(new)}."] if new else []


def _write(frame: Any, out: Path, table: InputTable) -> None:
    # A file with decimal commas keeps its semicolons, by which the commas are recognised.
    write_table(frame, out, ";" if table.decimal == COMMA else ",")
