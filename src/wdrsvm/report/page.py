"""Self-contained pages: one HTML file with its style and figures inside.

A page loads nothing from the network, and its content policy forbids it.  It follows the
reader's choice of light or dark colours, fits a phone, and can be printed.  It can be read
aloud, because tables have captions and headers, and figures have a text.  The folder
``templates`` has the HTML of each part.  Templates escape all values, unless a template
marks a value as safe.
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from ..files import write_text

POLICY = "default-src 'none'; img-src data:; style-src 'unsafe-inline'"


@cache
def templates() -> Any:
    """The Jinja2 environment of the templates."""
    try:
        import jinja2
    except ImportError:
        raise ImportError(
            'HTML pages need Jinja2: pip install "wdrsvm[report]" brings it.'
        ) from None
    found = jinja2.Environment(
        # By place and not by package: editable installs have no folder of a package.
        loader=jinja2.FileSystemLoader(Path(__file__).parent / "templates"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
    )
    found.filters["cell"] = cell
    found.filters["unbroken"] = unbroken
    found.policies["json.dumps_kwargs"] = {"separators": (",", ":"), "ensure_ascii": False}
    return found


# Options of commands and arguments of functions, after their quotes are escaped.
_OPTION = re.compile(r"--[a-z-]+|\b[a-z_]+=(&#39;\w+&#39;)?")


def unbroken(text: str) -> str:
    """A text as safe HTML, in which no line ends inside an option or before a per cent."""
    import markupsafe

    escaped = str(markupsafe.escape(text)).replace(" %", "&nbsp;%")
    return markupsafe.Markup(_OPTION.sub(r"<code>\g<0></code>", escaped))


class Part:
    """A part of a page; its template has the name of the class."""

    def html(self) -> str:
        """The part as HTML."""
        name = f"{type(self).__name__.lower()}.html"
        return str(templates().get_template(name).render(part=self))

    # Jinja2 calls this method, and does not escape its result.
    __html__ = html


@dataclass(frozen=True)
class Text(Part):
    """A paragraph of plain text.

    Examples
    --------
    >>> from wdrsvm.report import Text
    >>> Text("5 < 6").html()
    '<p>5 &lt; 6</p>'
    """

    text: str


@dataclass(frozen=True)
class Bullets(Part):
    """A list of sentences.

    Examples
    --------
    >>> from wdrsvm.report import Bullets
    >>> Bullets(["one", "two"]).html()
    '<ul><li>one</li><li>two</li></ul>'
    """

    sentences: Sequence[str]


@dataclass(frozen=True)
class Verdict(Part):
    """The main result for a quick reader; ``good`` None is neither good nor bad.

    Examples
    --------
    >>> from wdrsvm.report import Verdict
    >>> Verdict("It holds.", good=True).html()
    '<p class="verdict good"><strong>Holds.</strong> It holds.</p>'
    """

    text: str
    good: bool | None = None


@dataclass(frozen=True)
class Summary(Part):
    """A box in plain words: a verdict, and lines of a name and a text below it.

    Parameters
    ----------
    verdict : str
        What follows from the lines.
    lines : dict of str
        Texts by name.
    good : bool, default=None
        Colour of the box; None is neither good nor bad.

    Examples
    --------
    >>> from wdrsvm.report import Summary
    >>> "<dt>rows</dt><dd>150</dd>" in Summary("Fine.", {"rows": "150"}).html()
    True
    """

    verdict: str
    lines: dict[str, str]
    good: bool | None = None


@dataclass(frozen=True)
class Flags(Part):
    """What to check before use: for each name, what was found and what to do.

    Examples
    --------
    >>> from wdrsvm.report import Flags
    >>> Flags({"Few rows": "Collect more."}).html()
    '<ul class="flags"><li><strong>Few rows.</strong> Collect more.</li></ul>'
    """

    values: dict[str, str]


@dataclass(frozen=True)
class Facts(Part):
    """Names and values, such as versions and sizes.

    Examples
    --------
    >>> from wdrsvm.report import Facts
    >>> Facts({"rows": 150}).html()
    '<dl><dt>rows</dt><dd>150</dd></dl>'
    """

    values: dict[str, Any]


@dataclass(frozen=True)
class Table(Part):
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


def cell(value: Any) -> str:
    """A value as text: four digits of a float, a dash for a missing value."""
    if value is None or value != value:
        return "-"
    if isinstance(value, float):
        return f"{value:.4g}"
    return str(value)


@dataclass(frozen=True)
class Figure(Part):
    """A picture, with a text for readers who do not see it.

    Parameters
    ----------
    svg : bytes
        The picture as SVG.
    caption : str
        Text below the picture.
    alt : str
        What the picture shows, in words.
    is_narrow : bool, default=False
        Whether the picture is as wide as the text, and not as wide as the page.

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
    is_narrow: bool = False

    @property
    def source(self) -> str:
        """The picture as a data address, which contains all of it."""
        return f"data:image/svg+xml;base64,{base64.b64encode(self.svg).decode()}"


@dataclass(frozen=True)
class Section(Part):
    """A heading and the parts below it.

    Examples
    --------
    >>> from wdrsvm.report import Section, Text
    >>> Section("Sizes", [Text("150 rows")]).html()
    '<section><h2>Sizes</h2><p>150 rows</p></section>'
    """

    heading: str
    parts: Sequence[Part]


@dataclass(frozen=True)
class Page(Part):
    """A page of sections.

    Parameters
    ----------
    title : str
        Title, and first heading.
    lead : str
        A sentence or two below the title.
    sections : sequence of Section
        The sections below the lead.
    script : str, default=""
        JavaScript for the parts that need it; no other script is allowed to run.
    style : str, default=""
        CSS for these parts, in addition to the style of every page.

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

    @property
    def policy(self) -> str:
        """The content policy: no network, and no script except this page's, by its hash."""
        if not self.script:
            return POLICY
        digest = base64.b64encode(hashlib.sha256(self.script.encode()).digest()).decode()
        return f"{POLICY}; script-src 'sha256-{digest}'"

    def write(self, path: Path | str) -> Path:
        """Write the page to a file; the file is either complete or unchanged.

        Parameters
        ----------
        path : path
            The file to write.

        Returns
        -------
        Path
            The file.
        """
        return write_text(Path(path), self.html())
