"""Training data of the benchmarks, by seed.

The clusters of the paper's simulations: ``make_classification`` without noise labels, ten
times too many rows, the first of each class for training.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import make_classification

from wdrsvm.datasets import IMBALANCED_SHARES, make_simulation
from wdrsvm.problem import RobustProblem, WassersteinBall

Floats = NDArray[np.float64]
Codes = NDArray[np.intp]

N_TEST = 2000
IMBALANCED = IMBALANCED_SHARES


class Rows(NamedTuple):
    """Features, dense or sparse, and label codes."""

    X: Any
    y: Codes


def simulated(
    n_train: int,
    n_features: int,
    n_classes: int,
    seed: int,
    shares: Sequence[float] | None = None,
) -> tuple[Floats, Codes]:
    """Training rows of the paper's simulation; balanced unless ``shares`` says how."""
    drawn = make_simulation(
        n_train, N_TEST, n_features, n_classes, shares=shares, random_state=seed
    )
    return drawn.X_train, drawn.y_train


def large_rows(n_rows: int, n_features: int, n_classes: int, seed: int) -> Rows:
    """Clusters like those of the paper's simulations, shuffled."""
    X, y = make_classification(
        n_samples=n_rows,
        n_features=n_features,
        n_informative=n_features,
        n_redundant=0,
        n_classes=n_classes,
        n_clusters_per_class=1,
        flip_y=0,
        class_sep=1.5,
        random_state=seed,
    )
    return Rows(X, y.astype(np.intp))


def as_problem(
    X: Any, y: Codes, ball: WassersteinBall, fit_intercept: bool
) -> RobustProblem:
    """The training problem with equal weights."""
    weight = np.full(len(y), 1.0 / len(y))
    return RobustProblem.of(X, y, weight, ball, int(y.max()) + 1, fit_intercept)
