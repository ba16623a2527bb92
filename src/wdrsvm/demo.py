"""Wine with wrong labels: find them, train without them, say what the result withstands.

Run it with ``make demo``, ``wdrsvm demo`` or ``python -m wdrsvm.demo``.
"""

from __future__ import annotations

import argparse
import textwrap
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from sklearn.datasets import load_wine
from sklearn.model_selection import train_test_split
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler

from .datasets import flip_labels
from .estimators import RobustLogisticRegressionCV
from .problem import WassersteinBall
from .report import Page, Section, Table, Text
from .report.model.baselines import LOGISTIC, Baselines
from .report.model.promise import BUDGET, DEVIATIONS, Movement, Promise, at_most, promise_of
from .report.model.rates import rate_parts
from .report.model.verdict import summary_of
from .report.page import Part
from .report.review import percent
from .report.words import counted, share

PAGE = Path("wdrsvm-demo.html")
WRONG_SHARE = 0.2
N_SHOWN = 5
SUSPECT_HEADER = ("row", "given", "suggested", "doubt", "truth")
MOVEMENT = Movement(WassersteinBall(BUDGET), DEVIATIONS)
CODE = """\
model = make_pipeline(StandardScaler(), RobustLogisticRegressionCV(label_noise="random"))
model.fit(X_train, y_train)
model[-1].suspects()"""
NEXT = {
    "your own table": "wdrsvm audit TABLE.csv --target COLUMN --out suspects.csv",
    "a classifier": "wdrsvm fit TABLE.csv --target COLUMN --doubt-labels --out MODEL",
    "a page about it": "wdrsvm report MODEL TABLE.csv --out PAGE.html",
    "in Python": "docs/tutorial.rst, ten minutes",
}


class WineTable(NamedTuple):
    """Training rows with some wrong labels, and test rows whose labels are right."""

    X_train: Any
    y_train: Any
    truth: Any
    X_test: Any
    y_test: Any

    @property
    def wrong(self) -> Any:
        return self.y_train != self.truth


class Chapter(NamedTuple):
    """A piece of the story; ``parts`` are on the page only."""

    title: str
    text: str
    suspects: Sequence[tuple[str, ...]] = ()
    parts: Sequence[Part] = ()


class Findings(NamedTuple):
    """The fitted pipeline, and how well its disbelief agrees with the truth."""

    model: Pipeline
    seconds: float
    suspects: Any
    n_found: int
    n_false: int


def wine_table() -> WineTable:
    """Wine, with a fifth of the training labels changed at random."""
    wine = load_wine()
    kind = wine.target_names[wine.target]
    X_train, X_test, truth, y_test = train_test_split(
        wine.data, kind, test_size=0.3, stratify=kind, random_state=0
    )
    labels = flip_labels(truth, WRONG_SHARE, random_state=1)
    return WineTable(X_train, labels, truth, X_test, y_test)


def findings(table: WineTable) -> Findings:
    """Train, and compare the labels that were not believed with the wrong ones."""
    search = RobustLogisticRegressionCV(label_noise="random")
    began = time.perf_counter()
    model = make_pipeline(StandardScaler(), search).fit(table.X_train, table.y_train)
    seconds = time.perf_counter() - began
    suspects = search.suspects()
    listed = suspects.row[: suspects.n_suspects]
    n_found = int(table.wrong[listed].sum())
    return Findings(model, seconds, suspects, n_found, len(listed) - n_found)


def promise_on_test_rows(table: WineTable, model: Pipeline) -> Promise:
    """Error rates on test rows, beside a logistic regression on the same training rows."""
    scaler = model[:-1]
    rivals = Baselines.learned(scaler.transform(table.X_train), table.y_train)
    rows = scaler.transform(table.X_test), table.y_test
    return promise_of(model[-1], *rows, rivals, MOVEMENT, "test")


def suspect_lines(table: WineTable, suspects: Any) -> list[tuple[str, ...]]:
    """The most suspicious labels, with the truth beside them."""
    given, suggested, truth = suspects.given, suspects.suggested, table.truth[suspects.row]
    doubt = [percent(float(each)) for each in suspects.doubt]
    lines = zip(map(str, suspects.row), given, suggested, doubt, truth, strict=True)
    return [tuple(map(str, line)) for line in lines][:N_SHOWN]


def chapters(table: WineTable) -> Iterator[Chapter]:
    """The story; each chapter is told when its numbers are there."""
    n_wrong = table.wrong.sum()
    yield Chapter(
        "A table with wrong labels",
        f"Wine: {len(table.truth)} training rows, {table.X_train.shape[1]} features, "
        f"3 classes. {n_wrong} labels are wrong. The classifier is not told which, nor how "
        "many.",
    )
    found = findings(table)
    yield Chapter(
        "Which labels are wrong?",
        f"It suspects {found.suspects.n_suspects} labels, after {found.seconds:.1f} "
        f"seconds: {found.n_found} of the {n_wrong} wrong ones, and "
        f"{counted(found.n_false, 'right one', 'right ones')}. The most suspicious:",
        suspect_lines(table, found.suspects),
    )
    promise = promise_on_test_rows(table, found.model)
    yield Chapter("A classifier that does not believe them", _compared(promise))
    box = summary_of(promise)
    yield Chapter(
        "What it withstands", promise.about_model(), (), [box, *rate_parts(promise)]
    )


def _compared(promise: Promise) -> str:
    logistic = promise.logistic
    assert logistic is not None
    own, other = promise.rates, logistic
    return (
        f"Of {promise.rows}, whose labels are right, it classifies {share(own.error)} "
        f"wrongly; {LOGISTIC}, trained on the same labels: {share(other.error)}. If the "
        f"rows move by {MOVEMENT.told()} on average: {at_most(own.worst_case_error)}; "
        f"{LOGISTIC} {at_most(other.worst_case_error)}."
    )


def in_columns(rows: Sequence[tuple[str, ...]]) -> str:
    """Rows of cells as a text table."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join(
        "   " + "  ".join(c.ljust(w) for c, w in zip(row, widths, strict=True)).rstrip()
        for row in rows
    )


def told(number: int, chapter: Chapter) -> str:
    """A chapter for the terminal."""
    text = textwrap.fill(chapter.text, 88, initial_indent="   ", subsequent_indent="   ")
    lines = [f"\n{number}. {chapter.title}", text]
    if chapter.suspects:
        lines += ["", in_columns([SUSPECT_HEADER, *chapter.suspects])]
    return "\n".join(lines)


def section(chapter: Chapter) -> Section:
    """A chapter for the page."""
    parts: list[Part] = [Text(chapter.text)]
    if chapter.suspects:
        table = Table("The most suspicious labels", SUSPECT_HEADER, [*chapter.suspects])
        parts.append(table)
    return Section(chapter.title, [*parts, *chapter.parts])


def main(out: Path = PAGE) -> None:
    """Tell the story while it is computed, and write it as a page."""
    table, sections = wine_table(), []
    for number, chapter in enumerate(chapters(table), 1):
        print(told(number, chapter), flush=True)
        sections.append(section(chapter))
    print(f"\nThe code:\n\n{CODE}\n\nNext:")
    print(in_columns([*NEXT.items()]))
    try:
        page = Page("Wine with wrong labels", "What the demo does, step by step.", sections)
        print(f"\nThe same as a page: {page.write(out).resolve()}")
    except ImportError as error:
        print(f"\n{error}")


if __name__ == "__main__":
    argparse.ArgumentParser("python -m wdrsvm.demo", description=__doc__).parse_args()
    main()
