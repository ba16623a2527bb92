"""The columns of a table: which are numbers, which are categories, and their values.

The model file stores how the training table was read, so that other tables are read in the
same way.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path
from shlex import quote
from typing import Any

import numpy as np

from ...report.words import counted
from .files import listed, pandas
from .numerals import COMMA, PERCENT, POINT, Numerals, is_missing
from .troubles import (
    NUMBERS_OPTION,
    ColumnError,
    check_size,
    check_type,
    refuse_columns,
)

NUMBERS, CATEGORIES = "numbers", "categories"
# A column of texts with more different values than this has names, not categories.
MAX_CATEGORIES = 100
# A column whose share of numbers is larger than this is a column of numbers.
MOSTLY = 0.5
LONGEST_CELL = 40
# Cells that are read together: enough for speed, few enough for memory.
CELLS_AT_ONCE = 1_000_000
_DATE = re.compile(
    r"(\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[-/.]\d{1,2}[-/.](\d{4}|\d{2}))"
    r"([T ]\d{1,2}:\d{2}.*)?|\d{1,2}:\d{2}(:\d{2})?"
)
_EITHER_WAY = r"[+-]?[1-9]\d{0,2}(?:\.\d{3})+"


@dataclass(frozen=True)
class Reading:
    """How columns are read, from the user's options or from a model file.

    ``lenient`` columns have numbers, and their other cells count as missing.  ``decimals``
    and ``percent`` say how a training table writes its numbers.
    """

    numbers: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    decimal: str | None = None
    lenient: tuple[str, ...] = ()
    decimals: dict[str, str] = field(default_factory=dict)
    percent: tuple[str, ...] | None = None
    # The decimal mark if neither the user nor a cell determines it: files with semicolons
    # have decimal commas.
    fallback: str = POINT
    remedy: str = "correct the cell or leave it empty"
    # Whether the command learns from the table, and has options to leave columns out.
    is_training: bool = False
    most_categories: int | None = None


@dataclass(frozen=True, eq=False)
class Columns:
    """Numbers as floats, categories as texts, and notes for the user."""

    frame: Any
    kinds: dict[str, list[str]]
    decimals: dict[str, str]
    percent: list[str]
    notes: list[str]


def read_columns(frame: Any, path: Path, reading: Reading) -> Columns:
    """Read all cells; an error names all columns that cannot be read."""
    reader = _Reader(frame, path, reading)
    read, errors = {}, {}
    for name in frame.columns:
        try:
            read[name] = kind, values = reader.column(name)
            if kind == NUMBERS:
                check_size(name, values)
        except ColumnError as error:
            errors[name] = error
    refuse_columns(errors, path, reading.is_training)
    kinds: dict[str, list[str]] = {NUMBERS: [], CATEGORIES: []}
    for name, (kind, _) in read.items():
        kinds[kind].append(name)
    columns = {name: values for name, (_, values) in read.items()}
    made = pandas().DataFrame(columns, index=frame.index)
    return Columns(made, kinds, reader.decimals, reader.percent, reader.all_notes())


class _Reader:
    """Reads the columns of one table, and collects notes for the user."""

    def __init__(self, frame: Any, path: Path, reading: Reading) -> None:
        self.frame, self.path, self.reading = frame, path, reading
        self.plain, self.texts = _plain_and_texts(frame)
        self.numerals = {
            name: Numerals.of(texts)
            for name, texts in self.texts.items()
            if name not in reading.categories
        }
        self.default = reading.decimal or _written(self.numerals)
        self.decimals: dict[str, str] = {}
        self.percent: list[str] = []
        self.signs: dict[str, str] = {}
        self.notes: list[str] = []

    def column(self, name: str) -> tuple[str, Any]:
        column = self.frame[name]
        if name in self.reading.categories:
            return CATEGORIES, self._category(name)
        if name in self.plain:
            return NUMBERS, self._plain(name)
        if name in self.texts:
            return self._of_text(name)
        check_type(column, self.reading.is_training)
        types = pandas().api.types
        if types.is_bool_dtype(column) or not types.is_numeric_dtype(column):
            if name in self.reading.numbers:
                raise ColumnError(f"{name} must hold numbers, got others.", "no numbers")
            return CATEGORIES, self._category(name)
        if name in (self.reading.percent or ()):
            raise ColumnError(
                f"{name} must have per cent signs, as in the table that the model was "
                "learned from; add them.",
                "no per cent signs",
            )
        return NUMBERS, column.astype(float)

    def _of_text(self, name: str) -> tuple[str, Any]:
        found = self.numerals[name]
        is_asked = name in self.reading.numbers
        if is_asked or found.n_numbers > MOSTLY * found.n_cells:
            return NUMBERS, self._number(name, found)
        self._check_dates(name)
        return CATEGORIES, self._category(name)

    def _plain(self, name: str) -> Any:
        """Numbers with at most a decimal point; no thousands unless the file has them."""
        values = self.plain[name]
        lacks_percent = name in (self.reading.percent or ()) and values.notna().any()
        if self.default == COMMA or lacks_percent:
            self.texts[name] = as_texts(self.frame[name])
        if lacks_percent:
            self._refuse(name, self.texts[name], {})
        if self.default == COMMA and _may_be_thousands(self.texts[name]):
            return self._number(name, Numerals.of(self.texts[name]))
        self.decimals[name] = POINT
        return values

    def _default(self, name: str) -> str:
        learned = self.reading.decimals.get(name, self.reading.fallback)
        return self.default or learned

    def _number(self, name: str, found: Numerals) -> Any:
        default = self._default(name)
        decimal = self.reading.decimal or found.decimal(default)
        unit = found.unit()
        if self.reading.percent is not None:
            has_percent = name in self.reading.percent
            unit = PERCENT if has_percent else "" if unit == PERCENT else unit
        values, texts = found.values(decimal, unit), self.texts[name]
        if not values and name in self.reading.lenient and not self.reading.decimals:
            raise ColumnError(
                f"{name} has no number, but --numbers names it.", "no number in any row"
            )
        if len(values) < len(found.counts):
            self._unread(name, texts, values, found)
        self._say(name, found, decimal, unit)
        return texts.map(values).astype(float)

    def _unread(
        self, name: str, texts: Any, values: dict[str, float], found: Numerals
    ) -> None:
        if name not in self.reading.lenient:
            self._refuse(name, texts, values)
        n_lost = sum(found.counts[text] for text in found.counts if text not in values)
        lost = counted(
            n_lost,
            f"cell of {name} is no number and counts",
            f"cells of {name} are no numbers and count",
        )
        self.notes.append(f"{lost} as missing.")

    def _refuse(self, name: str, texts: Any, values: dict[str, float]) -> None:
        row = int(np.flatnonzero(~is_missing(texts) & ~texts.isin(list(values)))[0])
        cell = str(texts.iloc[row])
        why = _why(cell)
        shown = cell if len(cell) <= LONGEST_CELL else f"{cell[:LONGEST_CELL]}..."
        remedy = self.reading.remedy.replace("NAME", quote(name))
        where = self.frame.index[row]
        raise ColumnError(
            f"{name} is a column of numbers, but row {where}, counted from 0, has "
            f"{shown!r}, {why}; {remedy}.",
            f"row {where}, counted from 0, has {shown!r}",
            NUMBERS_OPTION,
        )

    def _say(self, name: str, found: Numerals, decimal: str, unit: str) -> None:
        self.decimals[name] = decimal
        if unit == PERCENT:
            self.percent.append(name)
        if unit:
            self.signs[name] = unit
        told = found.told()
        if len(told) > 1:
            other = COMMA if decimal == POINT else POINT
            self.notes.append(
                f"{counted(told[other], f'cell of {name} is', f'cells of {name} are')} "
                f"written with a decimal {other}, unlike the others."
            )
        elif not told and found.open_texts() and self._is_choice():
            text = found.open_texts()[0]
            ways = _both_ways(decimal)
            one, two = (found.meanings[text].value(each) for each in ways)
            self.notes.append(
                f"{text} in {name} is read as {one:g}; --decimal {ways[1]} reads {two:g}."
            )

    def _is_choice(self) -> bool:
        """Whether neither the user nor a model determines how numbers are written."""
        return self.reading.decimal is None and not self.reading.decimals

    def _category(self, name: str) -> Any:
        texts = self.texts.get(name)
        if texts is None:
            texts = as_texts(self.frame[name])
        made, most = category_texts(texts), self.reading.most_categories
        if most is not None and made.nunique() > most:
            raise ColumnError(
                f"{name} has {made.nunique()} different texts, which is more than the "
                f"{most} that categories may have; leave it out by --drop {quote(name)}.",
                f"{made.nunique()} different texts",
            )
        return made

    def _check_dates(self, name: str) -> None:
        texts = self.texts[name]
        filled = texts[~is_missing(texts)]
        dates = filled.str.fullmatch(_DATE)
        if len(filled) and dates.mean() > MOSTLY:
            dated = f"dates, such as {filled[dates].iloc[0]}"
            raise ColumnError(
                f"{name} holds {dated}; leave it out by --drop {quote(name)}, or take it "
                f"as categories by --categories {quote(name)}.",
                dated,
            )

    def all_notes(self) -> list[str]:
        commas = [name for name, decimal in self.decimals.items() if decimal == COMMA]
        said = [f"Read with a decimal comma: {listed(commas)}."] if commas else []
        if self.signs:
            signs = [f"{sign} in {name}" for name, sign in self.signs.items()]
            said.append(f"Signs left out of numbers: {listed(signs)}.")
        return said + self.notes


def as_texts(column: Any) -> Any:
    """A column as texts; whole numbers have no decimal point, gaps stay missing."""
    if pandas().api.types.is_float_dtype(column):
        values = column.map(lambda value: f"{value:.0f}" if value % 1 == 0 else str(value))
    else:
        values = column.astype(object).map(lambda value: str(value).strip())
    return values.astype(object).where(column.notna(), None)


def category_texts(texts: Any) -> Any:
    """Categories as texts; marks of missing values become missing, truth one spelling."""
    truths = {"true": "True", "false": "False"}
    values = texts.map(lambda text: text, na_action="ignore")
    spelt = values.str.casefold().map(truths) if len(values.dropna()) else values
    found = spelt.where(spelt.notna(), values).astype(object)
    return found.where(~is_missing(texts), np.nan)


def _is_text(column: Any) -> bool:
    types = pandas().api.types
    if isinstance(column.dtype, pandas().CategoricalDtype):
        return False
    return types.is_object_dtype(column) or types.is_string_dtype(column)


def _plain_and_texts(frame: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """Columns of texts in two groups: plain numbers, as floats, and all others, as texts.

    Missing cells are allowed in both.  Many columns are read together, because wide tables
    would take minutes otherwise.
    """
    names = [name for name in frame.columns if _is_text(frame[name])]
    width = max(CELLS_AT_ONCE // max(len(frame), 1), 1)
    plain: dict[str, Any] = {}
    for start in range(0, len(names), width):
        block = names[start : start + width]
        cells = pandas().Series(frame[block].to_numpy(dtype=object).T.ravel())
        texts = cells.map(str).astype(object).where(cells.notna(), None)
        missing = is_missing(texts)
        numbers = pandas().to_numeric(texts.mask(missing), errors="coerce").astype(float)
        shape = (len(block), len(frame))
        values = numbers.to_numpy().reshape(shape)
        is_read = (missing.to_numpy().reshape(shape) | ~np.isnan(values)).all(axis=1)
        for name, row in zip(
            np.array(block, dtype=object)[is_read], values[is_read], strict=True
        ):
            plain[name] = pandas().Series(row, index=frame.index)
    return plain, {name: as_texts(frame[name]) for name in names if name not in plain}


def _written(numerals: dict[str, Numerals]) -> str | None:
    """The decimal mark of a file, if its columns determine it."""
    told = [set(found.told()) for found in numerals.values() if _mostly_numbers(found)]
    if {COMMA} in told and {POINT} not in told:
        return COMMA
    return POINT if any(POINT in each for each in told) else None


def _mostly_numbers(found: Numerals) -> bool:
    return found.n_numbers > MOSTLY * found.n_cells


def _may_be_thousands(texts: Any) -> bool:
    """Whether all points of a column could separate thousands."""
    pointed = texts[texts.str.contains(".", regex=False, na=False) & ~is_missing(texts)]
    return bool(len(pointed) and pointed.str.fullmatch(_EITHER_WAY).all())


def _both_ways(decimal: str) -> tuple[str, str]:
    return (POINT, COMMA) if decimal == POINT else (COMMA, POINT)


def _why(cell: str) -> str:
    """Why a cell cannot be read as a number of its column."""
    meaning = Numerals.of(pandas().Series([cell], dtype=object)).meanings[cell]
    if not meaning.is_number:
        return "which is no number"
    if meaning.is_open:
        return f"which may be {meaning.point:g} or {meaning.comma:g}"
    if meaning.unit:
        return f"whose sign {meaning.unit} other cells do not have"
    return f"which lacks the sign {PERCENT} of other cells"
