"""Columns that cannot be read: one message about all of them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from shlex import quote
from typing import Any

from ...report.words import listed
from .files import pandas

DROP, NUMBERS_OPTION = "--drop", "--numbers"
# Squares of numbers must be numbers.
LARGEST = 1e150


class ColumnError(ValueError):
    """Why a column cannot be read.

    The text is a sentence without the name of the file.  ``brief`` says the same in a few
    words, and ``option`` is the option of the command line that helps.
    """

    def __init__(self, sentence: str, brief: str, option: str = DROP) -> None:
        super().__init__(sentence)
        self.brief, self.option = brief, option


def refuse_columns(
    errors: Mapping[str, ColumnError], path: Path, is_training: bool
) -> None:
    """Refuse a table with such columns; one run tells the user about all of them.

    Parameters
    ----------
    errors : dict
        The error of each of these columns.
    path : Path
        The table.
    is_training : bool
        Whether the command learns from the table, and has options about columns.

    Examples
    --------
    >>> when = ColumnError("when holds dates.", "dates")
    >>> size = ColumnError("size has 'big'.", "row 7 has 'big'", "--numbers")
    >>> refuse_columns({"when": when, "size": size}, Path("t.csv"), is_training=False)
    Traceback (most recent call last):
    ...
    ValueError: t.csv has columns that cannot be read: when (dates), size (row 7 has 'big').
    """
    if not errors:
        return
    if len(errors) == 1:
        raise ValueError(f"{path}: {next(iter(errors.values()))}")
    told = listed([f"{name} ({each.brief})" for name, each in errors.items()])
    advice = _advice(errors) if is_training else ""
    raise ValueError(f"{path} has columns that cannot be read: {told}.{advice}")


def _advice(errors: Mapping[str, ColumnError]) -> str:
    """Options that the user can copy, and what they do."""
    does = {
        DROP: "leaves columns out",
        NUMBERS_OPTION: "takes cells that are no numbers as missing",
    }
    names = {
        option: [name for name, each in errors.items() if each.option == option]
        for option in does
    }
    used = [option for option in does if names[option]]
    options = " ".join(f"{option} {quote(','.join(names[option]))}" for option in used)
    meaning = ", ".join(f"{option} {does[option]}" for option in used)
    return f" Correct the cells, or add {options} ({meaning})."


def check_size(name: str, values: Any) -> None:
    """Refuse numbers whose squares overflow."""
    largest = values.abs().max()
    if largest > LARGEST:
        where = values.abs().idxmax()
        raise ColumnError(
            f"{name} must hold finite numbers up to {LARGEST:g}, got {largest:g} in row "
            f"{where}, counted from 0; correct the cell.",
            f"row {where} has {largest:g}",
        )


def check_type(column: Any, is_training: bool) -> None:
    """Refuse complex numbers, dates and times."""
    types, name = pandas().api.types, column.name
    if types.is_complex_dtype(column):
        raise ColumnError(
            f"{name} must hold real numbers, got complex ones.", "complex numbers"
        )
    if types.is_datetime64_any_dtype(column) or types.is_timedelta64_dtype(column):
        remedy = f"leave it out by {DROP} {quote(name)}" if is_training else "give others"
        raise ColumnError(f"{name} holds dates; {remedy}.", "dates")
