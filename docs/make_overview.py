"""Draw ``_static/overview.png``, the picture of the README and of the first page.

Run ``python docs/make_overview.py`` from the project's folder, with the extra ``plot``.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from sklearn.datasets import load_wine, make_blobs
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler, scale
from sklearn.svm import LinearSVC

from wdrsvm import (
    RobustLinearSVC,
    RobustLogisticRegressionCV,
    WassersteinBall,
    error_curve,
)
from wdrsvm.datasets import flip_labels
from wdrsvm.plotting import ErrorCurveDisplay, WorstCaseDisplay

PICTURE = Path(__file__).parent / "_static" / "overview.png"
LARGEST_RADIUS = 0.5
CENTRES = [(-2, -1), (2, -1.2), (0, 2)]


def draw_worst_case(ax: Any) -> None:
    """Three clusters, and what an adversary within the radius does to them."""
    X, y = make_blobs(90, centers=CENTRES, cluster_std=1.1, random_state=3)
    X, y = scale(X), np.array(["ash", "birch", "cedar"])[y]
    box = (X.min(axis=0), X.max(axis=0))
    model = RobustLinearSVC(0.12, 3.0, norm="l1", support=box).fit(X, y)
    WorstCaseDisplay.from_estimator(model, X, y, ax=ax)
    ax.set(title="The worst case within a radius", xticks=[], yticks=[])
    ax.set(xlabel="", ylabel="")


def draw_error_curves(ax: Any) -> None:
    """Worst-case errors on test rows of Wine, a fifth of whose training labels is wrong."""
    X, y = load_wine(return_X_y=True)
    X, X_test, truth, y_test = train_test_split(
        X, y, test_size=0.3, stratify=y, random_state=0
    )
    labels = flip_labels(truth, 0.2, random_state=1)
    models = {
        "robust, labels doubted": RobustLogisticRegressionCV(label_noise="random"),
        "LogisticRegression": LogisticRegression(),
        "LinearSVC": LinearSVC(),
    }
    curves = {
        name: error_curve(
            make_pipeline(StandardScaler(), model).fit(X, labels),
            X_test,
            y_test,
            WassersteinBall(LARGEST_RADIUS),
        )
        for name, model in models.items()
    }
    ErrorCurveDisplay(curves).plot(max_radius=LARGEST_RADIUS, ax=ax)
    ax.set_title("Wine, a fifth of the training labels wrong")


def main() -> None:
    figure = Figure(figsize=(10.5, 4.2), layout="constrained", facecolor="white")
    worst, curves = figure.subplots(1, 2)
    draw_worst_case(worst)
    draw_error_curves(curves)
    figure.savefig(PICTURE, dpi=100)


if __name__ == "__main__":
    main()
