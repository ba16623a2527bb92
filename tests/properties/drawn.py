"""Random data, balls and weights for property tests, and how many of them.

``make test`` draws the same few examples each time.  With the environment variable
WDRSVM_PROPERTIES, the factor on their number, they are others each time.
"""

import os
import warnings
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from sklearn.exceptions import ConvergenceWarning

from wdrsvm import DisbeliefWarning, RadiusWarning

FACTOR = int(os.environ.get("WDRSVM_PROPERTIES", "0"))
NORMS = ("l1", "l2", "linf")
DUAL = {"l1": np.inf, "l2": 2, "linf": 1}
ORDER = {"l1": 1, "l2": 2, "linf": np.inf}
QUIRKS = ("repeated rows", "constant column", "equal columns", "whole numbers", "zeros")


def examples(count):
    """So many examples, the same each time; or many more, others each time."""
    return settings(
        max_examples=count * max(FACTOR, 1),
        derandomize=not FACTOR,
        database=None,
        deadline=None,
        print_blob=True,
        suppress_health_check=list(HealthCheck),
    )


@dataclass
class Data:
    """Rows with labels; every class has a row whose weight is not zero."""

    X: Any
    y: Any
    weight: Any
    trust: Any
    rng: Any = field(repr=False)

    @property
    def fit_options(self):
        return {"sample_weight": self.weight, "label_trust": self.trust}

    @property
    def shares(self):
        weight = np.ones(len(self.y)) if self.weight is None else self.weight
        return weight / weight.sum()

    def taken(self, rows):
        parts = (self.X, self.y, self.weight, self.trust)
        return Data(*(None if part is None else part[rows] for part in parts), self.rng)


@st.composite
def data_sets(draw, weighted=True, n_classes=None):
    n_classes = n_classes or draw(st.integers(2, 4))
    n_features, n_rows = draw(st.integers(1, 4)), draw(st.integers(n_classes, 16))
    rng = np.random.default_rng(draw(st.integers(0, 2**16)))
    y = np.concatenate(
        [np.arange(n_classes), rng.integers(0, n_classes, n_rows - n_classes)]
    )
    X = (
        rng.normal(size=(n_rows, n_features))
        + draw(st.sampled_from([0, 1, 3])) * y[:, None]
    )
    for quirk in draw(st.sets(st.sampled_from(QUIRKS), max_size=2)):
        X = _with_quirk(X, quirk, rng)
    weight = trust = None
    if weighted and draw(st.booleans()):
        weight = rng.integers(0, 4, n_rows).astype(float)
        weight[:n_classes] += 1
    if weighted and draw(st.booleans()):
        trust = rng.choice([0.0, 0.5, 1.0, 2.0, np.inf], n_rows)
    return Data(X, y, weight, trust, rng)


def _with_quirk(X, quirk, rng):
    X = X.copy()
    if quirk == "repeated rows":
        return X[rng.integers(0, len(X), len(X))]
    if quirk == "constant column":
        X[:, 0] = 2.5
    elif quirk == "equal columns":
        X[:, -1] = X[:, 0]
    elif quirk == "whole numbers":
        X = np.rint(X)
    elif quirk == "zeros":
        X[rng.random(X.shape) < 0.5] = 0.0
    return X


radii = st.sampled_from([0.0, 1e-4, 0.01, 0.05, 0.3, 2.0]) | st.floats(1e-6, 3.0)
label_costs = st.sampled_from([0.0, 0.1, 1.0, 2.0, 50.0, np.inf]) | st.floats(1e-4, 10.0)
norms = st.sampled_from(NORMS)


@st.composite
def balls(draw, data, matrices=True, feature_costs=True):
    """Parameters of the ball, by the names that all estimators use."""
    n_classes, n_features = len(np.unique(data.y)), data.X.shape[1]
    label_cost = draw(label_costs)
    if matrices and draw(st.integers(0, 3)) == 0:
        label_cost = data.rng.choice([0.0, 0.3, 1.0, 4.0, np.inf], (n_classes, n_classes))
        np.fill_diagonal(label_cost, 0.0)
    cost = None
    if feature_costs and draw(st.integers(0, 2)) == 0:
        cost = data.rng.choice([0.5, 1.0, 3.0, np.inf], n_features)
    return {
        "radius": draw(radii),
        "label_cost": label_cost,
        "norm": draw(norms),
        "feature_cost": cost,
    }


@contextmanager
def quiet():
    """Collect what a fit says; anything but our own warnings is an error."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("error")
        for category in (RadiusWarning, ConvergenceWarning, DisbeliefWarning):
            warnings.simplefilter("always", category)
        yield caught


def converged(caught):
    return not any(issubclass(each.category, ConvergenceWarning) for each in caught)


def linear_form(model):
    """(coef, intercept) with one row a class, whatever scikit-learn's shapes are."""
    if len(model.classes_) > 2:
        return model.coef_, model.intercept_
    half = model.coef_[0] / 2, model.intercept_[0] / 2
    return np.array([-half[0], half[0]]), np.array([-half[1], half[1]])


def losses(scores, temperature=0.0, margin=1.0):
    """The loss of every row for every label, by its definition."""
    n_classes = scores.shape[1]
    raised = scores[:, None, :] + margin * (1 - np.eye(n_classes))
    if temperature == 0:
        return raised.max(axis=2) - scores
    top = raised.max(axis=2, keepdims=True)
    soft = np.log(np.exp((raised - top) / temperature).sum(axis=2))
    return top[:, :, 0] + temperature * soft - scores


def slope(coef, norm, cost):
    """The largest dual norm of a difference of two rows; infinite if an untouchable
    feature is not left out."""
    touchable = np.ones(coef.shape[1], bool) if cost is None else np.isfinite(cost)
    scaled = coef[:, touchable] / (1.0 if cost is None else cost[touchable])
    pairs = [one - other for one in scaled for other in scaled]
    if not touchable.any():
        return 0.0
    return max(np.linalg.norm(pair, DUAL[norm]) for pair in pairs)


def worst_case(coef, intercept, data, ball, **loss):
    """The worst-case risk by its definition: the least of a convex function of one
    number whose kinks are all known."""
    table = losses(data.X @ coef.T + intercept, **loss)
    rows, n_classes = np.arange(len(data.y)), len(coef)
    cost = np.asarray(ball["label_cost"], dtype=float)
    if cost.ndim == 0:
        cost = np.where(np.eye(n_classes, dtype=bool), 0.0, cost)
    trust = np.ones(len(data.y)) if data.trust is None else data.trust
    with np.errstate(invalid="ignore"):
        price = cost[data.y] * trust[:, None]
    # Nothing times infinity stays impossible; one's own label costs nothing.
    price[np.isnan(price)] = np.inf
    price[rows, data.y] = 0.0
    least = slope(coef, ball["norm"], ball["feature_cost"])

    def value(lam):
        with np.errstate(invalid="ignore"):
            paid = np.where(np.isinf(price), np.inf, lam * price)
        return ball["radius"] * lam + data.shares @ (table - paid).max(axis=1)

    with np.errstate(all="ignore"):
        gain = table[:, :, None] - table[:, None, :]
        kinks = (gain / (price[:, :, None] - price[:, None, :])).ravel()
    kinks = kinks[np.isfinite(kinks) & (kinks > least)]
    return min(value(lam) for lam in [least, *kinks])
