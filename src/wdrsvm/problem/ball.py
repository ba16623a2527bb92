"""The Wasserstein ball: which distributions the classifier must withstand.

The adversary may move probability mass from (x, y) to (x', y') at the cost

    || diag(feature_cost) (x' - x) ||  +  label_cost[y, y']

and has the budget ``radius``.  All validation of these numbers is here.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .norms import NORMS

Floats = NDArray[np.float64]


def _as_floats(value: ArrayLike, name: str) -> Floats:
    try:
        return np.array(value, dtype=np.float64)
    except (TypeError, ValueError):
        raise TypeError(f"{name} must be numeric, got {value!r}.") from None


@dataclass(frozen=True, eq=False)
class WassersteinBall:
    """All distributions within a transport distance of the data.

    Parameters
    ----------
    radius : float
        Budget of the adversary, finite and at least 0.
    label_cost : float or array of shape (n_classes, n_classes), default=inf
        Cost of changing a label, at least 0.  ``inf`` trusts every label.  Entry
        ``[y, c]`` of a matrix is the cost of turning label ``y`` into ``c``; its
        diagonal must be 0 and ``inf`` marks a confusion that cannot happen.
    norm : {"l1", "l2", "linf"}, default="l2"
        Norm of the transport cost on features.
    feature_cost : array of shape (n_features,) or None, default=None
        Positive price of moving each feature by one unit; ``inf`` marks a feature
        the adversary cannot touch.  None means 1 everywhere.
    support : None
        Reserved for features bounded in a box.

    Examples
    --------
    >>> from wdrsvm import WassersteinBall
    >>> WassersteinBall(radius=0.1, label_cost=2.0).label_cost_matrix(2)
    array([[0., 2.],
           [2., 0.]])
    """

    radius: float
    label_cost: float | ArrayLike = np.inf
    norm: str = "l2"
    feature_cost: ArrayLike | None = None
    support: None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "radius", _checked_radius(self.radius))
        object.__setattr__(self, "label_cost", _checked_label_cost(self.label_cost))
        if not isinstance(self.norm, str) or self.norm not in NORMS:
            allowed = ", ".join(repr(name) for name in NORMS)
            raise ValueError(f"norm must be one of {allowed}, got {self.norm!r}.")
        if self.feature_cost is not None:
            cost = _checked_feature_cost(self.feature_cost)
            object.__setattr__(self, "feature_cost", cost)
        if self.support is not None:
            raise ValueError("support must be None: bounded features are not available.")

    def label_cost_matrix(self, n_classes: int) -> Floats:
        """Label costs as a (n_classes, n_classes) array with a zero diagonal."""
        cost = np.asarray(self.label_cost, dtype=np.float64)
        if cost.ndim == 0:
            matrix = np.full((n_classes, n_classes), float(cost))
            np.fill_diagonal(matrix, 0.0)
            return matrix
        if cost.shape != (n_classes, n_classes):
            raise ValueError(
                f"label_cost has shape {cost.shape}, but there are {n_classes} classes: "
                f"a matrix must have shape ({n_classes}, {n_classes}), in the order of "
                "classes_, and every class must be present in y."
            )
        return cost

    def feature_costs(self, n_features: int) -> Floats:
        """Feature costs as a (n_features,) array."""
        if self.feature_cost is None:
            return np.ones(n_features)
        cost = np.asarray(self.feature_cost, dtype=np.float64)
        if cost.shape != (n_features,):
            raise ValueError(
                f"feature_cost has shape {cost.shape}, but X has {n_features} features: "
                f"it must have shape ({n_features},)."
            )
        return cost


def _checked_radius(radius: object) -> float:
    if isinstance(radius, (bool, np.bool_)) or not isinstance(
        radius, (int, float, np.integer, np.floating)
    ):
        raise TypeError(f"radius must be a number, got {radius!r}.")
    value = float(radius)
    if not (np.isfinite(value) and value >= 0):
        raise ValueError(f"radius must be a finite number >= 0, got {value!r}.")
    return value


def _checked_label_cost(label_cost: ArrayLike) -> float | Floats:
    cost = _as_floats(label_cost, "label_cost")
    if np.isnan(cost).any() or (cost < 0).any():
        raise ValueError(f"label_cost must be >= 0 (inf is allowed), got {label_cost!r}.")
    if cost.ndim == 0:
        return float(cost)
    if cost.ndim != 2 or cost.shape[0] != cost.shape[1]:
        raise ValueError(
            f"label_cost must be a number or a square matrix, got shape {cost.shape}."
        )
    if np.diag(cost).any():
        raise ValueError(
            "label_cost must have a zero diagonal (keeping a label is free), "
            f"got {np.diag(cost)}."
        )
    cost.setflags(write=False)
    return cost


def _checked_feature_cost(feature_cost: ArrayLike) -> Floats:
    cost = _as_floats(feature_cost, "feature_cost")
    if cost.ndim != 1:
        raise ValueError(
            f"feature_cost must have one entry a feature, got shape {cost.shape}."
        )
    if np.isnan(cost).any() or (cost <= 0).any():
        raise ValueError(
            "feature_cost must be > 0 in every entry (inf is allowed), "
            f"got {feature_cost!r}."
        )
    cost.setflags(write=False)
    return cost
