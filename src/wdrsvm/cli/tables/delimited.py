"""Tables in text files: their separator, and all of their cells as unchanged texts."""

from __future__ import annotations

import csv
import re
import warnings
from collections import Counter
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

SEPARATORS = (",", ";", "\t", "|")
# Number of rows from which the separator is found.
ROWS_LOOKED_AT = 50
# The first line in which some spreadsheets name the separator.
_NAMED_SEPARATOR = re.compile(r"sep=(.)\s*", re.IGNORECASE)


class CellLayout(NamedTuple):
    """The layout of a file: where its cells are."""

    separator: str
    header: list[str]
    n_skipped: int
    has_trailing: bool


def read_delimited(
    path: Path, separator: str | None, pandas: Any
) -> tuple[Any, CellLayout]:
    """All cells as texts; an empty cell is missing."""
    layout = _layout(path, separator)
    names = [*_names(layout.header), *(["trailing"] if layout.has_trailing else [])]
    with warnings.catch_warnings():
        # pandas warns, for example, about rows that are longer than the header.
        warnings.simplefilter("error")
        frame = pandas.read_csv(
            path,
            sep=layout.separator,
            skiprows=layout.n_skipped,
            header=0,
            names=names,
            index_col=False,
            dtype=str,
            keep_default_na=False,
            na_values=[""],
            low_memory=False,
            encoding="utf-8-sig",
        )
    if layout.has_trailing:
        _check_trailing(frame.pop("trailing"))
    return frame, layout


def same_names(header: list[str]) -> list[str]:
    """Names that several columns share."""
    counts = Counter(name for name in header if name)
    return [name for name, count in counts.items() if count > 1]


def _layout(path: Path, separator: str | None) -> CellLayout:
    with path.open("rb") as file:
        head = file.read(8192)
    if head[:2] in (b"\xff\xfe", b"\xfe\xff"):
        raise ValueError("it is UTF-16, not UTF-8; save it as CSV UTF-8")
    if b"\0" in head:
        raise ValueError("it is a binary file; save it as CSV UTF-8")
    try:
        with path.open(encoding="utf-8-sig", newline="") as text:
            lines = list(islice(text, ROWS_LOOKED_AT))
    except UnicodeDecodeError as error:
        raise ValueError(
            f"it is not UTF-8 (byte {error.object[error.start]:#04x}); save it as CSV UTF-8"
        ) from None
    named = _NAMED_SEPARATOR.fullmatch(lines[0])
    skipped = 1 if named else 0
    if named and separator is None:
        separator = named[1]
    rows = lines[skipped:]
    found = separator or max(SEPARATORS, key=lambda each: _fit(rows, each))
    cells = _cells(rows, found)
    if not cells:
        raise ValueError("it has no header; name the columns in its first line")
    header = [name.strip() for name in cells[0]]
    longer = [row for row in cells[1:] if len(row) > len(header)]
    trailing = bool(longer) and all(
        len(row) == len(header) + 1 and not row[-1].strip() for row in longer
    )
    if longer and not trailing:
        row = next(k for k, row in enumerate(cells[1:]) if len(row) > len(header))
        raise ValueError(
            f"row {row}, counted from 0, has {len(cells[row + 1])} cells, but the header "
            f"has {len(header)}; delete lines above it, and quote cells with {found!r}"
        )
    return CellLayout(found, header, skipped, trailing)


def _fit(lines: list[str], separator: str) -> tuple[float, int]:
    """The share of rows that are as long as the header, and this length."""
    cells = _cells(lines, separator)
    if not cells or len(cells[0]) < 2:
        return (-1.0, 0)
    width = len(cells[0])
    alike = sum(width <= len(row) <= width + 1 for row in cells)
    return (alike / len(cells), width)


def _cells(lines: list[str], separator: str) -> list[list[str]]:
    """Rows that are not blank; an incomplete last row is left out."""
    rows = csv.reader(lines, delimiter=separator)
    found: list[list[str]] = []
    try:
        found += (row for row in rows if row)
    except csv.Error:
        pass
    return found


def _names(header: list[str]) -> list[str]:
    """Unique names of the columns: the second ``a`` is ``a.1``, the third ``a.2``."""
    taken, names = set(header), []
    seen: set[str] = set()
    for place, name in enumerate(header):
        base = name or f"Unnamed: {place}"
        chosen, number = base, 0
        while chosen in seen or (number and chosen in taken):
            number += 1
            chosen = f"{base}.{number}"
        seen.add(chosen)
        names.append(chosen)
    return names


def _check_trailing(column: Any) -> None:
    filled = column[column.notna()]
    if len(filled):
        raise ValueError(
            f"row {filled.index[0]}, counted from 0, has more cells than the header"
        )
