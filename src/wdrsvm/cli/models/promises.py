"""The promise of a saved model on given rows, and its baselines from the model file."""

from __future__ import annotations

import math
from typing import Any

from ...report.model.baselines import ATTRIBUTE, LOGISTIC, Baselines
from ...report.model.promise import BUDGET, Promise, movement_of, promise_of

WITHSTAND = "withstand"


def promised(
    model: Any, features: Any, y: Any, radius: float | None = None, kind: str = ""
) -> Promise:
    """Error rates of a model, on rows in the form that the last step receives."""
    classifier = getattr(model[-1], "best_estimator_", model[-1])
    movement = movement_of(model, budget_of(model, radius))
    baselines = Baselines.of_model(model, y)
    return promise_of(classifier, features, y, baselines, movement, kind)


def budget_of(model: Any, radius: float | None) -> float:
    """How far rows move on average: the user's radius, else the model's, else a default."""
    if radius is not None:
        return radius
    learned = getattr(model, "reading_", {}).get(WITHSTAND)
    return BUDGET if learned is None else float(learned)


def about_comparison(model: Any) -> list[str]:
    """A note if the model file has no baselines."""
    if hasattr(model, ATTRIBUTE):
        return []
    return [
        f"The model file is of an earlier version and holds no {LOGISTIC} to compare with; "
        "fit it again to have one."
    ]


def check_radius(option: str, given: float | None) -> None:
    """Refuse a value that is not a distance."""
    if given is not None and not 0 < given < math.inf:
        raise ValueError(f"{option} must be a finite number > 0, got {given:g}.")
