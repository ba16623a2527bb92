"""Counts and shares in plain English."""

from __future__ import annotations


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


def share(part: float) -> str:
    """A measured share in per cent, to one decimal; promises are rounded up elsewhere.

    Examples
    --------
    >>> from wdrsvm.report.words import share
    >>> share(0.0406), share(1.0)
    ('4.1 %', '100 %')
    """
    return f"{round(100 * part, 1):g} %"
