"""Tables with wrong labels: public ones, simulated ones, and four ways to go wrong."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from sklearn.datasets import (
    load_breast_cancer,
    load_digits,
    load_iris,
    load_wine,
    make_blobs,
    make_classification,
    make_moons,
)
from sklearn.decomposition import PCA
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures, StandardScaler

DATA = Path(os.environ.get("WDRSVM_DATA", "."))
N_TRAIN, MAX_TEST, MAX_FEATURES = 200, 2000, 20
# Classes with a smaller share of the rows than this are left out.
LEAST_SHARE = 0.02
N_SIMULATED = 1200

Table = tuple[Any, Any]


def penguins() -> Table:
    table = pd.read_csv(DATA / "penguins.csv")
    columns = [name for name in table if name.endswith(("_mm", "_g"))]
    table = table.dropna(subset=columns)
    return table[columns].to_numpy(float), table["species"].factorize()[0]


def csv_table(name: str) -> Table:
    table = pd.read_csv(DATA / name)
    return table.drop(columns="class").to_numpy(float), table["class"].factorize()[0]


def ai4i() -> Table:
    """The five measurements; all faults and 200 healthy rows."""
    table = pd.read_csv(DATA / "ai4i2020.csv")
    fault = np.zeros(len(table), dtype=int)
    for code, name in enumerate(("HDF", "OSF", "PWF", "TWF"), start=1):
        fault[table[name] == 1] = code
    healthy = np.flatnonzero((fault == 0) & (table["Machine failure"] == 0))
    healthy = np.random.default_rng(0).choice(healthy, 200, replace=False)
    rows = np.concatenate([np.flatnonzero(fault), healthy])
    measured = table.columns[3:8]
    return table.loc[rows, measured].to_numpy(float), fault[rows]


def music() -> Any:
    return np.load(DATA / "benchmark" / "music_genre_crowd.npz")


def hypercube(n_features: int, n_classes: int, separation: float, seed: int) -> Table:
    table: Table = make_classification(
        N_SIMULATED,
        n_features,
        n_informative=max(2, n_features // 2),
        n_redundant=0,
        n_classes=n_classes,
        n_clusters_per_class=1,
        class_sep=separation,
        flip_y=0,
        random_state=seed,
    )
    return table


def blobs(n_features: int, n_classes: int, spread: float, seed: int) -> Table:
    table: Table = make_blobs(
        N_SIMULATED, n_features, centers=n_classes, cluster_std=spread, random_state=seed
    )
    return table


def moons() -> Table:
    X, y = make_moons(N_SIMULATED, noise=0.25, random_state=5)
    return PolynomialFeatures(3, include_bias=False).fit_transform(X), y


TABLES: dict[str, Callable[[], Table]] = {
    "wine": lambda: load_wine(return_X_y=True),
    "penguins": penguins,
    "seeds": lambda: csv_table("seeds.csv"),
    "iris": lambda: load_iris(return_X_y=True),
    "breast cancer": lambda: load_breast_cancer(return_X_y=True),
    "digits": lambda: load_digits(return_X_y=True),
    "steel plates": lambda: csv_table("benchmark/steel_plates_faults.csv"),
    "wine quality": lambda: csv_table("benchmark/winequality_red.csv"),
    "ai4i": ai4i,
    "music": lambda: (music()["X"], music()["y"]),
    "simulated: 2 classes, 10 features": lambda: hypercube(10, 2, 1.0, 0),
    "simulated: 3 classes, 6 features": lambda: hypercube(6, 3, 1.0, 1),
    "simulated: 4 classes, 20 features": lambda: hypercube(20, 4, 1.5, 2),
    "simulated: 5 blobs in the plane": lambda: blobs(2, 5, 2.0, 3),
    "simulated: 3 blobs, 15 features": lambda: blobs(15, 3, 7.0, 4),
    "simulated: moons, cubic features": moons,
}


class Case(NamedTuple):
    """Training rows with labels as given and as they are, test rows with true labels."""

    X: Any
    labels: Any
    truth: Any
    X_test: Any
    y_test: Any


@lru_cache
def table(name: str) -> Table:
    return frequent_classes(*TABLES[name]())


def frequent_classes(X: Any, y: Any) -> Table:
    """Rows of classes that are not too rare, and new codes of these classes."""
    common = np.flatnonzero((np.bincount(y) / len(y))[y] >= LEAST_SHARE)
    return X[common], np.unique(y[common], return_inverse=True)[1]


def uniform(share: float) -> Callable[[Any, Any], Any]:
    """Flip a share of the labels to any other one."""

    def flip(y: Any, rng: Any) -> Any:
        labels, n_classes = y.copy(), y.max() + 1
        wrong = rng.choice(len(y), round(share * len(y)), replace=False)
        labels[wrong] = (y[wrong] + rng.integers(1, n_classes, len(wrong))) % n_classes
        return labels

    return flip


def class_dependent(y: Any, rng: Any) -> Any:
    """The first half of the classes loses 30 % of its rows to the next class."""
    n_classes = y.max() + 1
    wrong = (y < (n_classes + 1) // 2) & (rng.random(len(y)) < 0.3)
    return np.where(wrong, (y + 1) % n_classes, y)


NOISES: dict[str, Callable[[Any, Any], Any]] = {
    "clean": lambda y, rng: y,
    "20 %": uniform(0.2),
    "30 %": uniform(0.3),
    "class-dependent": class_dependent,
}
CROWDS = {"crowd, majority": "noisy_majority", "crowd, one vote": "noisy_random"}


def case(name: str, noise: str, seed: int) -> Case:
    """A split of a table; features are standardised, and at most 20 components kept."""
    if noise in CROWDS:
        return crowd_case(CROWDS[noise], seed)
    X, y = table(name)
    n_train = min(N_TRAIN, round(0.6 * len(y)))
    X, X_test, truth, y_test = train_test_split(
        X, y, train_size=n_train, stratify=y, random_state=seed
    )
    labels = NOISES[noise](truth, np.random.default_rng([seed, 1]))
    return prepared(X, labels, truth, X_test[:MAX_TEST], y_test[:MAX_TEST])


def crowd_case(kind: str, seed: int) -> Case:
    """Two hundred rows with crowd labels; the gold test rows are always the same."""
    data = music()
    train, test = ~data["is_test"], data["is_test"]
    rows = np.random.default_rng(seed).choice(train.sum(), N_TRAIN, replace=False)
    X, truth = data["X"][train][rows], data["y"][train][rows]
    labels = data[kind][rows].astype(int)
    return prepared(X, labels, truth, data["X"][test], data["y"][test])


def prepared(X: Any, labels: Any, truth: Any, X_test: Any, y_test: Any) -> Case:
    n_components = min(MAX_FEATURES, X.shape[1])
    scaler = make_pipeline(StandardScaler(), PCA(n_components), StandardScaler())
    if X.shape[1] <= MAX_FEATURES:
        scaler = StandardScaler()
    return Case(scaler.fit_transform(X), labels, truth, scaler.transform(X_test), y_test)
