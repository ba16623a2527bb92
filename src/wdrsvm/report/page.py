"""Pages that stand alone: one HTML file with its style and figures inside.

A page asks for nothing from the network and forbids it by its content policy, follows the
reader's choice of light or dark, fits a phone, prints, and can be read aloud: tables have
captions and heads, figures have a text in their place.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from html import escape
from importlib.resources import files
from pathlib import Path
from typing import Any, Protocol

from ..files import write_text

POLICY = "default-src 'none'; img-src data:; style-src 'unsafe-inline'"


class Part(Protocol):
    """Anything that can be shown on a page."""

    def html(self) -> str:
        """The part as HTML."""


@dataclass(frozen=True)
class Text:
    """A paragraph of plain text.

    Examples
    --------
    >>> from wdrsvm.report import Text
    >>> Text("5 < 6").html()
    '<p>5 &lt; 6</p>'
    """

    text: str

    def html(self) -> str:
        """The part as HTML."""
        return f"<p>{escape(self.text)}</p>"


@dataclass(frozen=True)
class Bullets:
    """A list of sentences.

    Examples
    --------
    >>> from wdrsvm.report import Bullets
    >>> Bullets(["one", "two"]).html()
    '<ul><li>one</li><li>two</li></ul>'
    """

    sentences: Sequence[str]

    def html(self) -> str:
        """The part as HTML."""
        return f"<ul>{''.join(f'<li>{escape(text)}</li>' for text in self.sentences)}</ul>"


@dataclass(frozen=True)
class Verdict:
    """What a reader in a hurry should take away; ``good`` None is neither good nor bad.

    Examples
    --------
    >>> from wdrsvm.report import Verdict
    >>> Verdict("It holds.", good=True).html()
    '<p class="verdict good"><strong>Holds.</strong> It holds.</p>'
    """

    text: str
    good: bool | None = None

    def html(self) -> str:
        """The part as HTML."""
        # Colour alone would not reach everyone.
        kind, word = {
            True: ("good", "Holds."),
            False: ("bad", "Does not hold."),
            None: ("open", "In short."),
        }[self.good]
        said = f"<strong>{word}</strong> {escape(self.text)}"
        return f'<p class="verdict {kind}">{said}</p>'


@dataclass(frozen=True)
class Facts:
    """Names and values, such as versions and sizes.

    Examples
    --------
    >>> from wdrsvm.report import Facts
    >>> Facts({"rows": 150}).html()
    '<dl><dt>rows</dt><dd>150</dd></dl>'
    """

    values: dict[str, Any]

    def html(self) -> str:
        """The part as HTML."""
        pairs = (
            f"<dt>{escape(str(name))}</dt><dd>{escape(cell(value))}</dd>"
            for name, value in self.values.items()
        )
        return f"<dl>{''.join(pairs)}</dl>"


@dataclass(frozen=True)
class Table:
    """A table with a caption; the first column names the rows.

    Parameters
    ----------
    caption : str
        What the table shows.
    header : sequence of str
        Names of the columns.
    rows : sequence of sequences
        Values; numbers are shown with four digits.

    Examples
    --------
    >>> from wdrsvm.report import Table
    >>> "<caption>Sizes</caption>" in Table("Sizes", ["name", "n"], [["iris", 150]]).html()
    True
    """

    caption: str
    header: Sequence[str]
    rows: Sequence[Sequence[Any]]

    @classmethod
    def of_frame(cls, caption: str, frame: Any) -> Table:
        """A table of a data frame, without its index.

        Parameters
        ----------
        caption : str
            What the table shows.
        frame : pandas DataFrame
            The values.

        Returns
        -------
        Table
            The table.
        """
        return cls(caption, list(frame.columns), frame.to_numpy(dtype=object).tolist())

    def html(self) -> str:
        """The part as HTML."""
        head = "".join(f'<th scope="col">{escape(str(name))}</th>' for name in self.header)
        body = "".join(_row(row) for row in self.rows)
        # A wide table scrolls by itself, also by keyboard.
        return (
            f'<div class="scroll" tabindex="0" role="region" '
            f'aria-label="{escape(self.caption)}">'
            f"<table><caption>{escape(self.caption)}</caption>"
            f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"
        )


def _row(row: Sequence[Any]) -> str:
    name, *values = row
    cells = "".join(f"<td{_numeric(value)}>{escape(cell(value))}</td>" for value in values)
    return f'<tr><th scope="row">{escape(cell(name))}</th>{cells}</tr>'


def _numeric(value: Any) -> str:
    return "" if isinstance(value, str) else ' class="number"'


def cell(value: Any) -> str:
    """A value as text: four digits of a float, a dash for what is missing."""
    if value is None or value != value:
        return "-"
    if isinstance(value, float):
        return f"{value:.4g}"
    return str(value)


@dataclass(frozen=True)
class Figure:
    """A picture, with a text for those who do not see it.

    Parameters
    ----------
    svg : bytes
        The picture as SVG.
    caption : str
        Text below the picture.
    alt : str
        What the picture shows, in words.

    Examples
    --------
    >>> from wdrsvm.report import Figure
    >>> figure = Figure(b"<svg/>", "A curve.", "The curve falls from 1 to 0.")
    >>> figure.html().startswith('<figure><img src="data:image/svg+xml;base64,')
    True
    """

    svg: bytes
    caption: str
    alt: str

    def html(self) -> str:
        """The part as HTML."""
        # Inside an img the ids of several figures do not meet.
        source = f"data:image/svg+xml;base64,{base64.b64encode(self.svg).decode()}"
        return (
            f'<figure><img src="{source}" alt="{escape(self.alt)}">'
            f"<figcaption>{escape(self.caption)}</figcaption></figure>"
        )


@dataclass(frozen=True)
class Section:
    """A heading and what is below it.

    Examples
    --------
    >>> from wdrsvm.report import Section, Text
    >>> Section("Sizes", [Text("150 rows")]).html()
    '<section><h2>Sizes</h2><p>150 rows</p></section>'
    """

    heading: str
    parts: Sequence[Part]

    def html(self) -> str:
        """The part as HTML."""
        inside = "".join(part.html() for part in self.parts)
        return f"<section><h2>{escape(self.heading)}</h2>{inside}</section>"


@dataclass(frozen=True)
class Page:
    """A page of sections.

    Parameters
    ----------
    title : str
        Title, and first heading.
    lead : str
        A sentence or two below it.
    sections : sequence of Section
        What follows.
    script : str, default=""
        JavaScript of the parts that need any; no other is allowed to run.
    style : str, default=""
        CSS of these parts, beside the page's own.

    Examples
    --------
    >>> from wdrsvm.report import Page, Section, Text
    >>> page = Page("Sizes", "How large the tables are.", [Section("Iris", [Text("150")])])
    >>> "<h1>Sizes</h1>" in page.html()
    True
    """

    title: str
    lead: str
    sections: Sequence[Section] = field(default_factory=tuple)
    script: str = ""
    style: str = ""

    def html(self) -> str:
        """The whole document."""
        style = files(__package__).joinpath("page.css").read_text(encoding="utf-8")
        body = "\n".join(section.html() for section in self.sections)
        script = f"<script>{self.script}</script>\n" if self.script else ""
        return (
            '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
            f'<meta http-equiv="Content-Security-Policy" content="{self._policy()}">\n'
            '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
            '<meta name="color-scheme" content="light dark">\n'
            '<link rel="icon" href="data:,">\n'
            f"<title>{escape(self.title)}</title>\n<style>\n{style}{self.style}</style>\n</head>\n"
            f"<body>\n<header><h1>{escape(self.title)}</h1><p>{escape(self.lead)}</p>"
            f"</header>\n<main>\n{body}\n</main>\n{script}</body>\n</html>\n"
        )

    def _policy(self) -> str:
        """Nothing from the network, and no script but the page's own, known by its sum."""
        if not self.script:
            return POLICY
        digest = base64.b64encode(hashlib.sha256(self.script.encode()).digest()).decode()
        return f"{POLICY}; script-src 'sha256-{digest}'"

    def write(self, path: Path | str) -> Path:
        """Write the page to a file, whole or not at all.

        Parameters
        ----------
        path : path
            Where to.

        Returns
        -------
        Path
            The file.
        """
        return write_text(Path(path), self.html())
