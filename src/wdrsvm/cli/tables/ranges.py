"""Ranges of numbers that the user gives: ``--range age=0:120``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, TypeAlias

import numpy as np
import typer

from ...inputs.frames import Box, observed_box
from ...report.words import counted
from ..nearest import perhaps
from .columns import CATEGORIES, NUMBERS
from .features import Prepared
from .files import listed

GivenRanges = Annotated[
    list[str] | None,
    typer.Option(
        "--range",
        metavar="NAME=LOW:HIGH",
        help="Range that the adversary keeps a number in, such as age=0:120; an end may be "
        "empty. May be repeated. Other numbers keep their observed ranges if there are "
        "categories.",
    ),
]
Ranges: TypeAlias = Mapping[str, tuple[float, float]]

FORM = "--range must be NAME=LOW:HIGH, such as age=0:120 or age=0:"


def parsed_ranges(given: list[str] | None) -> Ranges:
    """The ends of each range by the name of its column."""
    ranges: dict[str, tuple[float, float]] = {}
    for text in given or []:
        name, low, high = _parts(text)
        if name in ranges:
            raise ValueError(f"--range must name a column once, got {name!r} twice.")
        if not low < high:
            raise ValueError(f"--range must have LOW < HIGH, got {text!r}.")
        ranges[name] = low, high
    return ranges


def _parts(text: str) -> tuple[str, float, float]:
    name, equals, ends = text.rpartition("=")
    low, colon, high = ends.partition(":")
    try:
        numbers = float(low or "-inf"), float(high or "inf")
    except ValueError:
        numbers = np.nan, np.nan
    if not (name and equals and colon) or np.isnan(numbers).any():
        raise ValueError(f"{FORM}, got {text!r}.")
    return name.strip(), *numbers


def with_ranges(columns: Prepared, ranges: Ranges, path: Path) -> Prepared:
    """The preparation with these ranges; rows outside widen them, and are counted."""
    if not ranges:
        return columns
    numbers = _numbers(columns, path)
    place = {name: number for number, name in enumerate(numbers)}
    scalers: Any = columns.transformer.named_transformers_
    n_features = columns.features.shape[1]
    low, high = np.full(n_features, -np.inf), np.full(n_features, np.inf)
    for name, ends in ranges.items():
        _check_number(name, numbers, columns, path)
        d = place[name]
        scaler = scalers[NUMBERS][-1]
        low[d], high[d] = (np.array(ends) - scaler.mean_[d]) / scaler.scale_[d]
    used = [place[name] for name in ranges]
    given = observed_box(columns.features, (low, high))
    observed = [end.copy() for end in columns.support]
    for end, asked in zip(observed, given, strict=True):
        end[used] = asked[used]
    notes = [*columns.notes, *_about_outside(columns.features, (low, high))]
    support = observed[0], observed[1]
    return replace(columns, support=support, given_support=given, notes=notes)


def _numbers(columns: Prepared, path: Path) -> list[str]:
    kinds = getattr(columns.transformer, "transformers_", None)
    if kinds is None:
        raise ValueError(f"--range needs named columns, which {path} has not.")
    return [name for kind, _, names in kinds if kind == NUMBERS for name in names]


def _check_number(name: str, numbers: list[str], columns: Prepared, path: Path) -> None:
    if name in numbers:
        return
    if name in columns.categories:
        raise ValueError(
            f"--range needs a column of numbers, but {name!r} has {CATEGORIES}; "
            f"--numbers {name} reads it as numbers."
        )
    raise ValueError(
        f"--range: {path} has no column of numbers {name!r}{perhaps(name, numbers)}; it "
        f"has {listed(numbers) if numbers else 'none'}."
    )


def _about_outside(features: Any, box: Box) -> list[str]:
    outside = ((features < box[0]) | (features > box[1])).any(axis=1)
    if not outside.any():
        return []
    what = counted(int(outside.sum()), "row", "rows")
    return [f"Outside the ranges of --range, which are widened: {what}."]
