"""``python -m benchmarks.stress [FAMILY ...] [--solver NAME ...] [--csv FILE]``."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from . import files
from .contestants import CONTESTANTS, REFERENCES
from .families import FAMILIES
from .report import as_text, faults, shares, write_csv
from .run import run, verdicts


def main(arguments: Sequence[str] | None = None) -> int:
    parsed = _parser().parse_args(arguments)
    if parsed.again:
        parsed.records.unlink(missing_ok=True)
    known = {record[:3] for record in files.kept(parsed.records)}
    contestants = parsed.solver or list(CONTESTANTS)
    for family in parsed.families or list(FAMILIES):
        print(family, flush=True)
        for record in run([family], contestants, parsed.time_limit, known):
            files.keep(record, parsed.records)
    return _tell(parsed)


def _tell(parsed: argparse.Namespace) -> int:
    """Print and write what is known; fails if one of ours was dishonest."""
    judged = verdicts(files.kept(parsed.records))
    table = shares(judged)
    print(as_text(table))
    if parsed.csv:
        write_csv(table, parsed.csv)
    ours = [v for v in judged if v.record.contestant not in REFERENCES]
    for line in faults(ours):
        print(line)
    return int(any(not verdict.honest for verdict in ours))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.stress")
    parser.add_argument(
        "families", nargs="*", choices=[[], *FAMILIES], help="all if none is named"
    )
    parser.add_argument("--solver", nargs="+", choices=list(CONTESTANTS))
    parser.add_argument("--time-limit", type=float, default=60.0, help="for one attempt")
    parser.add_argument("--records", type=Path, default=files.RECORDS)
    parser.add_argument("--csv", type=Path, help="where to write the table")
    parser.add_argument("--again", action="store_true", help="forget what is known")
    return parser


if __name__ == "__main__":
    raise SystemExit(main())
