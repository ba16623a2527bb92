"""Columns of a frame: which are numbers, which are categories, and what is neither."""

from __future__ import annotations

import datetime
from typing import Any

import numpy as np

from .arrays import is_missing

NUMBERS, CATEGORIES = "numbers", "categories"
# A category becomes a dense column of its own.
MAX_CATEGORIES = 1000
DATES = (datetime.date, datetime.time, datetime.timedelta)


def kinds_of(frame: Any) -> dict[str, list[Any]]:
    """The names of the columns of each kind."""
    _check_shape(frame)
    kinds: dict[str, list[Any]] = {NUMBERS: [], CATEGORIES: []}
    for name, kind in zip(frame.columns, frame.dtypes, strict=True):
        if _is_number(kind):
            _check_numbers(name, frame[name])
            kinds[NUMBERS].append(name)
        else:
            _check_categories(name, kind, frame[name])
            kinds[CATEGORIES].append(name)
    return kinds


def _is_number(kind: Any) -> bool:
    """Whether a type of pandas or polars holds numbers."""
    if hasattr(kind, "is_numeric"):
        return bool(kind.is_numeric())
    is_flag = str(kind).lower() in ("bool", "boolean")
    return not is_flag and getattr(kind, "kind", "O") in "iufc"


def _check_shape(frame: Any) -> None:
    names = list(frame.columns)
    if not names or not len(frame):
        raise ValueError(
            f"frame must have rows and columns, got shape ({len(frame)}, {len(names)})."
        )
    twice = [name for name in names if names.count(name) > 1]
    if twice:
        raise ValueError(f"frame has two columns {twice[0]!r}: give them different names.")


def _check_numbers(name: Any, column: Any) -> None:
    values = np.asarray(column)
    if np.iscomplexobj(values):
        raise ValueError(f"column {name!r} of frame has complex numbers, not real ones.")
    if values.dtype.kind == "f" and np.isinf(values).any():
        raise ValueError(
            f"column {name!r} of frame has infinite values: replace or remove them."
        )


def _check_categories(name: Any, kind: Any, column: Any) -> None:
    """Refuse dates, mixtures of types, and more categories than a table can have."""
    values = distinct(name, column)
    if _is_temporal(kind) or any(isinstance(value, DATES) for value in values):
        raise ValueError(
            f"column {name!r} of frame has dates or times, which are neither numbers nor "
            f"categories: replace it by numbers such as the year or the days since a day, "
            f"or drop it."
        )
    types = sorted({_type_name(value) for value in values})
    if len(types) > 1:
        raise ValueError(
            f"column {name!r} of frame has values of the types {', '.join(types)}: convert "
            f"it to one type, texts (astype(str)) or numbers."
        )
    if len(values) > MAX_CATEGORIES:
        raise ValueError(
            f"column {name!r} of frame has {len(values)} different values, more than "
            f"{MAX_CATEGORIES}: drop it if it identifies rows, or join rare values."
        )


def _is_temporal(kind: Any) -> bool:
    """Whether a type of pandas or polars holds dates or times."""
    if hasattr(kind, "is_temporal"):
        return bool(kind.is_temporal())
    return getattr(kind, "kind", "O") in ("M", "m") or str(kind).startswith("period")


def distinct(name: Any, column: Any) -> list[Any]:
    """The different values of a column, without missing ones."""
    try:
        found = set(column.to_list() if hasattr(column, "to_list") else column)
    except TypeError as error:
        raise ValueError(
            f"column {name!r} of frame has values that are no single texts or numbers: "
            f"{error}."
        ) from error
    return [value for value in found if not is_missing(value)]


def _type_name(value: Any) -> str:
    """The name of a value's type; all numbers are one type."""
    is_number = isinstance(value, (int, float, np.number)) and not isinstance(value, bool)
    return "number" if is_number else type(value).__name__
