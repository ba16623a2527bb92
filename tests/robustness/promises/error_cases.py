"""Random classifiers, rows and balls, and their worst-case error as a linear program."""

from types import SimpleNamespace

import numpy as np
from scipy.optimize import linprog
from sklearn.base import BaseEstimator

from wdrsvm import WassersteinBall

DUAL_ORDER = {"l1": np.inf, "l2": 2, "linf": 1}
NORMS = list(DUAL_ORDER)


class Fixed(BaseEstimator):
    """A fitted linear classifier; one row of coefficients decides between two classes."""

    def __init__(self, coef, intercept):
        self.coef_, self.intercept_ = coef, intercept
        self.classes_ = np.arange(max(len(coef), 2))

    def fit(self, X, y):
        return self

    def scores(self, X):
        scores = X @ self.coef_.T + self.intercept_
        return np.hstack([-scores, scores]) / 2 if len(self.coef_) == 1 else scores

    def slopes(self):
        coef = self.coef_
        return np.vstack([-coef, coef]) / 2 if len(coef) == 1 else coef


def label_cost_of(rng, n_classes):
    kind = rng.integers(5)
    if kind < 4:
        return [np.inf, 0.0, 0.4, 3.0][kind]
    cost = rng.exponential(size=(n_classes, n_classes))
    cost[rng.random(cost.shape) < 0.3] = np.inf
    cost[rng.random(cost.shape) < 0.1] = 0.0
    np.fill_diagonal(cost, 0.0)
    return cost


def error_case(seed):
    """Odd seeds have whole numbers, whose scores tie exactly."""
    rng = np.random.default_rng(seed)
    n_rows, n_features = rng.integers(2, 13), rng.integers(1, 5)
    n_classes = int(rng.integers(2, 6))
    n_scores = 1 if n_classes == 2 and rng.random() < 0.5 else n_classes
    if seed % 2:
        X = rng.integers(-2, 3, (n_rows, n_features)).astype(float)
        coef = 2.0 * rng.integers(-2, 3, (n_scores, n_features))
        intercept = 2.0 * rng.integers(-1, 2, n_scores)
    else:
        X = rng.normal(size=(n_rows, n_features))
        coef = rng.normal(size=(n_scores, n_features))
        intercept = rng.normal(size=n_scores)
    classifier = Fixed(coef, intercept)
    y = classifier.scores(X).argmax(axis=1)
    mistaken = rng.random(n_rows) < 0.2
    y[mistaken] = rng.integers(0, n_classes, mistaken.sum())
    feature_cost = None
    if rng.random() < 0.5:
        feature_cost = rng.exponential(size=n_features) + 0.1
        feature_cost[rng.random(n_features) < 0.2] = np.inf
    ball = WassersteinBall(
        rng.choice([0.0, 0.05, 0.3, 1.0]) * rng.exponential(),
        label_cost_of(rng, n_classes),
        NORMS[seed % 3],
        feature_cost,
    )
    weight = rng.exponential(size=n_rows) * (rng.random(n_rows) < 0.9)
    weight[0] = 1.0
    trust = rng.choice([0.0, 0.5, 1.0, 2.0, np.inf], n_rows)
    options = {
        "sample_weight": None if rng.random() < 0.3 else weight,
        "label_trust": None if rng.random() < 0.5 else trust,
    }
    return SimpleNamespace(classifier=classifier, X=X, y=y, ball=ball, options=options)


def label_costs(case):
    """What each label costs each row, by hand: infinity beats zero."""
    n_classes = len(case.classifier.classes_)
    table = np.array(np.broadcast_to(case.ball.label_cost, (n_classes, n_classes)))
    np.fill_diagonal(table, 0.0)
    trust = case.options["label_trust"]
    trust = np.ones(len(case.y)) if trust is None else trust
    costs = np.array(
        [
            [
                0.0
                if c == y
                else np.inf
                if np.isinf([table[y, c], t]).any()
                else table[y, c] * t
                for c in range(n_classes)
            ]
            for y, t in zip(case.y, trust, strict=True)
        ]
    )
    return costs


def is_wrong(scores, label):
    others = np.delete(scores, label)
    return bool(scores[label] <= others.max())


def atoms_of(case):
    """(row, cost, is wrong) of staying, of every label and of every nearest boundary."""
    scores, slopes = case.classifier.scores(case.X), case.classifier.slopes()
    price = case.ball.feature_cost
    price = np.ones(case.X.shape[1]) if price is None else np.asarray(price)
    flips = label_costs(case)
    for n, y in enumerate(case.y):
        for c in range(len(slopes)):
            if np.isfinite(flips[n, c]):
                yield n, flips[n, c], is_wrong(scores[n], c)
        for j in range(len(slopes)):
            gap = scores[n, y] - scores[n, j]
            rate = np.linalg.norm(
                (slopes[y] - slopes[j]) / price, DUAL_ORDER[case.ball.norm]
            )
            if j != y and gap > 0 and rate > 0:
                yield n, gap / rate, True


def weights_of(case):
    weight = case.options["sample_weight"]
    weight = np.ones(len(case.y)) if weight is None else weight
    return weight / weight.sum()


def error_by_program(case, radius=None):
    """The largest mass of wrong atoms that the budget pays for."""
    row, cost, wrong = (np.array(part) for part in zip(*atoms_of(case), strict=True))
    belongs = (row == np.arange(len(case.y))[:, None]).astype(float)
    solved = linprog(
        -wrong.astype(float),
        A_ub=cost[None, :],
        b_ub=[case.ball.radius if radius is None else radius],
        A_eq=belongs,
        b_eq=weights_of(case),
        method="highs",
        options={"primal_feasibility_tolerance": 1e-10},
    )
    assert solved.status == 0
    return -solved.fun
