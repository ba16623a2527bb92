"""Records kept line by line, so that a run that was cut short goes on where it was."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from .contestants import Answer
from .run import Record

RECORDS = Path(__file__).parents[1] / "results" / "stress.jsonl"


def keep(record: Record, path: Path) -> None:
    """Add a line."""
    path.parent.mkdir(parents=True, exist_ok=True)
    answer = None if record.answer is None else record.answer._asdict()
    with path.open("a") as lines:
        lines.write(json.dumps(record._asdict() | {"answer": answer}) + "\n")


def kept(path: Path) -> list[Record]:
    """All records, of each contestant on an instance the last."""
    if not path.exists():
        return []
    lines = path.read_text().splitlines()
    records = [_record(json.loads(line)) for line in lines]
    return list({record[:3]: record for record in records}.values())


def _record(row: dict[str, Any]) -> Record:
    answer = None if row["answer"] is None else Answer(**row["answer"])
    return Record(**row | {"answer": answer})
