"""Kernels by name, evaluated by scikit-learn's pairwise functions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

import numpy as np
from scipy import sparse

from ..arrays import Floats
from ..problem.ball import as_float

# The parameters of each kernel.
PARAMETERS: dict[str, tuple[str, ...]] = {
    "linear": (),
    "rbf": ("gamma",),
    "laplacian": ("gamma",),
    "poly": ("gamma", "degree", "coef0"),
}
PRECOMPUTED = "precomputed"
DIAGONAL_BLOCK = 256


@dataclass(frozen=True)
class Kernel:
    """A kernel function with its parameters, called on two sets of rows.

    ``function`` is a key of ``PARAMETERS``, a callable of two matrices, or
    ``"precomputed"``, where the rows already hold kernel values.
    """

    function: str | Callable[..., Any]
    parameters: tuple[tuple[str, Any], ...] = ()

    @property
    def is_precomputed(self) -> bool:
        return isinstance(self.function, str) and self.function == PRECOMPUTED

    @property
    def is_known_positive(self) -> bool:
        """Whether theory proves that every Gram matrix is positive semidefinite."""
        if callable(self.function) or self.is_precomputed:
            return False
        return self.function != "poly" or dict(self.parameters)["coef0"] >= 0

    def __call__(self, left: Any, right: Any) -> Floats:
        """Kernel values of every row of ``left`` with every row of ``right``."""
        if not callable(self.function):
            # Linear classifiers do without this large part of scikit-learn.
            from sklearn.metrics.pairwise import pairwise_kernels

            values = pairwise_kernels(
                left, right, metric=self.function, **dict(self.parameters)
            )
            return np.asarray(values, dtype=np.float64)
        return self._checked(
            self.function(left, right, **dict(self.parameters)), left, right
        )

    def _checked(self, values: Any, left: Any, right: Any) -> Floats:
        values = values.toarray() if sparse.issparse(values) else values
        given = np.asarray(values, dtype=np.float64)
        shape = (left.shape[0], right.shape[0])
        if given.shape != shape:
            raise ValueError(
                f"kernel must be a function of two matrices that returns one value for "
                f"every pair of their rows: an array of shape {shape}, got {given.shape}."
            )
        if not np.isfinite(given).all():
            raise ValueError("kernel must return finite values, got NaN or infinity.")
        return given

    def diagonal(self, rows: Any) -> Floats:
        """Kernel values of every row with itself."""
        if not callable(self.function) and self.function in ("rbf", "laplacian"):
            return np.ones(rows.shape[0])
        starts = range(0, rows.shape[0], DIAGONAL_BLOCK)
        blocks = (rows[start : start + DIAGONAL_BLOCK] for start in starts)
        return np.concatenate([np.diag(self(block, block)) for block in blocks])


def kernel_of(
    function: Any,
    *,
    gamma: Any = "scale",
    degree: Any = 3,
    coef0: Any = 1.0,
    kernel_params: Any = None,
    X: Any = None,
    weight: Floats | None = None,
) -> Kernel:
    """The kernel for the parameters of an estimator, checked.

    ``gamma`` may depend on the rows ``X`` and their weights.  ``"scale"`` is 1 over the
    product of the number of features and their variance.  ``"auto"`` is 1 over the number
    of features.
    """
    if callable(function):
        if not isinstance(kernel_params, dict | None):
            raise TypeError(
                f"kernel_params must be None or a dict of keyword arguments, "
                f"got {kernel_params!r}."
            )
        return Kernel(function, tuple((kernel_params or {}).items()))
    allowed = (*PARAMETERS, PRECOMPUTED)
    if not isinstance(function, str) or function not in allowed:
        names = ", ".join(repr(name) for name in allowed)
        raise ValueError(f"kernel must be a callable or one of {names}, got {function!r}.")
    if kernel_params is not None:
        raise ValueError(
            f"kernel_params must be None unless kernel is a callable, got "
            f"{kernel_params!r} with kernel={function!r}."
        )
    has = PARAMETERS.get(function, ())
    parameters: dict[str, Any] = {}
    if "gamma" in has:
        parameters["gamma"] = _checked_gamma(gamma, X, weight)
    if "degree" in has:
        parameters["degree"] = _checked_degree(degree)
    if "coef0" in has:
        parameters["coef0"] = _checked_coef0(coef0)
    return Kernel(function, tuple(parameters.items()))


def _checked_gamma(gamma: Any, X: Any, weight: Floats | None) -> float:
    if isinstance(gamma, str) and gamma in ("scale", "auto"):
        n_features = X.shape[1]
        variance = _variance(X, weight) if gamma == "scale" else 1.0
        return float(1 / (n_features * variance)) if variance > 0 else 1.0
    is_number = isinstance(gamma, Real) and not isinstance(gamma, bool)
    if not is_number or not 0 < as_float(gamma) < np.inf:
        raise ValueError(
            f"gamma must be 'scale', 'auto' or a finite number > 0, got {gamma!r}."
        )
    return float(gamma)


def _variance(X: Any, weight: Floats | None) -> float:
    """Weighted variance of all entries of X together."""
    n_rows, n_features = X.shape
    share = np.ones(n_rows) if weight is None else weight
    share = share / (share.sum() * n_features)
    mean = float((share @ X).sum())
    if sparse.issparse(X):
        return max(float((share @ X.multiply(X)).sum()) - mean**2, 0.0)
    return float((share @ (X - mean) ** 2).sum())


def _checked_degree(degree: Any) -> int:
    if not isinstance(degree, Integral) or isinstance(degree, bool) or degree < 1:
        raise ValueError(f"degree must be an integer >= 1, got {degree!r}.")
    return int(degree)


def _checked_coef0(coef0: Any) -> float:
    is_number = isinstance(coef0, Real) and not isinstance(coef0, bool)
    if not is_number or not np.isfinite(as_float(coef0)):
        raise ValueError(f"coef0 must be a finite number, got {coef0!r}.")
    return float(coef0)
