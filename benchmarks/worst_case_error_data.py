"""Tables on which no rule of the training for worst-case errors was fixed."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from sklearn.decomposition import PCA
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from .label_noise_data import DATA, Table, csv_table, frequent_classes

N_TRAIN, MAX_TEST, MAX_FEATURES = 250, 1500, 20
N_INTENTS = 10


def arrays(name: str) -> Any:
    return np.load(DATA / "benchmark" / name)


def series(name: str) -> Table:
    stored = arrays(name)
    return stored["X"].astype(float), np.unique(stored["y"], return_inverse=True)[1]


def abalone() -> Table:
    """Rings in three groups of nearly equal size; the text column becomes two columns."""
    table = pd.get_dummies(pd.read_csv(DATA / "benchmark" / "abalone.csv"), drop_first=True)
    rings = table["class"].to_numpy()
    return table.drop(columns="class").to_numpy(float), np.digitize(rings, [9, 11])


def intents(name: str) -> Table:
    """The first ten intents of a set of sentence embeddings."""
    X, y = series(name)
    return X[y < N_INTENTS], y[y < N_INTENTS]


TABLES: dict[str, Callable[[], Table]] = {
    "abalone": abalone,
    "contraceptive": lambda: csv_table("benchmark/contraceptive.csv"),
    "movement libras": lambda: csv_table("benchmark/movement_libras.csv"),
    "shuttle": lambda: series("shuttle.npz"),
    "mnist": lambda: series("mnist_5k.npz"),
    "fashion mnist": lambda: series("fashion_mnist_train15k.npz"),
    "acsf1": lambda: series("acsf1.npz"),
    "osuleaf": lambda: series("osuleaf.npz"),
    "banking77": lambda: intents("banking77_minilm.npz"),
}


class Split(NamedTuple):
    """Training and test rows; features are standardised."""

    X: Any
    y: Any
    X_test: Any
    y_test: Any


@lru_cache
def table(name: str) -> Table:
    return frequent_classes(*TABLES[name]())


def split(name: str, seed: int, n_train: int | None = None) -> Split:
    """A random split; of many features the first twenty components are kept."""
    X, y = table(name)
    if n_train is None:
        n_train = min(N_TRAIN, round(0.6 * len(y)))
    X, X_test, y, y_test = train_test_split(
        X, y, train_size=n_train, stratify=y, random_state=seed
    )
    scaler: Any = StandardScaler()
    if X.shape[1] > MAX_FEATURES:
        scaler = make_pipeline(scaler, PCA(MAX_FEATURES, random_state=0), StandardScaler())
    X = scaler.fit_transform(X)
    return Split(X, y, scaler.transform(X_test[:MAX_TEST]), y_test[:MAX_TEST])
