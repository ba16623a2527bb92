"""``python -m benchmarks [FAMILY ...] [--tiny] [--threads N] [--solver NAME]``."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from . import report
from .families import FAMILIES
from .family import Family, Options


def main(arguments: Sequence[str] | None = None) -> int:
    parsed = _parser().parse_args(arguments)
    options = _options(parsed)
    for name in parsed.families or list(FAMILIES):
        run_family(FAMILIES[name], options)
    return 0


def run_family(family: Family, options: Options) -> None:
    """Run and print case by case; write the results."""
    print(report.header(family), flush=True)
    records = []
    for case in family.cases(options):
        records.append(family.run(case, options))
        print(report.line(family, records[-1]), flush=True)
    summary = family.summarise(records)
    print(report.closing(summary))
    print(f"written to {report.write(family, options, records, summary)}", flush=True)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    known = ", ".join(FAMILIES)
    parser.add_argument(
        "families",
        nargs="*",
        metavar="FAMILY",
        type=_family,
        help=f"all of {known} if none",
    )
    parser.add_argument("--tiny", action="store_true", help="seconds, to keep them alive")
    parser.add_argument("--solver", default="auto", help="our solver (default: auto)")
    parser.add_argument(
        "--threads", type=int, default=1, help="for both sides (default: 1)"
    )
    parser.add_argument("--repeats", type=int, help="of our fits (default: 5, tiny 1)")
    parser.add_argument(
        "--time-limit", type=float, help="seconds for one peer (default: 300, tiny 10)"
    )
    parser.add_argument(
        "--processor",
        action="store_true",
        help="processor seconds, for a machine that others use, too (b1, b2, b5, b7)",
    )
    return parser


def _family(name: str) -> str:
    if name not in FAMILIES:
        raise argparse.ArgumentTypeError(
            f"unknown family {name!r}; there are {', '.join(FAMILIES)}"
        )
    return name


def _options(parsed: argparse.Namespace) -> Options:
    return Options(
        tiny=parsed.tiny,
        solver=parsed.solver,
        threads=parsed.threads,
        repeats=parsed.repeats or (1 if parsed.tiny else 5),
        time_limit=parsed.time_limit or (10.0 if parsed.tiny else 300.0),
        processor=parsed.processor,
    )


if __name__ == "__main__":
    raise SystemExit(main())
