"""A fitted model and labelled rows: what its page and its card both tell."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ...cached import cached_property
from ...robustness import LabelAudit, audit_labels
from ...robustness.frames import feature_names
from .baselines import Baselines
from .promise import Promise, movement_of, promise_of

# The ball of kernel machines that audit the labels; its label cost trusts no label fully.
AUDIT_BALL = {"radius": 0.05, "label_cost": 2.0}


@dataclass(frozen=True, eq=False)
class ReportedModel:
    """The classifier at the end of a pipeline, and rows in the form that it receives.

    ``model`` and ``given`` are the whole model, and the rows as the model takes them.
    """

    model: Any
    given: Any
    classifier: Any
    names: Any
    X: Any
    y: Any
    row: Any
    promise: Promise

    @property
    def chosen(self) -> Any:
        """The classifier; the best one if the model is a search."""
        return getattr(self.classifier, "best_estimator_", self.classifier)

    @property
    def classes(self) -> list[Any]:
        return list(self.classifier.classes_)

    @cached_property
    def predicted(self) -> Any:
        return self.classifier.predict(self.X)

    @cached_property
    def audit(self) -> LabelAudit | str:
        """The audit of the labels, or the sentence that says why there is none.

        Models that are linear in the features have the audit of ``wdrsvm audit``.
        """
        is_linear = hasattr(self.chosen, "coef_")
        kernel = None if is_linear else self.chosen
        estimator = kernel and type(kernel)(**kernel.get_params() | AUDIT_BALL)
        try:
            return audit_labels(self.X, self.y, estimator)
        except ValueError as error:
            return str(error)


def reported_model(model: Any, X: Any, y: Any, row: Any, radius: float) -> ReportedModel:
    """Bring the rows to the form that the classifier receives, and find its promise."""
    y = np.asarray(y)
    row = np.arange(len(y)) if row is None else np.asarray(row)
    if hasattr(model, "steps"):
        features, last = model[:-1].transform(X), model[-1]
        names = _names(model, features.shape[1])
    else:
        features, last = X, model
        names = feature_names(model, X.shape[1])
    baselines = Baselines.of_model(model, y, features)
    chosen = getattr(last, "best_estimator_", last)
    promise = promise_of(chosen, features, y, baselines, movement_of(model, radius))
    return ReportedModel(model, X, last, names, features, y, row, promise)


def _names(model: Any, n_features: int) -> Any:
    """Names of the features, without the name of the step that made the column."""
    names = feature_names(model, n_features)
    return np.array([str(name).rpartition("__")[2] for name in names], dtype=object)
