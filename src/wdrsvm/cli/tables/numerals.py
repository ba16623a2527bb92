"""Numbers as people write them: decimal commas, thousands separators, currencies.

A text is read with a decimal point or with a decimal comma.  Texts such as ``1,234`` fit
both, with different values.  Texts such as ``5,1`` and ``1,234.00`` fit only one of them,
and show how the numbers of their column are written.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

POINT, COMMA = "point", "comma"
DECIMALS = (POINT, COMMA)
_MARK = {POINT: ".", COMMA: ","}
# Marks of missing values, in small letters.
MISSING_MARKS = frozenset(
    (
        *("", "?", "-", "--", "---", ".", "..", "*", "\N{EN DASH}", "\N{EM DASH}"),
        *("na", "n/a", "n.a.", "#n/a", "#na", "#n/a n/a", "<na>", "nan", "-nan", "#null!"),
        *("null", "none", "nil", "missing", "#value!", "#div/0!", "1.#ind", "-1.#ind"),
        *("1.#qnan", "-1.#qnan"),
    )
)
PERCENT = "%"
CURRENCIES = frozenset(("eur", "usd", "gbp", "chf", "jpy", "cny", "inr", "aud", "cad"))
_UNIT = r"(?:[^\w\s.,'+\-()]|[A-Za-z]{3})?"
_MARKS = (
    " '\N{NO-BREAK SPACE}\N{NARROW NO-BREAK SPACE}\N{THIN SPACE}"
    "\N{RIGHT SINGLE QUOTATION MARK}"
)
_PARTS = re.compile(rf"([+-]?)\s*({_UNIT})\s*([+-]?)(\d.*?|[.,]\d.*?)\s*({_UNIT})")
_GROUPS = re.compile(
    rf"[1-9]\d{{0,2}}(?P<mark>[{_MARKS}])\d{{3}}(?:(?P=mark)\d{{3}})*(?=\D|$)"
)
_EXPONENT = r"(?:[eE][+-]?\d+)?"
_WRITTEN = {
    decimal: re.compile(
        rf"(?:[1-9]\d{{0,2}}(?:{group}\d{{3}})+|\d*)(?:{mark}\d*)?{_EXPONENT}"
    )
    for decimal, mark, group in ((POINT, r"\.", ","), (COMMA, ",", r"\."))
}


@dataclass(frozen=True)
class Numeral:
    """The values of a text with a decimal point and with a decimal comma, None if none."""

    point: float | None
    comma: float | None
    unit: str = ""

    @property
    def is_number(self) -> bool:
        return self.point is not None or self.comma is not None

    @property
    def tells(self) -> str | None:
        """The decimal mark of the text, if only one is possible."""
        if self.point is None:
            return None if self.comma is None else COMMA
        return POINT if self.comma is None else None

    @property
    def is_open(self) -> bool:
        """Whether both decimal marks give a number, and the numbers differ."""
        return self.is_number and self.tells is None and self.point != self.comma

    def value(self, decimal: str) -> float | None:
        return self.point if decimal == POINT else self.comma


def numeral(text: str) -> Numeral:
    """The possible values of a text.

    Examples
    --------
    >>> numeral("1.234,5").comma, numeral("$5.1").point, numeral("12 %").unit
    (1234.5, 5.1, '%')
    >>> numeral("1,234").is_open, numeral("abc").is_number
    (True, False)
    """
    plain = _infinite(text)
    if plain is not None:
        return Numeral(plain, plain)
    parts = _PARTS.fullmatch(text.strip().replace("\N{MINUS SIGN}", "-"))
    if parts is None:
        return Numeral(None, None)
    sign, before, inner, body, after = parts.groups()
    units = {unit for unit in (before, after) if unit}
    if len(units) > 1 or not all(map(_is_unit, units)) or (sign and inner):
        return Numeral(None, None)
    body = _GROUPS.sub(_joined, body)
    point, comma = (_value(body, decimal, sign + inner) for decimal in DECIMALS)
    return Numeral(point, comma, next(iter(units), "").casefold())


def _infinite(text: str) -> float | None:
    bare = text.strip().casefold().lstrip("+-")
    if bare not in ("inf", "infinity"):
        return None
    return -np.inf if text.strip().startswith("-") else np.inf


def _is_unit(unit: str) -> bool:
    known = unit == PERCENT or unit.casefold() in CURRENCIES
    return known or (len(unit) == 1 and unicodedata.category(unit) == "Sc")


def _joined(groups: re.Match[str]) -> str:
    return groups[0].replace(groups["mark"], "")


def _value(body: str, decimal: str, sign: str) -> float | None:
    if not _WRITTEN[decimal].fullmatch(body) or not re.search(r"\d", body):
        return None
    group, mark = (",", ".") if decimal == POINT else (".", ",")
    number = float(body.replace(group, "").replace(mark, "."))
    return -number if sign == "-" else number


def is_missing(texts: Any) -> Any:
    """Which cells of a column of texts are missing or have a mark of a missing value."""
    return texts.isna() | texts.str.strip().str.casefold().isin(MISSING_MARKS)


@dataclass(frozen=True, eq=False)
class Numerals:
    """The different texts of a column with their counts, without missing cells."""

    counts: dict[str, int]
    meanings: dict[str, Numeral]

    @classmethod
    def of(cls, texts: Any) -> Numerals:
        counts = texts[~is_missing(texts)].value_counts().to_dict()
        return cls(counts, {text: numeral(text) for text in counts})

    @property
    def n_cells(self) -> int:
        return sum(self.counts.values())

    @property
    def n_numbers(self) -> int:
        return self._count(text for text, each in self.meanings.items() if each.is_number)

    def told(self) -> Counter[str]:
        """For each decimal mark, the number of cells that can have only this mark."""
        found: Counter[str] = Counter()
        for text, each in self.meanings.items():
            if each.tells is not None:
                found[each.tells] += self.counts[text]
        return found

    def decimal(self, otherwise: str) -> str:
        """The decimal mark of the column, by the majority of the cells with only one."""
        told = self.told()
        if not told:
            return otherwise
        return max(DECIMALS, key=lambda decimal: told[decimal])

    def open_texts(self) -> list[str]:
        """Texts to which both decimal marks give a number, with different values."""
        return [text for text, each in self.meanings.items() if each.is_open]

    def unit(self) -> str:
        """The most frequent sign, among signs that change the meaning of a number."""
        units: Counter[str] = Counter()
        for text, each in self.meanings.items():
            if each.is_number:
                units[each.unit] += self.counts[text]
        if units[PERCENT]:
            return max((PERCENT, ""), key=lambda unit: units[unit])
        currencies = [unit for unit in units if unit]
        return max(currencies, key=lambda unit: units[unit]) if currencies else ""

    def values(self, decimal: str, unit: str) -> dict[str, float]:
        """The number of each text that can be read; other texts are left out.

        If a column has both decimal marks, a text such as ``5,100`` cannot be read.
        """
        is_mixed = len(self.told()) > 1
        found = {}
        for text, each in self.meanings.items():
            value = each.value(decimal)
            if value is None:
                value = each.value(each.tells or decimal)
            is_open = is_mixed and each.is_open and _MARK[_other(decimal)] in text
            if value is not None and not is_open and _same_unit(each.unit, unit):
                found[text] = value
        return found

    def _count(self, texts: Iterable[str]) -> int:
        return sum(self.counts[text] for text in texts)


def _other(decimal: str) -> str:
    return COMMA if decimal == POINT else POINT


def _same_unit(given: str, unit: str) -> bool:
    """Whether a sign fits: currencies may be absent, per cent is everywhere or nowhere."""
    return given == unit or (given == "" and unit != PERCENT)
