"""The table of success: solved of all, contestant by contestant and family by family."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence
from pathlib import Path

from .contestants import CONTESTANTS
from .families import FAMILIES
from .run import Verdict

ALL = "all"


def shares(verdicts: Sequence[Verdict]) -> list[list[str]]:
    """A header, a row a family, a row for all of them, a row of honest ends."""
    header = ["family", *CONTESTANTS]
    rows = [[name, *_cells(verdicts, name)] for name in (*FAMILIES, ALL)]
    share = [_percent([v.solved for v in _of(verdicts, ALL, c)]) for c in CONTESTANTS]
    honest = [_percent([v.honest for v in _of(verdicts, ALL, c)]) for c in CONTESTANTS]
    return [header, *rows, ["share solved", *share], ["share honest", *honest]]


def _cells(verdicts: Sequence[Verdict], family: str) -> list[str]:
    groups = (_of(verdicts, family, name) for name in CONTESTANTS)
    return [_fraction([verdict.solved for verdict in group]) for group in groups]


def _of(verdicts: Iterable[Verdict], family: str, contestant: str) -> list[Verdict]:
    return [
        verdict
        for verdict in verdicts
        if verdict.record.contestant == contestant
        and family in (ALL, verdict.record.family)
    ]


def _fraction(flags: Sequence[bool]) -> str:
    return f"{sum(flags)}/{len(flags)}" if flags else ""


def _percent(flags: Sequence[bool]) -> str:
    return f"{100 * sum(flags) / len(flags):.1f} %" if flags else ""


def as_text(table: Sequence[Sequence[str]]) -> str:
    """The table with its columns below each other."""
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    lines = (
        "  ".join(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True))
        for row in table
    )
    return "\n".join(line.rstrip() for line in lines)


def write_csv(table: Sequence[Sequence[str]], path: Path) -> None:
    """The table for the documentation."""
    with path.open("w", newline="") as lines:
        csv.writer(lines, lineterminator="\n").writerows(table)


def faults(verdicts: Iterable[Verdict]) -> list[str]:
    """A line for each end that is neither a proof nor an honest no."""
    return [
        f"{v.record.contestant} on {v.record.family}/{v.record.instance}: "
        f"{v.why or 'claims what it did not reach'}"
        for v in verdicts
        if not v.honest
    ]
