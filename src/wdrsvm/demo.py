"""Wine with wrong training labels: what robust classifiers promise, and what it costs.

Run it with ``make demo`` or ``python -m wdrsvm.demo``.
"""

from __future__ import annotations

import time
from typing import Any, NamedTuple

import numpy as np
from sklearn.datasets import load_wine
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from .estimators import RobustLinearSVC
from .problem import WassersteinBall
from .robustness import worst_case_risk

FLIPPED_SHARE = 0.15
BALL = WassersteinBall(radius=0.05, label_cost=2.0)
CLASSIFIERS = {
    "RobustLinearSVC(label_cost=2)": RobustLinearSVC(0.05, 2.0),
    "RobustLinearSVC(label_cost=inf)": RobustLinearSVC(0.05, np.inf),
    "LinearSVC": LinearSVC(),
    "LogisticRegression": LogisticRegression(),
}
HEADER = ("classifier", "accuracy", "worst-case risk", "gap", "seconds")

LEGEND = """
accuracy         on test rows with right labels
worst-case risk  largest expected loss on the training rows that an adversary within
                 the radius can cause; lower is a stronger promise
gap              how far the objective can be above the least possible one, proven for
                 the ball that the classifier was fitted for"""


class Line(NamedTuple):
    """One row of the table; the gap is None for classifiers that prove none."""

    name: str
    accuracy: float
    risk: float
    gap: float | None
    seconds: float


def flip_labels(y: Any, share: float, rng: np.random.Generator) -> Any:
    """A copy of ``y`` in which a share of the labels is another one, at random."""
    n_classes = y.max() + 1
    rows = rng.choice(len(y), round(share * len(y)), replace=False)
    flipped = y.copy()
    flipped[rows] = (y[rows] + rng.integers(1, n_classes, len(rows))) % n_classes
    return flipped


def measure(
    name: str, classifier: Any, train: tuple[Any, Any], test: tuple[Any, Any]
) -> Line:
    """Fit in a pipeline that standardises; certify on the training data."""
    pipeline = make_pipeline(StandardScaler(), classifier)
    began = time.perf_counter()
    pipeline.fit(*train)
    seconds = time.perf_counter() - began
    return Line(
        name,
        pipeline.score(*test),
        worst_case_risk(pipeline, *train, BALL),
        getattr(classifier, "duality_gap_", None),
        seconds,
    )


def table(lines: list[Line]) -> str:
    """The lines under a header, in columns."""
    rows = [HEADER] + [
        (
            line.name,
            f"{line.accuracy:.3f}",
            f"{line.risk:.3f}",
            "-" if line.gap is None else f"{line.gap:.0e}",
            f"{line.seconds:.3f}",
        )
        for line in lines
    ]
    name_width = max(len(row[0]) for row in rows)
    return "\n".join(
        "  ".join([row[0].ljust(name_width), *(cell.rjust(15) for cell in row[1:])])
        for row in rows
    )


def main() -> None:
    """Print the comparison."""
    X, y = load_wine(return_X_y=True)
    X_train, X_test, y_train, y_test = train_test_split(
        X, y, test_size=0.3, stratify=y, random_state=0
    )
    y_noisy = flip_labels(y_train, FLIPPED_SHARE, np.random.default_rng(0))
    train, test = (X_train, y_noisy), (X_test, y_test)
    # The first fit compiles; that is not what the seconds are about.
    make_pipeline(StandardScaler(), RobustLinearSVC()).fit(*train)
    lines = [measure(name, model, train, test) for name, model in CLASSIFIERS.items()]
    print(f"Wine, {len(y_train)} training rows, {FLIPPED_SHARE:.0%} of their labels wrong.")
    print(f"Worst-case risk: radius {BALL.radius}, label cost {BALL.label_cost}.\n")
    print(table(lines))
    print(LEGEND)


if __name__ == "__main__":
    main()
