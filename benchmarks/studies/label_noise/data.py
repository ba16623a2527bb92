"""Tables, public and simulated, and two ways in which labels go wrong."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.datasets import (
    load_breast_cancer,
    load_iris,
    load_wine,
    make_classification,
)

DATA = Path(os.environ.get("WDRSVM_DATA", "."))
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


TABLES: dict[str, Callable[[], Table]] = {
    "wine": lambda: load_wine(return_X_y=True),
    "penguins": penguins,
    "seeds": lambda: csv_table("seeds.csv"),
    "iris": lambda: load_iris(return_X_y=True),
    "breast cancer": lambda: load_breast_cancer(return_X_y=True),
    "ai4i": ai4i,
    "simulated: 2 classes, 10 features": lambda: hypercube(10, 2, 1.0, 0),
    "simulated: 4 classes, 20 features": lambda: hypercube(20, 4, 1.5, 2),
}


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
