"""Training and test rows of the tables on which the claims are judged."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
from sklearn.decomposition import PCA
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from ...datasets import load
from ..splits import Split

TABLES = (
    *("contraceptive", "abalone", "shuttle", "osuleaf", "acsf1", "mnist_5k"),
    *("fashion_mnist", "movement_libras"),
)
EMBEDDINGS = ("banking77", "clinc150")
TRAIN_SHARE, MAX_TEST, MAX_FEATURES = 0.6, 1500, 20
# Rarer classes are left out: folds of the training rows would lack them.
LEAST_SHARE = 0.02


@lru_cache(maxsize=16)
def rows_of(table: str) -> tuple[Any, Any]:
    """All rows with classes that are not too rare."""
    X, y = load(table, return_X_y=True)
    if table == "abalone":
        # Rings in three groups of nearly equal size; the first code is one ring.
        y = np.digitize(y + 1, [9, 11])
    least = 0.0 if table in EMBEDDINGS else LEAST_SHARE
    return _kept(X, y, (np.bincount(y) / len(y))[y] >= least)


def _kept(X: Any, y: Any, rows: Any) -> tuple[Any, Any]:
    return X[rows], np.unique(y[rows], return_inverse=True)[1]


def random_split(X: Any, y: Any, n_train: int, seed: int) -> Split:
    """A random split with standardised features.

    At most 60 % of the rows are training rows.  Of many features the first principal
    components are kept.
    """
    n_train = min(n_train, round(TRAIN_SHARE * len(y)))
    X, X_test, y, y_test = train_test_split(
        X, y, train_size=n_train, stratify=y, random_state=seed
    )
    return standardised(Split(X, y, X_test[:MAX_TEST], y_test[:MAX_TEST]), MAX_FEATURES)


def standardised(split: Split, n_features: int) -> Split:
    """Features with unit variance in the training rows, at most ``n_features`` of them."""
    scaler: Any = StandardScaler()
    if split.X.shape[1] > n_features:
        reducer = PCA(n_features, random_state=0)
        scaler = make_pipeline(scaler, reducer, StandardScaler())
    X = scaler.fit_transform(split.X)
    return split._replace(X=X, X_test=scaler.transform(split.X_test))


def some_classes(X: Any, y: Any, n_classes: int, seed: Any) -> tuple[Any, Any]:
    """The rows of a few classes, drawn at random."""
    drawn = np.random.default_rng(seed).choice(y.max() + 1, n_classes, replace=False)
    return _kept(X, y, np.isin(y, drawn))
