"""Results in a notebook: a line of text and small tables, without style or script."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import Any

import numpy as np

# Notebooks centre captions and align cells to the right.
LEFT = 'style="text-align: left"'
# Captions are longer than narrow tables.
CAPTION = 'style="text-align: left; white-space: nowrap"'
# Most rows of a table in a notebook.
SHOWN = 10


def html_table(
    caption: str, header: Sequence[str], rows: Iterable[Sequence[Any]], n_rows: int = 0
) -> str:
    """A table; ``n_rows`` is the number of all rows, if only some of them are shown.

    Examples
    --------
    >>> from wdrsvm.robustness.notebook import html_table
    >>> "a&lt;b</td>" in html_table("Sizes", ["name"], [["a<b"]])
    True
    """
    head = "".join(f'<th scope="col" {LEFT}>{escape(name)}</th>' for name in header)
    lines = [
        "".join(f"<td {LEFT}>{escape(shown(value))}</td>" for value in row) for row in rows
    ]
    more = n_rows - len(lines)
    told = f"{caption}, the first {len(lines)} of {n_rows}" if more > 0 else caption
    body = "".join(f"<tr>{line}</tr>" for line in lines)
    return (
        f"<table><caption {CAPTION}>{escape(told)}</caption><thead><tr>{head}</tr></thead>"
        f"<tbody>{body}</tbody></table>"
    )


def html_facts(caption: str, facts: dict[str, Any]) -> str:
    """A table of names and values."""
    lines = "".join(
        f'<tr><th scope="row" {LEFT}>{escape(name)}</th>'
        f"<td {LEFT}>{escape(shown(value))}</td></tr>"
        for name, value in facts.items()
    )
    told = f"<caption {CAPTION}>{escape(caption)}</caption>"
    return f"<table>{told}<tbody>{lines}</tbody></table>"


def html_result(result: Any, *tables: str) -> str:
    """A sentence, or the text of a result, and tables below it."""
    told = result if isinstance(result, str) else repr(result)
    return f"<div><p>{escape(told)}</p>{''.join(tables)}</div>"


def shown(value: Any) -> str:
    """A value as text, floats with four digits."""
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def share(part: float) -> str:
    """A measured share in per cent, to one decimal; promises are rounded up elsewhere.

    Examples
    --------
    >>> from wdrsvm.robustness.notebook import share
    >>> share(0.0406), share(1.0)
    ('4.1 %', '100 %')
    """
    return f"{round(100 * part, 1):g} %"


def told_cost(cost: Any) -> str:
    """A label cost as text: a number, or that it is a matrix."""
    return f"{cost:.4g}" if np.ndim(cost) == 0 else "matrix"
