"""The cost of moving each feature: given, or one over the standard deviation."""

from __future__ import annotations

from typing import Any

from ...arrays import Floats

DEVIATIONS = "std"


def in_deviations(estimator: Any) -> bool:
    """Whether the estimator measures movement in standard deviations of its rows."""
    cost = getattr(estimator, "feature_cost", None)
    if not isinstance(cost, str):
        return False
    if cost != DEVIATIONS:
        raise ValueError(
            f"feature_cost must be {DEVIATIONS!r}, None or an array with one entry for "
            f"each feature, got {cost!r}."
        )
    return True


def resolved_cost(estimator: Any) -> Any:
    """The feature cost of the ball; before a fit, standard deviations are unknown."""
    if in_deviations(estimator):
        return getattr(estimator, "feature_cost_", None)
    return estimator.feature_cost


def fitted_cost(estimator: Any, deviations: Floats | None, n_features: int) -> Floats:
    """The cost of moving each feature by one unit, as a new array."""
    if deviations is not None:
        return 1 / deviations
    costs: Floats = estimator._ball().feature_costs(n_features).copy()
    return costs
