"""Random training problems, by seed, that visit the corners of the model.

Two to six classes, all present; one to eight features; five to sixty rows; every norm;
intercepts or none; label costs that are numbers, infinite, or matrices with zero and
infinite entries; trusted, doubtful and worthless labels; features that cost more to move
or cannot be moved; uneven weights; radii from none to beyond the constant classifier.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from wdrsvm.problem import RobustProblem, WassersteinBall

Floats = NDArray[np.float64]
Generator = np.random.Generator

NORMS = ("l1", "l2", "linf")


def random_problem(
    seed: int, norm: str | None = None, radius: float | None = None
) -> RobustProblem:
    """The instance of a seed; ``norm`` and ``radius`` override what it draws."""
    rng = np.random.default_rng(seed)
    n_classes = int(rng.integers(2, 7))
    n_features = int(rng.integers(1, 9))
    n_rows = int(rng.integers(max(5, n_classes), 61))
    y = rng.permutation(np.arange(n_rows) % n_classes)
    drawn_norm = str(rng.choice(NORMS))
    drawn_radius = _radius(rng)
    ball = WassersteinBall(
        radius=drawn_radius if radius is None else radius,
        label_cost=_label_cost(rng, n_classes),
        norm=drawn_norm if norm is None else norm,
        feature_cost=_feature_cost(rng, n_features),
    )
    return RobustProblem.of(
        X=_features(rng, y, n_classes, n_features),
        y=y.astype(np.intp),
        weight=_weight(rng, n_rows),
        ball=ball,
        n_classes=n_classes,
        fit_intercept=bool(rng.integers(2)),
        label_trust=_label_trust(rng, n_rows),
    )


def describe(problem: RobustProblem) -> str:
    """One line that tells an instance apart when a test fails."""
    label_cost = np.asarray(problem.ball.label_cost)
    return (
        f"N={problem.n_rows} P={problem.n_features} C={problem.n_classes} "
        f"norm={problem.ball.norm} radius={problem.radius:.2e} "
        f"label_cost={label_cost if label_cost.ndim == 0 else 'matrix'} "
        f"intercept={problem.fit_intercept} trust={problem.label_trust is not None} "
        f"feature_cost={problem.ball.feature_cost}"
    )


def _features(
    rng: Generator, y: NDArray[np.int_], n_classes: int, n_features: int
) -> Floats:
    """Clusters that overlap little, much or wholly, some columns in other units."""
    centres = rng.normal(size=(n_classes, n_features)) * rng.choice([0.0, 1.0, 3.0])
    units = 10.0 ** rng.choice([-1, 0, 0, 0, 1], size=n_features)
    return np.asarray((rng.normal(size=(len(y), n_features)) + centres[y]) * units)


def _radius(rng: Generator) -> float:
    if rng.random() < 0.1:
        return float(rng.choice([0.0, 30.0]))
    return float(10.0 ** rng.uniform(-4, 0))


def _label_cost(rng: Generator, n_classes: int) -> float | Floats:
    kind = rng.integers(4)
    if kind == 0:
        return np.inf
    if kind == 1:
        return float(rng.choice([0.0, 0.05, 0.5, 2.0, 20.0]))
    if kind == 2:
        return float(rng.uniform(1.0, 5.0))
    return _label_cost_matrix(rng, n_classes)


def _label_cost_matrix(rng: Generator, n_classes: int) -> Floats:
    cost = rng.uniform(0.2, 4.0, size=(n_classes, n_classes))
    cost[rng.random(cost.shape) < 0.3] = np.inf
    # Free flips are rare: one is enough to lift the optimum far.
    cost[rng.random(cost.shape) < 0.05] = 0.0
    np.fill_diagonal(cost, 0.0)
    return cost


def _label_trust(rng: Generator, n_rows: int) -> Floats | None:
    if rng.random() < 0.5:
        return None
    trust = rng.uniform(0.3, 3.0, n_rows)
    trust[rng.random(n_rows) < 0.2] = np.inf
    trust[rng.random(n_rows) < 0.05] = 0.0
    return trust


def _feature_cost(rng: Generator, n_features: int) -> Floats | None:
    if rng.random() < 0.5:
        return None
    cost = rng.uniform(0.3, 3.0, n_features)
    cost[rng.random(n_features) < 0.2] = np.inf
    return cost


def _weight(rng: Generator, n_rows: int) -> Floats:
    if rng.random() < 0.4:
        return np.full(n_rows, 1.0 / n_rows)
    weight = rng.exponential(size=n_rows)
    return np.asarray(weight / weight.sum())
