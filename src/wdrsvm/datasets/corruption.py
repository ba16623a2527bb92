"""Functions that add noise to data, from the data and a seed."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..arrays import Codes, Floats


def flip_labels(y: ArrayLike, share: float, random_state: Any = 0) -> NDArray[Any]:
    """Change a share of the labels; every other class is equally likely.

    Parameters
    ----------
    y : array-like of shape (n_samples,)
        Labels.
    share : float
        Share of the labels that are changed, in [0, 1].
    random_state : int or numpy Generator, default=0
        Seed.

    Returns
    -------
    ndarray of shape (n_samples,)
        The labels, ``round(share * n_samples)`` of them wrong.

    Examples
    --------
    >>> import numpy as np
    >>> from wdrsvm.datasets import flip_labels
    >>> y = np.array(["ash", "birch"] * 50)
    >>> int(np.sum(flip_labels(y, 0.2) != y))
    20
    """
    y, share = np.asarray(y), _checked_share(share, "share")
    rng = np.random.default_rng(random_state)
    rows = rng.choice(len(y), round(share * len(y)), replace=False)
    return _turned(y, rows, rng)


def flip_labels_by_class(
    y: ArrayLike, shares: Sequence[float], random_state: Any = 0
) -> NDArray[Any]:
    """Change a given share of the labels of each class.

    Parameters
    ----------
    y : array-like of shape (n_samples,)
        Labels.
    shares : sequence of float
        Share of the labels that are changed, one number per class in sorted order.
    random_state : int or numpy Generator, default=0
        Seed.

    Returns
    -------
    ndarray of shape (n_samples,)
        The labels.

    Examples
    --------
    >>> import numpy as np
    >>> from wdrsvm.datasets import flip_labels_by_class
    >>> y = np.array([0] * 10 + [1] * 10)
    >>> np.bincount(flip_labels_by_class(y, (0.0, 0.3)))
    array([13,  7])
    """
    y = np.asarray(y)
    classes, codes = np.unique(y, return_inverse=True)
    if np.ndim(shares) != 1 or len(shares) != len(classes):
        raise ValueError(
            f"shares must be {len(classes)} numbers, one per class, got {shares!r}."
        )
    rng = np.random.default_rng(random_state)
    chosen = []
    for code, share in enumerate(shares):
        rows = np.flatnonzero(codes == code)
        count = round(_checked_share(share, "shares") * len(rows))
        chosen.append(rng.choice(rows, count, replace=False))
    return _turned(y, np.concatenate(chosen), rng)


def make_imbalanced(
    y: ArrayLike, ratio: float, *, min_count: int = 5, random_state: Any = 0
) -> Codes:
    """Choose rows so that the classes have very different sizes.

    Classes are ordered from the largest to the smallest, equal ones in random order.  The
    largest allowed sizes of the classes, relative to the largest class, decrease
    geometrically from 1 to ``ratio``.

    Parameters
    ----------
    y : array-like of shape (n_samples,)
        Labels.
    ratio : float
        Size of the rarest class relative to the most frequent class, in (0, 1].  A class
        that is already smaller stays as it is.
    min_count : int, default=5
        Least number of rows that a class keeps, if it has as many.
    random_state : int or numpy Generator, default=0
        Seed.

    Returns
    -------
    ndarray of int
        Sorted numbers of the rows that are kept.

    Examples
    --------
    >>> import numpy as np
    >>> from wdrsvm.datasets import make_imbalanced
    >>> y = np.repeat([0, 1, 2], 50)
    >>> sorted(np.bincount(y[make_imbalanced(y, 0.1)]).tolist())
    [5, 16, 50]
    """
    if not isinstance(ratio, Real) or not 0 < ratio <= 1:
        raise ValueError(f"ratio must be a number in (0, 1], got {ratio!r}.")
    if not isinstance(min_count, Integral) or min_count < 0:
        raise ValueError(f"min_count must be an integer >= 0, got {min_count!r}.")
    rng = np.random.default_rng(random_state)
    classes, codes = np.unique(np.asarray(y), return_inverse=True)
    if not len(classes):
        raise ValueError("y must have at least one label, got none.")
    sizes = np.bincount(codes)
    order = rng.permutation(len(classes))
    order = order[np.argsort(-sizes[order], kind="stable")]
    shares = np.empty(len(classes))
    shares[order] = np.geomspace(1.0, ratio, len(classes))
    counts = np.minimum(sizes, np.maximum(np.rint(shares * sizes.max()), min_count))
    kept = [
        rng.choice(np.flatnonzero(codes == code), int(count), replace=False)
        for code, count in enumerate(counts)
    ]
    return np.sort(np.concatenate(kept)).astype(np.intp)


def add_feature_noise(X: ArrayLike, scale: float, random_state: Any = 0) -> Floats:
    """Add Gaussian noise whose scale is relative to each feature's standard deviation.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Features.
    scale : float
        Standard deviation of the noise divided by that of the feature, >= 0.
    random_state : int or numpy Generator, default=0
        Seed.

    Returns
    -------
    ndarray of shape (n_samples, n_features)
        The noisy features.

    Examples
    --------
    >>> import numpy as np
    >>> from wdrsvm.datasets import add_feature_noise
    >>> X = np.random.default_rng(0).normal(size=(1000, 2)) * [1.0, 100.0]
    >>> (add_feature_noise(X, 0.5) - X).std(axis=0) / X.std(axis=0)
    array([0.5, 0.5])
    """
    if not isinstance(scale, Real) or not scale >= 0:
        raise ValueError(f"scale must be a number >= 0, got {scale!r}.")
    X = np.asarray(X, dtype=float)
    noise = np.random.default_rng(random_state).normal(size=X.shape)
    return X + scale * X.std(axis=0) * noise


def _turned(y: NDArray[Any], rows: NDArray[Any], rng: Any) -> NDArray[Any]:
    """A copy of the labels in which the labels of these rows are changed."""
    classes, codes = np.unique(y, return_inverse=True)
    if len(classes) < 2 and len(rows):
        raise ValueError("y must have at least two classes, else no label can change.")
    steps = rng.integers(1, max(len(classes), 2), len(rows))
    codes[rows] = (codes[rows] + steps) % len(classes)
    return classes[codes]


def _checked_share(share: float, name: str) -> float:
    if not isinstance(share, Real) or not 0 <= share <= 1:
        raise ValueError(f"{name} must be in [0, 1], got {share!r}.")
    return float(share)
