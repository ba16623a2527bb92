"""Random problems of mixed tables: boxes, categories, weights, label costs and trust."""

import numpy as np

from wdrsvm import WassersteinBall
from wdrsvm.problem import LOSSES, Loss, RobustProblem

N_ROWS = [12, 40, 120, 400, 900, 2500]


def mixed_problem(seed):
    """The hinge loss, or for two of six seeds a smooth one; 12 to 2500 rows."""
    rng = np.random.default_rng([77, seed])
    n_classes = int(rng.integers(2, 6))
    n_rows = max(int(rng.choice(N_ROWS)), 3 * n_classes)
    n_numbers = int(rng.integers(0, 7))
    sizes = rng.choice([2, 3, 5, 12], size=rng.integers(0, 4)).tolist()
    n_numbers = n_numbers if n_numbers or sizes else 2
    y = np.r_[np.arange(n_classes), rng.integers(0, n_classes, n_rows - n_classes)]
    X, cost, low, high = _numbers(rng, y, n_classes, n_numbers)
    groups = []
    for size in sizes:
        one_hot, price = _category(rng, y, n_classes, size)
        columns = X.shape[1] + np.arange(size)
        X, groups = np.hstack([X, one_hot]), [*groups, (columns, price)]
        cost, low, high = (
            np.r_[part, np.full(size, end)]
            for part, end in ((cost, 1.0), (low, 0.0), (high, 1.0))
        )
    label_cost = _label_cost(rng, n_classes)
    weight = rng.exponential(size=n_rows) if rng.random() < 0.5 else np.ones(n_rows)
    trust = _trust(rng, n_rows) if rng.random() < 0.4 else None
    norm = str(rng.choice(["l1", "l1", "l2", "linf"]))
    box = None if groups and rng.random() < 0.2 else (low, high)
    radius = float(10 ** rng.uniform(-3, -0.3))
    ball = WassersteinBall(radius, label_cost, norm, cost, box, groups or None)
    with_intercept = bool(rng.random() < 0.75)
    smoothed = Loss(float(rng.choice([0.05, 0.3, 1])), 1.0)
    loss = {2: LOSSES["logistic"], 3: smoothed}.get(seed % 6, LOSSES["crammer-singer"])
    weight = weight / weight.sum()
    return RobustProblem.of(
        X, y, weight, ball, n_classes, with_intercept, loss=loss, label_trust=trust
    )


def table_with_categories(n_rows, size):
    """Three classes, two numbers in a box, and one category with many values."""
    rng = np.random.default_rng(0)
    y, numbers = np.arange(n_rows) % 3, rng.normal(size=(n_rows, 2))
    numbers[:, 0] += y
    category = np.r_[np.arange(size), rng.integers(0, size, n_rows)][:n_rows]
    X = np.hstack([numbers, np.eye(size)[category]])
    groups = [(np.arange(2, 2 + size), 1.0)]
    box = X.min(axis=0), X.max(axis=0)
    ball = WassersteinBall(0.1, 2.0, "l1", support=box, categorical=groups)
    return RobustProblem.of(X, y, np.full(n_rows, 1 / n_rows), ball, 3)


def few_rows_with_a_fixed_category(norm, seed):
    """Twelve rows of four classes; most classes lack some of the four categories that
    cannot be switched, and the loss is smooth."""
    rng = np.random.default_rng(seed)
    y = np.arange(12) % 4
    numbers = rng.normal(size=(12, 3)) + rng.normal(size=(4, 3))[y]
    fixed, free = (np.eye(size)[rng.integers(0, size, 12)] for size in (4, 3))
    X = np.hstack([numbers, fixed, free])
    low, high = X.min(axis=0), X.max(axis=0)
    low[0], high[1] = -np.inf, np.inf
    groups = [(range(3, 7), np.inf), (range(7, 10), 0.5)]
    ball = WassersteinBall(0.01, np.inf, norm, support=(low, high), categorical=groups)
    weight = rng.exponential(size=12)
    return RobustProblem.of(X, y, weight / weight.sum(), ball, 4, loss=Loss(1.0, 1.0))


def _numbers(rng, y, n_classes, n_numbers):
    scale, n_rows = 10.0 ** rng.uniform(-1, 2, n_numbers), len(y)
    means = rng.normal(size=(n_rows, n_numbers))
    X = (means + rng.normal(size=(n_classes, n_numbers))[y] * rng.uniform(0, 2)) * scale
    uneven = rng.random() < 0.6
    cost = (np.exp(rng.normal(size=n_numbers)) if uneven else 1.0) / scale
    cost[rng.random(n_numbers) < 0.1] = np.inf
    low = X.min(axis=0) - rng.choice([0, 0.5, 100]) * scale
    high = X.max(axis=0) + rng.choice([0, 0.5, 100]) * scale
    low[rng.random(n_numbers) < 0.15] = -np.inf
    high[rng.random(n_numbers) < 0.15] = np.inf
    return X, cost, low, high


def _category(rng, y, n_classes, size):
    """One-hot columns that depend on the labels, and a switching cost."""
    usual, n_rows = rng.integers(0, size, n_classes), len(y)
    follows = rng.random(n_rows) < rng.uniform(0, 0.8)
    category = np.where(follows, usual[y], rng.integers(0, size, n_rows))
    price = rng.choice([0.1, 0.5, 1.0, 2.0, np.inf], p=[0.2, 0.2, 0.3, 0.2, 0.1])
    return np.eye(size)[category], float(price)


def _label_cost(rng, n_classes):
    kind = rng.choice(["number", "inf", "matrix"])
    number = float(rng.choice([0.3, 1, 2]))
    if kind != "matrix":
        return number if kind == "number" else np.inf
    table = rng.exponential(size=(n_classes, n_classes)) + 0.3
    table[rng.random(table.shape) < 0.2] = np.inf
    np.fill_diagonal(table, 0)
    return table


def _trust(rng, n_rows):
    trust = rng.exponential(size=n_rows)
    trust[rng.random(n_rows) < 0.2] = np.inf
    trust[rng.random(n_rows) < 0.1] = 0.0
    return trust
