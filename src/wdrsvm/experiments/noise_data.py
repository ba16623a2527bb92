"""Data of the noise study: ten tables, each clean and with several kinds of noise."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from sklearn.decomposition import PCA
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

from ..datasets import (
    add_feature_noise,
    flip_labels,
    load,
    make_imbalanced,
    make_simulation,
)
from ..datasets.tables import can_be_had
from .splits import Split, table_split

N_TRAIN, N_TEST = 200, 1000
# Tables with more features are reduced to their first principal components for all models.
N_COMPONENTS = 20
SIMULATED = "simulated"
IMBALANCE, NOISE_SCALE = 0.1, 0.5


class TableRows(NamedTuple):
    """All rows of a table, and the crowd's labels of training rows if there are any."""

    X: Any
    y: Any
    is_test: Any = None
    crowd: Any = None


def _plain(name: str) -> Callable[[], TableRows]:
    def rows() -> TableRows:
        return TableRows(*load(name, return_X_y=True))

    return rows


def _wine_quality() -> TableRows:
    """Grades below 5 are one class, and so are grades above 6; both have few rows."""
    bunch = load("winequality_red")
    grades = bunch.target_names[bunch.target].astype(int)
    return TableRows(bunch.data, np.clip(grades, 4, 7) - 4)


def _music() -> TableRows:
    bunch = load("music_genre")
    labels = {"random": bunch.crowd_random, "majority": bunch.crowd_majority}
    return TableRows(bunch.data, bunch.target, bunch.is_test, labels)


def _simulated() -> TableRows:
    """Eight clusters in five dimensions, as in the paper's simulation."""
    X, y, X_test, y_test = make_simulation(400, 1200, 5, 8, random_state=0)
    return TableRows(np.vstack([X, X_test]), np.concatenate([y, y_test]))


TABLES: dict[str, Callable[[], TableRows]] = {
    "wine": _plain("wine"),
    "iris": _plain("iris"),
    "seeds": _plain("seeds"),
    "penguins": _plain("penguins"),
    "breast_cancer": _plain("breast_cancer"),
    "ai4i": _plain("ai4i"),
    "winequality_red": _wine_quality,
    "digits": _plain("digits"),
    "music_genre": _music,
    SIMULATED: _simulated,
}
CONDITIONS = (
    "clean",
    "flips 10%",
    "flips 20%",
    "flips 30%",
    "rare classes",
    "feature noise",
)
CROWD_CONDITIONS = ("crowd majority", "crowd random")


def tables_at_hand() -> list[str]:
    """All tables except those that are not on this machine and cannot be downloaded."""
    missing = [name for name in TABLES if not can_be_had(name)]
    if missing:
        warnings.warn(
            f"{', '.join(missing)} is left out of the noise study: it cannot be downloaded "
            f"and is not on this machine. wdrsvm.datasets.load({missing[0]!r}) tells how "
            "to get it.",
            stacklevel=3,
        )
    return [name for name in TABLES if name not in missing]


def conditions(table: str) -> tuple[str, ...]:
    """The kinds of noise for a table; the music table has real labels of a crowd."""
    return CONDITIONS + (CROWD_CONDITIONS if table == "music_genre" else ())


@lru_cache(maxsize=16)
def _loaded(table: str) -> TableRows:
    return TABLES[table]()


def noisy_split(table: str, condition: str, repetition: int) -> Split:
    """Noisy training rows and clean test rows, standardised by the training rows."""
    split = _split(table, condition, repetition)
    split = _spoiled(split, condition, repetition)
    scaler = StandardScaler().fit(split.X)
    X, X_test = scaler.transform(split.X), scaler.transform(split.X_test)
    if X.shape[1] > 2 * N_COMPONENTS:
        reducer = PCA(N_COMPONENTS, svd_solver="full").fit(X)
        X, X_test = reducer.transform(X), reducer.transform(X_test)
    return Split(X, split.y, X_test, split.y_test)


def _split(table: str, condition: str, repetition: int) -> Split:
    if table == "ai4i":
        return table_split(table, repetition)
    rows = _loaded(table)
    if rows.is_test is not None:
        return _music_split(rows, condition, repetition)
    n_train = min(N_TRAIN, round(0.7 * len(rows.y)))
    n_test = min(N_TEST, len(rows.y) - n_train)
    X, X_test, y, y_test = train_test_split(
        rows.X,
        rows.y,
        train_size=n_train,
        test_size=n_test,
        stratify=rows.y,
        random_state=repetition,
    )
    return Split(X, y, X_test, y_test)


def _music_split(rows: TableRows, condition: str, repetition: int) -> Split:
    """Test rows are those with verified labels; training rows are drawn from the rest."""
    kind = condition.partition("crowd ")[2]
    labels = rows.crowd[kind] if kind else rows.y[~rows.is_test]
    candidates = np.flatnonzero(~rows.is_test)
    rng = np.random.default_rng(repetition)
    drawn = rng.choice(len(candidates), N_TRAIN, replace=False)
    return Split(
        rows.X[candidates[drawn]], labels[drawn], rows.X[rows.is_test], rows.y[rows.is_test]
    )


def _spoiled(split: Split, condition: str, seed: int) -> Split:
    if condition.startswith("flips"):
        share = int(condition.strip("flips %")) / 100
        return split._replace(y=flip_labels(split.y, share, seed))
    if condition == "rare classes":
        kept = make_imbalanced(split.y, IMBALANCE, random_state=seed)
        return split._replace(X=split.X[kept], y=split.y[kept])
    if condition == "feature noise":
        return split._replace(X_test=add_feature_noise(split.X_test, NOISE_SCALE, seed))
    return split
