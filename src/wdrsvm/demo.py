"""Wine with wrong training labels: promises and errors of robust classifiers.

Run it with ``make demo``, ``wdrsvm demo`` or ``python -m wdrsvm.demo``.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sklearn.datasets import load_wine
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from .datasets import flip_labels
from .estimators import RobustLinearSVC
from .problem import WassersteinBall
from .report import Facts, Figure, Page, Section, Table, Text
from .report.baselines import Baselines
from .report.figures import COLOURS, drawn, new_figure
from .report.promise import BUDGET, DEVIATIONS, Movement, Promise, promise_of
from .report.words import share
from .robustness import worst_case_risk
from .robustness.promises.error_curve import percent

PAGE = Path("wdrsvm-demo.html")
FLIPPED_SHARE = 0.15
BALL = WassersteinBall(radius=0.05, label_cost=2.0)
CLASSIFIERS = {
    "RobustLinearSVC(label_cost=2)": RobustLinearSVC(0.05, 2.0),
    "RobustLinearSVC(label_cost=inf)": RobustLinearSVC(0.05, np.inf),
    "LinearSVC": LinearSVC(),
    "LogisticRegression": LogisticRegression(),
}
MOVEMENT = Movement(WassersteinBall(BUDGET), DEVIATIONS)
HEADER = (
    *("classifier", "wrong", "wrong at most", "in one class", "worst-case risk", "gap"),
    "seconds",
)

LEGEND = {
    "wrong": "share of the test rows, whose labels are right, that are classified wrongly",
    "wrong at most": f"the same if these rows move by {MOVEMENT.told()} on average",
    "in one class": "wrong at most within the class that suffers most",
    "worst-case risk": "largest expected loss on the training rows that an adversary "
    "within the radius can cause; it grows with the scale of the scores, so compare errors",
    "seconds": "time of a fit, without the loading of modules",
    "gap": "how far the objective can be above the least possible one, proven for the ball "
    "that the classifier was fitted for",
}


class Line(NamedTuple):
    """One row of the table; the gap is None for classifiers without a certificate."""

    name: str
    promise: Promise
    risk: float
    gap: float | None
    seconds: float


def measure(
    name: str, classifier: Any, train: tuple[Any, Any], test: tuple[Any, Any]
) -> Line:
    """Fit a pipeline with standardisation; errors on test rows, risk on training rows."""
    # The first fit also loads modules, so the seconds are those of a second fit.
    pipeline = make_pipeline(StandardScaler(), classifier).fit(*train)
    began = time.perf_counter()
    pipeline.fit(*train)
    seconds = time.perf_counter() - began
    scaler, last = pipeline[:-1], pipeline[-1]
    rivals = Baselines.learned(scaler.transform(train[0]), train[1])
    rows = scaler.transform(test[0]), test[1]
    return Line(
        name,
        promise_of(last, *rows, rivals, MOVEMENT, "test"),
        worst_case_risk(pipeline, *train, BALL),
        getattr(classifier, "duality_gap_", None),
        seconds,
    )


def cells(line: Line) -> tuple[str, ...]:
    """The cells of a line as texts."""
    gap = "-" if line.gap is None else f"{line.gap:.0e}"
    rates, by_class = line.promise.rates, line.promise.by_class
    return (
        line.name,
        share(rates.error),
        percent(rates.worst_case_error),
        percent(by_class[line.promise.worst_class].worst_case_error),
        f"{line.risk:.3f}",
        gap,
        f"{line.seconds:.3f}",
    )


def table(lines: list[Line]) -> str:
    """The lines as a text table with a header."""
    rows = [HEADER, *map(cells, lines)]
    name_width = max(len(row[0]) for row in rows)
    return "\n".join(
        "  ".join([row[0].ljust(name_width), *(cell.rjust(15) for cell in row[1:])])
        for row in rows
    )


def page(lines: list[Line], intro: str) -> Page:
    """The comparison as an HTML page."""
    shown = Table("Robust and ordinary classifiers", HEADER, [*map(cells, lines)])
    parts = [*figures(lines), shown, Facts(LEGEND)]
    return Page("Wine with wrong labels", intro, [Section("Comparison", parts)])


def figures(lines: list[Line]) -> list[Any]:
    """Errors and worst-case errors as bars; without matplotlib a sentence instead."""
    try:
        figure, axes = new_figure(8, 2.4, ncols=2)
    except ImportError as error:
        return [Text(str(error))]
    places = range(len(lines))
    rates = [line.promise.rates for line in lines]
    axes[0].barh(places, [each.worst_case_error for each in rates], color=COLOURS[0])
    axes[1].barh(places, [each.error for each in rates], color=COLOURS[1])
    axes[0].set_yticks(places, [line.name for line in lines])
    axes[1].set_yticks(places, [])
    for ax, label in zip(axes, ("wrong at most", "wrong"), strict=True):
        ax.set_xlabel(label)
        ax.invert_yaxis()
    alt = "; ".join(f"{line.name}: wrong {line.promise.rates.told()}" for line in lines)
    return [
        Figure(drawn(figure, "svg"), "Fewer wrong predictions are a stronger promise.", alt)
    ]


def in_words(lines: list[Line]) -> str:
    """The promise of the first classifier, and its baselines, in sentences."""
    if not lines:
        return ""
    model, baselines, _ = lines[0].promise.sentences()
    return f"{lines[0].name}: {model} {baselines} "


def main(out: Path = PAGE) -> None:
    """Print the comparison and write it as a page."""
    X, y = load_wine(return_X_y=True)
    X_train, X_test, y_train, y_test = train_test_split(
        X, y, test_size=0.3, stratify=y, random_state=0
    )
    train, test = (X_train, flip_labels(y_train, FLIPPED_SHARE)), (X_test, y_test)
    lines = [measure(name, model, train, test) for name, model in CLASSIFIERS.items()]
    intro = (
        f"Wine, {len(y_train)} training rows, {FLIPPED_SHARE:.0%} of their labels wrong. "
        f"{in_words(lines)}Worst-case risk: radius {BALL.radius}, label cost "
        f"{BALL.label_cost}."
    )
    legend = "\n".join(f"{name}: {meaning}" for name, meaning in LEGEND.items())
    print(f"{intro}\n\n{table(lines)}\n\n{legend}")
    try:
        print(f"\nThe same as a page: {page(lines, intro).write(out).resolve()}")
    except ImportError as error:
        print(f"\n{error}")


if __name__ == "__main__":
    main()
