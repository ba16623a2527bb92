"""Columns that do not help to predict: identifiers, names, a single value."""

from __future__ import annotations

from shlex import quote
from typing import Any

from ...report.model.id_columns import FEW_ROWS, is_almost_unique, is_id
from .columns import CATEGORIES, NUMBERS, Columns
from .files import listed
from .numerals import MISSING_MARKS

DOES = {"drop": "leaves {them} out", "categories": "takes {them} as categories"}


def suspicions(columns: Columns, raw: Any) -> list[str]:
    """Notes about columns that perhaps should be left out, or be categories."""
    frame, kinds = columns.frame, columns.kinds
    if len(frame) < FEW_ROWS:
        return []
    constant = [name for name in frame.columns if _is_constant(frame[name])]
    ids = [name for name in kinds[NUMBERS] if is_id(frame[name].to_numpy(), name)]
    names = [name for name in kinds[CATEGORIES] if is_almost_unique(frame[name])]
    codes = [name for name in kinds[NUMBERS] if _is_code(raw[name].to_numpy())]
    told = (
        (ids, "Looks like an identifier, which tells nothing of other rows", "drop"),
        (names, "Texts that differ in almost every row", "drop"),
        (constant, "The same value in every row, which tells nothing", "drop"),
        (codes, "Numbers with leading zeros, as codes have", "categories"),
    )
    return [
        f"{what}: {listed(found)}; --{option} {quote(','.join(found))} "
        f"{DOES[option].format(them='it' if len(found) == 1 else 'them')}."
        for found, what, option in told
        if found
    ]


def _is_constant(column: Any) -> bool:
    return bool(column.nunique(dropna=False) == 1)


def _is_code(cells: Any) -> bool:
    """Whether all cells are digits and some begin with a zero, unlike numbers."""
    texts = [cell.strip() for cell in cells if isinstance(cell, str)]
    texts = [text for text in texts if text.casefold() not in MISSING_MARKS]
    has_zeros = any(text[0] == "0" and len(text) > 1 for text in texts)
    return has_zeros and all(text.isdecimal() for text in texts)
