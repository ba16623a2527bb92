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
from sklearn.preprocessing import scale
from sklearn.svm import LinearSVC

from wdrsvm import RobustLinearSVC, WassersteinBall, robust_path, worst_case_risk
from wdrsvm.plotting import WorstCaseDisplay
from wdrsvm.plotting._style import line_style, marker

PICTURE = Path(__file__).parent / "_static" / "overview.png"
LABEL_COST = 2.0
RADII = np.geomspace(1e-3, 0.5, 15)
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


def draw_promises(ax: Any) -> None:
    """Worst-case risks of three classifiers of Wine against the radius."""
    X, y = load_wine(return_X_y=True)
    X = scale(X)
    path = robust_path(X, y, RADII, [LABEL_COST])
    risks = {"robust, each radius its own": path.objective[:, 0]}
    for plain in (LogisticRegression(), LinearSVC()):
        plain.fit(X, y)
        balls = [WassersteinBall(radius, LABEL_COST) for radius in path.radii]
        name = type(plain).__name__
        risks[name] = np.array([worst_case_risk(plain, X, y, ball) for ball in balls])
    for k, (name, risk) in enumerate(risks.items()):
        ax.plot(path.radii, risk, **line_style(k, {}, marker=marker(k), label=name))
    ax.set(xscale="log", xlabel="radius", ylim=(0, 2), title="What is promised on Wine")
    ax.set_ylabel("largest expected loss")
    ax.legend(frameon=False)


def main() -> None:
    figure = Figure(figsize=(10.5, 4.2), layout="constrained", facecolor="white")
    worst, promises = figure.subplots(1, 2)
    draw_worst_case(worst)
    draw_promises(promises)
    figure.savefig(PICTURE, dpi=100)


if __name__ == "__main__":
    main()
