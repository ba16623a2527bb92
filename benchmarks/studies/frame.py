"""The frame of a study: cells appended to a file one by one, and tables of its results.

A cell has a key, for example a table, a kind of noise and a seed.  A run that was cut short
goes on where it was, because cells that are in the file are not computed again.
"""

from __future__ import annotations

import argparse
import csv
import json
import warnings
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, get_type_hints

Key = tuple[Any, ...]
Lines = list[list[str]]


def parsed(
    text: str | None, arguments: Sequence[str] | None, n_splits: int, file: str, tiny: str
) -> argparse.Namespace:
    """The options of a study with splits."""
    parser = argparse.ArgumentParser(description=text)
    parser.add_argument("--tiny", action="store_true", help=tiny)
    parser.add_argument("--splits", type=int, default=n_splits)
    parser.add_argument("--csv", type=Path, default=Path(file))
    parser.add_argument("--out", type=Path, help="folder for the tables of the docs")
    return parser.parse_args(arguments)


def all_cells(
    kind: Any, file: Path, keys: Iterable[Key], judged: Callable[..., list[Any]]
) -> list[Any]:
    """Named tuples of this kind, whose first fields are the key; several share a key."""
    found, keys = read(kind, file), list(keys)
    done = {each[: len(keys[0])] for each in found}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for key in keys:
            if key not in done:
                new = judged(*key)
                append(file, new)
                found += new
    return found


def all_records(
    file: Path, keys: Iterable[Key], record: Callable[..., dict[str, Any]]
) -> list[dict[str, Any]]:
    """Records by table, noise and seed, one line of JSON each."""
    done = file.read_text().splitlines() if file.exists() else []
    found: list[dict[str, Any]] = [json.loads(line) for line in done]
    known = {(each["table"], each["noise"], each["seed"]) for each in found}
    warnings.simplefilter("ignore")
    for key in keys:
        if key not in known:
            found.append(record(*key))
            with file.open("a") as stream:
                stream.write(json.dumps(found[-1]) + "\n")
    return found


def read(kind: Any, file: Path) -> list[Any]:
    """The cells of a file, with the types of the fields."""
    if not file.exists():
        return []
    with file.open() as stream:
        lines = list(csv.reader(stream))[1:]
    types = get_type_hints(kind).values()
    return [
        kind(*(each(text) for each, text in zip(types, line, strict=True)))
        for line in lines
    ]


def append(file: Path, found: Sequence[Any]) -> None:
    """Add cells to a file; numbers have five decimals."""
    is_new = not file.exists()
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("a", newline="") as stream:
        writer = csv.writer(stream)
        if is_new:
            writer.writerow(found[0]._fields)
        writer.writerows(
            [round(value, 5) if isinstance(value, float) else value for value in each]
            for each in found
        )


def print_lines(lines: Lines, width: int) -> None:
    for line in lines:
        print("  ".join(f"{text:>{width}}" for text in line))


def write_lines(lines: Lines, file: Path) -> None:
    with file.open("w", newline="") as stream:
        csv.writer(stream, lineterminator="\n").writerows(lines)


def print_tables(
    parts: Sequence[Callable[[Sequence[Any]], Lines]],
    found: Sequence[Any],
    folder: Path | None,
    *,
    prefix: str,
    width: int,
) -> None:
    """Print all tables; write each to the folder, if there is one, under its own name."""
    for part in parts:
        lines = part(found)
        print()
        print_lines(lines, width)
        if folder is not None:
            write_lines(lines, folder / f"{prefix}-{part.__name__.replace('_', '-')}.csv")
