"""Counts and shares in plain English."""

from __future__ import annotations

from typing import Any

from ..robustness.notebook import share as share

# Largest number of names that a sentence lists.
NAMED = 5


def counted(number: int, one: str, many: str) -> str:
    """A number and its noun, with a verb if the sentence has one.

    Parameters
    ----------
    number : int
        How many there are.
    one : str
        What follows the number 1.
    many : str
        What follows every other number.

    Returns
    -------
    str
        Both, with a space between.

    Examples
    --------
    >>> from wdrsvm.report.words import counted
    >>> counted(1, "row is", "rows are"), counted(0, "row is", "rows are")
    ('1 row is', '0 rows are')
    """
    return f"{number} {one if number == 1 else many}"


def listed(names: list[Any]) -> str:
    """The first few names, and the number of the others.

    Examples
    --------
    >>> from wdrsvm.report.words import listed
    >>> listed(["a", "b"]), listed(list("abcdefg"))
    ('a, b', 'a, b, c, d, e and 2 more')
    """
    shown = ", ".join(str(name) for name in names[:NAMED])
    more = len(names) - NAMED
    return f"{shown} and {more} more" if more > 0 else shown
