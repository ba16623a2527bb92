"""The paper's simulated data: one Gaussian cluster per class, on corners of a cube."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral
from typing import NamedTuple

import numpy as np
from sklearn.datasets import make_classification

from ..arrays import Codes, Floats

# Shares of the classes in the paper's imbalanced training sets.
IMBALANCED_SHARES = {
    4: (0.45, 0.25, 0.25, 0.05),
    8: (0.2, 0.2, 0.125, 0.125, 0.125, 0.125, 0.05, 0.05),
}
# The paper draws ten times as many rows as it uses.
SURPLUS = 10


class Simulation(NamedTuple):
    """Training and test rows of one draw."""

    X_train: Floats
    y_train: Codes
    X_test: Floats
    y_test: Codes


def make_simulation(
    n_train: int = 200,
    n_test: int = 2000,
    n_features: int = 5,
    n_classes: int = 4,
    *,
    shares: Sequence[float] | None = None,
    random_state: int = 0,
) -> Simulation:
    """Draw training and test data of the paper's simulation.

    The centres of the clusters are corners of a cube of side 3.  ``make_classification``
    multiplies each cluster by a random matrix.  Therefore the variance of a cluster is not
    1, although the paper says so.  The first rows of each class are training rows, the next
    ones are test rows.

    Parameters
    ----------
    n_train, n_test : int
        Numbers of training and test rows.  They are rounded for each class: 1000 rows of
        six classes become 6 x 167 rows.
    n_features : int
        Number of features, all of them informative.
    n_classes : int
        Number of classes, at most ``2 ** n_features``.
    shares : sequence of float, default=None
        Share of each class in the training rows.  None gives equal shares.  The test rows
        always have equal shares.
    random_state : int, default=0
        Seed.

    Returns
    -------
    Simulation
        ``X_train, y_train, X_test, y_test``.

    Examples
    --------
    >>> from wdrsvm.datasets import make_simulation
    >>> X_train, y_train, X_test, y_test = make_simulation(shares=(0.45, 0.25, 0.25, 0.05))
    >>> np.bincount(y_train), np.bincount(y_test)
    (array([90, 50, 50, 10]), array([500, 500, 500, 500]))
    """
    _check_sizes(n_train=n_train, n_test=n_test, n_features=n_features, n_classes=n_classes)
    if n_classes > 2**n_features:
        raise ValueError(
            f"n_classes must be at most 2 ** n_features = {2**n_features}, the corners of "
            f"the cube, got {n_classes!r}."
        )
    if shares is not None and not _are_shares(shares, n_classes):
        raise ValueError(
            f"shares must be {n_classes} numbers >= 0 that sum to 1, got {shares!r}."
        )
    X, y = make_classification(
        n_samples=SURPLUS * (n_train + n_test),
        n_features=n_features,
        n_informative=n_features,
        n_redundant=0,
        n_repeated=0,
        n_classes=n_classes,
        n_clusters_per_class=1,
        flip_y=0,
        class_sep=1.5,
        hypercube=True,
        shuffle=False,
        random_state=random_state,
    )
    even = [1 / n_classes] * n_classes
    train_counts = _counts(n_train, shares or even)
    test_counts = _counts(n_test, even)
    train, test = [], []
    for code, (count, next_count) in enumerate(zip(train_counts, test_counts, strict=True)):
        rows = np.flatnonzero(y == code)
        train.append(rows[:count])
        test.append(rows[count : count + next_count])
    first, then = np.concatenate(train), np.concatenate(test)
    codes = y.astype(np.intp)
    return Simulation(X[first], codes[first], X[then], codes[then])


def _counts(total: int, shares: Sequence[float]) -> Codes:
    return np.rint(total * np.asarray(shares)).astype(np.intp)


def _check_sizes(**sizes: int) -> None:
    for name, value in sizes.items():
        if not isinstance(value, Integral) or isinstance(value, bool) or value < 1:
            raise ValueError(f"{name} must be an integer >= 1, got {value!r}.")


def _are_shares(shares: Sequence[float], n_classes: int) -> bool:
    return (
        len(shares) == n_classes and min(shares) >= 0 and bool(np.isclose(sum(shares), 1))
    )
