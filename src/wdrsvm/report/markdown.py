"""Parts of a page as Markdown, for model cards, reviews and wikis."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import singledispatch
from typing import Any

from .page import Bullets, Facts, Figure, Flags, Part, Section, Summary, Table, Text, cell

# Characters that Markdown would read as markup.  An underscore inside a word is none.
_MARKUP = re.compile(r"[\\`*<>\[\]|]|(?<!\w)_|_(?!\w)")
# At the start of a line these make a heading, a list or a quotation.
_AT_START = re.compile(r"^(\s*)([#+\-]|\d+[.)])(?=\s)")


def plain(text: str) -> str:
    """A text on one line, of which Markdown reads nothing as markup.

    Examples
    --------
    >>> from wdrsvm.report.markdown import plain
    >>> print(plain("a|b *c* bill_length"))
    a\\|b \\*c\\* bill_length
    """
    escaped = _MARKUP.sub(r"\\\g<0>", " ".join(text.split()))
    return _AT_START.sub(r"\1\\\2", escaped)


@singledispatch
def markdown(part: Any) -> str:
    """A part of a page as Markdown."""
    raise TypeError(f"part must be a part of a page, got {type(part).__name__}.")


def joined(parts: Iterable[Part]) -> str:
    """Several parts, with an empty line between."""
    return "\n\n".join(markdown(part) for part in parts)


@markdown.register
def _(part: Text) -> str:
    return plain(part.text)


@markdown.register
def _(part: Bullets) -> str:
    return "\n".join(f"- {plain(text)}" for text in part.sentences)


@markdown.register
def _(part: Flags) -> str:
    return "\n".join(
        f"- **{plain(name)}.** {plain(text)}" for name, text in part.values.items()
    )


@markdown.register
def _(part: Summary) -> str:
    lines = (f"- {plain(name)}: {plain(text)}" for name, text in part.lines.items())
    return "\n".join([f"**{plain(part.verdict)}**", "", *lines])


@markdown.register
def _(part: Facts) -> str:
    return "\n".join(
        f"- {plain(name)}: {plain(cell(value))}" for name, value in part.values.items()
    )


@markdown.register
def _(part: Table) -> str:
    rows = [part.header, ["---"] * len(part.header), *part.rows]
    lines = [
        "| " + " | ".join(value if k == 1 else plain(cell(value)) for value in row) + " |"
        for k, row in enumerate(rows)
    ]
    return "\n".join([f"{plain(part.caption)}:", "", *lines])


@markdown.register
def _(part: Figure) -> str:
    """The words of a figure, because Markdown cannot hold the picture itself."""
    return f"{plain(part.caption)} {plain(part.alt)}"


@markdown.register
def _(part: Section) -> str:
    return f"## {plain(part.heading)}\n\n{joined(part.parts)}"
