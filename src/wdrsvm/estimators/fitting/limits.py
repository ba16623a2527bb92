"""Box and categories of an estimator's ball: given, or found in a data frame."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ...inputs.arrays import as_matrix
from ...inputs.dask_collections import is_lazy
from ...inputs.frames import is_frame, observed_box, one_hot_groups
from ...problem import WassersteinBall

AUTO = "auto"
LIMITS = ("support", "categorical")


def is_auto(estimator: Any, name: str) -> bool:
    """Whether a limit shall be found in the frame."""
    given = getattr(estimator, name, None)
    return isinstance(given, str) and given == AUTO


def resolved_limits(estimator: Any) -> tuple[Any, Any]:
    """``support`` and ``categorical`` of the ball; before a fit, ``"auto"`` is unknown."""
    found = []
    for name in LIMITS:
        automatic = is_auto(estimator, name)
        place = f"{name}_" if automatic else name
        found.append(getattr(estimator, place, None))
    return found[0], found[1]


def found_limits(estimator: Any, given: Any, X: Any) -> dict[str, Any]:
    """The limits that the estimator asks for, from a frame and its values X."""
    found: dict[str, Any] = {}
    for name in LIMITS:
        if not is_auto(estimator, name):
            continue
        if not is_frame(given):
            kind = "a dask collection" if is_lazy(given) else type(given).__name__
            raise ValueError(
                f"{name}='auto' needs a pandas or polars DataFrame, whose columns have "
                f"names and types, got {kind}: give {name} itself, or "
                "see wdrsvm.mixed_table."
            )
        found[name] = observed_box(X) if name == "support" else one_hot_groups(given)
    return found


def keep_limits(estimator: Any, given: Any, X: Any) -> None:
    """Keep what was found as ``support_`` and ``categorical_``."""
    for name in LIMITS:
        vars(estimator).pop(f"{name}_", None)
    for name, value in found_limits(estimator, given, X).items():
        setattr(estimator, f"{name}_", value)


def ball_around(estimator: Any, X: Any) -> WassersteinBall:
    """The ball of an estimator; a box that was found is widened to contain X."""
    ball: WassersteinBall = estimator._ball()
    if not is_auto(estimator, "support") or ball.support is None:
        return ball
    given = X.to_numpy() if hasattr(X, "to_numpy") else X
    values = as_matrix(given if hasattr(given, "min") else np.asarray(given))
    return replace(ball, support=observed_box(values, ball.support))
