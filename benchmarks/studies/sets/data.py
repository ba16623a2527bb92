"""Rows for the study of sets: training, calibration and fresh rows of one source."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from sklearn.linear_model import LogisticRegression

N_TRAIN, N_CALIBRATION, N_FRESH = 200, 300, 5000
COVERAGES = (0.85, 0.9)
# Distance of the class means from the origin, in standard deviations, and features.
SOURCES = {
    "3 classes, far": (3, 2.0, 2),
    "3 classes, near": (3, 1.0, 2),
    "8 classes": (8, 3.0, 5),
}


class Drawn(NamedTuple):
    """A classifier fitted on its own rows, calibration rows and fresh rows."""

    model: Any
    X: Any
    y: Any
    X_new: Any
    y_new: Any


def drawn(source: str, seed: int) -> Drawn:
    """Gaussian classes; the means are the same for all seeds."""
    n_classes, distance, n_features = SOURCES[source]
    means = np.random.default_rng(7).normal(size=(n_classes, n_features))
    means *= distance / np.linalg.norm(means, axis=1, keepdims=True)
    rng = np.random.default_rng([seed, 1])

    def rows(n: int) -> Any:
        y = rng.integers(n_classes, size=n)
        return means[y] + rng.normal(size=(n, n_features)), y

    X, y = rows(N_TRAIN)
    return Drawn(LogisticRegression().fit(X, y), *rows(N_CALIBRATION), *rows(N_FRESH))
