"""Tables with wrong labels on which no rule of the recipe for doubtful labels was fixed.

The rules were fixed on ``DEVELOPED_ON``, tables of ``label_noise_data``.  The study judges
on ``JUDGED_ON`` only, and on the labels of a real crowd.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split

from .label_noise_data import CROWDS, Case, class_dependent, crowd_case, uniform
from .worst_case_error_data import series, split, table

DEVELOPED_ON = (
    *("wine", "seeds", "iris", "breast cancer", "ai4i", "wine quality", "steel plates"),
    *("digits", "music", "simulated: 2 classes, 10 features"),
    *("simulated: 4 classes, 20 features", "simulated: 3 blobs, 15 features"),
)
TABLES = (
    *("contraceptive", "abalone", "shuttle", "osuleaf", "acsf1", "mnist"),
    *("fashion mnist", "movement libras"),
)
EMBEDDINGS = {"banking77": "banking77_minilm.npz", "clinc150": "clinc150_minilm.npz"}
JUDGED_ON = (*TABLES, *EMBEDDINGS)
N_TRAIN, MAX_TEST = 200, 1500
# Intents of an embedding set in one split, and training rows per intent.
N_INTENTS, ROWS_PER_INTENT = 20, 20
ROW_SHARE = 0.2

Flip = Callable[[Any, Any, Any], Any]


def by_row(X: Any, y: Any, rng: Any) -> Any:
    """A fifth of the labels becomes the second likeliest, mostly near the boundary."""
    probability = LogisticRegression(max_iter=2000).fit(X, y).predict_proba(X)
    n = np.arange(len(y))
    own = probability[n, y]
    others = probability.copy()
    others[n, y] = -1.0
    near = np.exp(-4 * np.abs(own - others.max(axis=1)))
    wrong = rng.choice(
        len(y), round(ROW_SHARE * len(y)), replace=False, p=near / near.sum()
    )
    labels = y.copy()
    labels[wrong] = others.argmax(axis=1)[wrong]
    return labels


def _blind(flip: Callable[[Any, Any], Any]) -> Flip:
    """A flip that does not look at the features."""
    return lambda X, y, rng: flip(y, rng)


NOISES: dict[str, Flip] = {
    "clean": lambda X, y, rng: y,
    "10 %": _blind(uniform(0.1)),
    "20 %": _blind(uniform(0.2)),
    "30 %": _blind(uniform(0.3)),
    "by class": _blind(class_dependent),
    "by row": by_row,
}


def intents(name: str, seed: int) -> tuple[Any, ...]:
    """Some intents of an embedding set, as unit vectors: training and test rows."""
    X, y = series(EMBEDDINGS[name])
    rng = np.random.default_rng([seed, 2])
    kept = np.isin(y, rng.choice(y.max() + 1, N_INTENTS, replace=False))
    X, y = X[kept], np.unique(y[kept], return_inverse=True)[1]
    n_train = N_INTENTS * ROWS_PER_INTENT
    X, X_test, y, y_test = train_test_split(
        X, y, train_size=n_train, stratify=y, random_state=seed
    )
    return X, y, X_test[:MAX_TEST], y_test[:MAX_TEST]


def rows(name: str, seed: int) -> tuple[Any, ...]:
    """Training and test rows of a split, with true labels."""
    if name in EMBEDDINGS:
        return intents(name, seed)
    n_train = min(N_TRAIN, round(0.6 * len(table(name)[1])))
    return tuple(split(name, seed, n_train))


def case(name: str, noise: str, seed: int) -> Case:
    """A split of a table whose training labels are partly wrong."""
    if noise in CROWDS:
        return crowd_case(CROWDS[noise], seed)
    X, truth, X_test, y_test = rows(name, seed)
    labels = NOISES[noise](X, truth, np.random.default_rng([seed, 1]))
    return Case(X, labels, truth, X_test, y_test)
