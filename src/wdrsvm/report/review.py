"""The page to check suspicious labels: each row beside the usual rows of two labels.

A reader confirms or corrects labels in the page, and downloads the decisions as a table
for ``wdrsvm relabel``.  The page needs no network, and nothing leaves the browser.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..robustness import LabelAudit
from .page import Page, Part, Section, Text, cell, templates
from .words import counted, listed

# More labels than this make a page that nobody works through; audit again afterwards.
MAX_LABELS = 200
# Columns of a row that fit on a screen.
MAX_COLUMNS = 30
# More than this share is most of them: cells that are numbers, labels that look wrong.
MOSTLY = 0.5
# Names of rows have no usual value.
ALL_DIFFER = "all differ"

HOW = (
    "Every label was judged by models that never saw it. Beside each row stand the usual "
    "values of the rows with the given label and with the suggested one: medians of "
    "numbers, and the most frequent texts, unless all texts differ. Rows are counted "
    "from 0.",
    "Decide as many labels as you like, then download the list. The command wdrsvm relabel "
    "writes a table with these labels, in which every label that you looked at is trusted.",
)


@dataclass(frozen=True)
class Suspect:
    """A label to check; ``cells`` has name, value, usual of given, usual of suggested."""

    row: int
    given: str
    suggested: str
    wrong: str
    cells: Sequence[tuple[str, str, str, str]]


@dataclass(frozen=True)
class Review(Part):
    """The labels to decide, a part of a page; it needs its script and style."""

    suspects: Sequence[Suspect]
    classes: Sequence[str]


def review_page(
    audit: LabelAudit,
    *,
    table: Any = None,
    rows: Any = None,
    given: Any = None,
    title: str = "Labels to check",
    lead: str = "The most suspicious labels come first.",
    n_labels: int | None = None,
) -> Page:
    """A page on which a person confirms or corrects suspicious labels.

    Parameters
    ----------
    audit : LabelAudit
        Result of :func:`wdrsvm.audit_labels`.
    table : pandas.DataFrame, default=None
        Columns to show, one row for each label of the audit, in the order of its data.
    rows : array-like of shape (n_samples,), default=None
        Numbers of the rows in the user's table; None counts them from 0.
    given : array-like of shape (n_samples,), default=None
        Labels as the user's table writes them; None takes those of the audit.
    title, lead : str
        Title of the page, and the sentence below it.
    n_labels : int, default=None
        How many labels to show, 200 at most; None shows those worth a check.

    Returns
    -------
    Page
        The page; its method ``write`` makes the file.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from wdrsvm import audit_labels
    >>> from wdrsvm.report import review_page
    >>> X, y = load_wine(return_X_y=True, as_frame=True)
    >>> page = review_page(audit_labels(X, y), table=X, n_labels=5)
    >>> page.html().count("<fieldset")
    5
    """
    asked = audit.n_suspects if n_labels is None else n_labels
    shown = min(asked, MAX_LABELS, len(audit.row))
    texts = _in_data_order(audit, given)
    usual = _Usual(table, texts)
    suspects = [
        Suspect(
            int(row if rows is None else rows[row]),
            str(texts[row]),
            str(audit.suggested[k]),
            percent(float(audit.wrong_probability[k])),
            usual.beside(row, str(texts[row]), str(audit.suggested[k])),
        )
        for k, row in enumerate(audit.row[:shown])
    ]
    classes = sorted({*map(str, audit.given), *map(str, texts)})
    said = [
        audit.sentence(),
        *mostly_suspected(audit),
        *HOW,
        *_about_cuts(asked, shown, usual),
    ]
    sections = [Section("How sure", [Text(sentence) for sentence in said])]
    if suspects:
        sections.append(Section("Labels", [Review(suspects, classes)]))
    script, style = (
        templates().get_template(f"review.{kind}").render() for kind in ("js", "css")
    )
    return Page(title, lead, sections, script=script if suspects else "", style=style)


def mostly_suspected(audit: LabelAudit) -> list[str]:
    """A warning about classes that are suspected as a whole: they may only be rare.

    Parameters
    ----------
    audit : LabelAudit
        Result of :func:`wdrsvm.audit_labels`.

    Returns
    -------
    list of str
        One sentence pair, or nothing.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from wdrsvm import audit_labels
    >>> from wdrsvm.report.review import mostly_suspected
    >>> mostly_suspected(audit_labels(*load_iris(return_X_y=True)))
    []
    """
    all_rows = Counter(map(str, audit.given))
    doubted = Counter(map(str, audit.given[: audit.n_suspects]))
    most = [
        f"{name} ({n} of {all_rows[name]})"
        for name, n in sorted(doubted.items())
        if n > MOSTLY * all_rows[name]
    ]
    if not most:
        return []
    return [
        f"Most labels of these classes look wrong: {listed(most)}. A class with few rows "
        "is hard to learn, and its labels may look wrong for this reason alone: confirm "
        "them before you change them."
    ]


def percent(probability: float) -> str:
    """A probability in words that promise no certainty."""
    return "more than 99 %" if probability > 0.99 else f"{100 * probability:.0f} %"


def _in_data_order(audit: LabelAudit, given: Any) -> Any:
    if given is not None:
        return np.asarray(given, dtype=object)
    texts = np.empty(len(audit.row), dtype=object)
    texts[audit.row] = audit.given
    return texts


def _about_cuts(asked: int, shown: int, usual: _Usual) -> list[str]:
    said = []
    if asked > shown:
        first = counted(shown, "label is", "labels are")
        said.append(f"The first {first} shown; decide these and audit again.")
    if usual.n_hidden:
        hidden = counted(usual.n_hidden, "column is", "columns are")
        said.append(f"{hidden} not shown.")
    return said


class _Usual:
    """Usual values of each column, for the rows of each label."""

    def __init__(self, table: Any, labels: Any) -> None:
        self.labels = np.array([str(label) for label in labels])
        names = [] if table is None else list(table.columns)
        self.n_hidden = max(0, len(names) - MAX_COLUMNS)
        self.columns = {name: table[name] for name in names[:MAX_COLUMNS]}
        self.numbers = {name: _numbers(values) for name, values in self.columns.items()}
        self.known: dict[tuple[Any, str], str] = {}

    def beside(
        self, row: int, given: str, suggested: str
    ) -> list[tuple[str, str, str, str]]:
        return [
            (
                str(name),
                cell(values.iloc[row]),
                self._of(name, given),
                self._of(name, suggested),
            )
            for name, values in self.columns.items()
        ]

    def _of(self, name: Any, label: str) -> str:
        key = (name, label)
        if key not in self.known:
            self.known[key] = self._usual(name, self.labels == label)
        return self.known[key]

    def _usual(self, name: Any, rows: Any) -> str:
        numbers = self.numbers[name]
        if numbers is not None:
            return cell(float(numbers[rows].median()))
        counts = self.columns[name][rows].value_counts()
        if len(counts) > 1 and counts.iloc[0] == 1:
            return ALL_DIFFER
        return cell(self.columns[name][rows].mode().iloc[0] if len(counts) else None)


def _numbers(values: Any) -> Any:
    """A column as numbers, or None if most of its cells are something else."""
    import pandas

    numbers = pandas.to_numeric(values, errors="coerce")
    filled = values.notna().sum()
    return numbers if numbers.notna().sum() > MOSTLY * max(filled, 1) else None
