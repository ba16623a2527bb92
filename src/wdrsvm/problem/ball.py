"""The Wasserstein ball: the distributions against which the classifier is trained.

The adversary may move probability mass from (x, y) to (x', y') at the cost

    || diag(feature_cost) (x' - x) ||  +  label_cost[y, y']
    +  switching cost of every categorical feature that changes

and has the budget ``radius``.  x' must lie in ``support``.  This file checks all of these
arguments.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ..arrays import Codes, Floats
from .norms import HUGE, NORMS, TINY


def _as_floats(value: ArrayLike, name: str) -> Floats:
    try:
        return np.array(value, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise TypeError(f"{name} must be numeric, got {value!r}.") from None


def as_float(value: Any) -> float:
    """A number as a float; infinity for an integer that is larger than every float.

    Examples
    --------
    >>> from wdrsvm.problem.ball import as_float
    >>> as_float(10**400)
    inf
    """
    try:
        return float(value)
    except OverflowError:
        return np.inf if value > 0 else -np.inf


class CategoricalGroup(NamedTuple):
    """Columns of a one-hot feature, and the cost of changing its category."""

    columns: Codes
    cost: float


@dataclass(frozen=True, eq=False)
class WassersteinBall:
    """All distributions within a given transport distance of the data.

    Parameters
    ----------
    radius : float
        Budget of the adversary, finite and at least 0.
    label_cost : float or array of shape (n_classes, n_classes), default=inf
        Cost of changing a label, at least 0.  ``inf`` trusts every label.  Entry
        ``[y, c]`` of a matrix is the cost of changing label ``y`` to ``c``.  The
        diagonal must be 0.  ``inf`` marks a change that cannot happen.
    norm : {"l1", "l2", "linf"}, default="l2"
        Norm of the transport cost on features.
    feature_cost : array of shape (n_features,) or None, default=None
        Positive cost of moving each feature by one unit.  ``inf`` marks a feature
        that the adversary cannot move.  None means 1 for every feature.
    support : pair (low, high) or None, default=None
        Box that contains all features, also after the adversary has moved them.  The
        ends are numbers or arrays of shape (n_features,); infinite ends are allowed.
    categorical : sequence of pairs (columns, cost) or None, default=None
        Groups of one-hot columns.  Each group is a categorical feature.  The adversary
        may change its category at the given cost; ``inf`` forbids the change.  ``norm``,
        ``feature_cost`` and ``support`` apply to the other columns.

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
    support: tuple[ArrayLike, ArrayLike] | None = None
    categorical: Sequence[tuple[ArrayLike, float]] | None = None

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
            object.__setattr__(self, "support", _checked_support(self.support))
        if self.categorical is not None:
            groups = _checked_groups(self.categorical)
            _check_disjoint(groups)
            object.__setattr__(self, "categorical", groups or None)

    @property
    def is_bounded(self) -> bool:
        """Whether a box or categories limit the moves of features."""
        if self.categorical is not None:
            return True
        ends = () if self.support is None else self.support
        return any(np.isfinite(np.asarray(end)).any() for end in ends)

    def unbounded(self) -> WassersteinBall:
        """The same ball without box and categories."""
        if self.support is None and self.categorical is None:
            return self
        return replace(self, support=None, categorical=None)

    def freed(self, n_features: int) -> WassersteinBall:
        """A ball without box and categories that contains this one.

        A switched category moves two of its columns by one, which must cost no more than
        the switch.
        """
        if self.support is None and self.categorical is None:
            return self
        cost = self.feature_costs(n_features).copy()
        length = float(NORMS[self.norm].of_rows(np.ones(2)))
        for group in self.groups(n_features):
            cost[group.columns] = group.cost / length
        return replace(self, feature_cost=cost, support=None, categorical=None)

    def box(self, n_features: int) -> tuple[Floats, Floats]:
        """Lower and upper ends as (n_features,) arrays; infinite if support is None."""
        if self.support is None:
            return np.full(n_features, -np.inf), np.full(n_features, np.inf)
        ends = [np.asarray(end, dtype=np.float64) for end in self.support]
        if any(end.ndim == 1 and len(end) != n_features for end in ends):
            raise ValueError(
                f"support has ends of shapes {ends[0].shape} and {ends[1].shape}, but X "
                f"has {n_features} features."
            )
        low, high = (np.broadcast_to(end, n_features) for end in ends)
        return low, high

    def groups(self, n_features: int) -> list[CategoricalGroup]:
        """The categorical features, checked against the number of columns of X."""
        groups = [_checked_group(group) for group in self.categorical or ()]
        largest = max((int(group.columns.max()) for group in groups), default=-1)
        if largest >= n_features:
            raise ValueError(
                f"categorical names column {largest}, but X has {n_features} features."
            )
        return groups

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

    def trusts_labels(self, n_classes: int) -> bool:
        """Whether no label can change."""
        others = ~np.eye(n_classes, dtype=bool)
        return bool(np.isinf(self.label_cost_matrix(n_classes)[others]).all())

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
    value = as_float(radius)
    if not (np.isfinite(value) and value >= 0):
        raise ValueError(f"radius must be a finite number >= 0, got {value!r}.")
    if value > HUGE:
        raise ValueError(f"radius must be at most {HUGE:g}, got {value!r}.")
    return value


def check_cost_size(values: Floats, name: str) -> None:
    """Refuse numbers whose products might overflow; 0 and infinity are allowed."""
    sizes = np.abs(values[np.isfinite(values) & (values != 0)])
    if sizes.size and not (TINY <= sizes.min() and sizes.max() <= HUGE):
        odd = float(sizes.min() if sizes.min() < TINY else sizes.max())
        raise ValueError(
            f"{name} must be between {TINY:g} and {HUGE:g} where it is neither 0 nor "
            f"infinite, got {odd!r}."
        )


def _checked_label_cost(label_cost: ArrayLike) -> float | Floats:
    if isinstance(label_cost, float) and (TINY <= label_cost <= HUGE):
        return float(label_cost)
    cost = _as_floats(label_cost, "label_cost")
    if np.isnan(cost).any() or (cost < 0).any():
        raise ValueError(f"label_cost must be >= 0 (inf is allowed), got {label_cost!r}.")
    check_cost_size(cost, "label_cost")
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
            f"feature_cost must have one entry per feature, got shape {cost.shape}."
        )
    if np.isnan(cost).any() or (cost <= 0).any():
        raise ValueError(
            "feature_cost must be > 0 in every entry (inf is allowed), "
            f"got {feature_cost!r}."
        )
    check_cost_size(cost, "feature_cost")
    cost.setflags(write=False)
    return cost


def _checked_support(support: Any) -> tuple[Floats, Floats]:
    if not isinstance(support, (tuple, list)) or len(support) != 2:
        raise TypeError(f"support must be a pair (low, high), got {support!r}.")
    low, high = (_as_floats(end, "support") for end in support)
    if low.ndim > 1 or high.ndim > 1:
        raise ValueError(
            "support must have ends that are numbers or have one entry per feature, got "
            f"shapes {low.shape} and {high.shape}."
        )
    if not np.all(low <= high):
        raise ValueError(f"support must have low <= high in every entry, got {support!r}.")
    if np.any(low == np.inf) or np.any(high == -np.inf):
        raise ValueError(f"support must not be empty, got {support!r}.")
    for end in (low, high):
        if np.any(np.isfinite(end) & (np.abs(end) > HUGE)):
            raise ValueError(
                f"support must have ends of at most {HUGE:g} in size, or infinite ones, "
                f"got {support!r}."
            )
    return low, high


def _checked_groups(categorical: Any) -> tuple[CategoricalGroup, ...]:
    if isinstance(categorical, str) or not isinstance(categorical, Iterable):
        raise TypeError(
            f"categorical must be a sequence of pairs (columns, cost), got {categorical!r}."
        )
    return tuple(_checked_group(group) for group in categorical)


def _checked_group(group: Any) -> CategoricalGroup:
    try:
        columns, cost = group
        columns = np.asarray(columns)
        cost = as_float(cost)
    except (TypeError, ValueError):
        raise TypeError(
            f"categorical must hold pairs (columns, cost), got {group!r}."
        ) from None
    whole = columns.ndim == 1 and len(columns) > 1 and columns.dtype.kind in "iu"
    if not whole or (columns < 0).any():
        raise ValueError(
            f"categorical must name two columns or more by their numbers, got {group!r}."
        )
    if not cost > 0:
        raise ValueError(f"categorical must have costs > 0 (inf is allowed), got {cost!r}.")
    check_cost_size(np.array(cost), "categorical's cost")
    return CategoricalGroup(columns.astype(np.intp), cost)


def _check_disjoint(groups: tuple[CategoricalGroup, ...]) -> None:
    if not groups:
        return
    columns, times = np.unique(
        np.concatenate([group.columns for group in groups]), return_counts=True
    )
    if (times > 1).any():
        raise ValueError(f"categorical names column {columns[times > 1][0]} twice.")
