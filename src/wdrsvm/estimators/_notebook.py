"""Estimators in a notebook: scikit-learn's diagram, and below it what the fit proves."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from ..robustness.notebook import html_facts, told_cost
from ..robustness.promises.errors.error_curve import percent

CALL = "worst_case_error(X, y) computes it for any rows"
# The objective of a fit that may disbelieve labels is no worst-case risk.
DOUBTING = "objective, with a price for labels not believed"


class NotebookMixin:
    """Adds facts about the fit to the HTML of an estimator.

    A pipeline shows scikit-learn's diagram only.  The diagram has no link: scikit-learn's
    pages do not describe these estimators.
    """

    def _fit_facts(self) -> dict[str, Any]:
        return certificate_facts(self)

    def _repr_html_inner(self) -> str:
        diagram: str = super()._repr_html_inner()  # type: ignore[misc]
        return diagram + fit_table(self)

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        bundle: dict[str, str] = super()._repr_mimebundle_(**kwargs)  # type: ignore[misc]
        if "text/html" in bundle:
            bundle["text/html"] += fit_table(self)
        return bundle


def fit_table(estimator: Any) -> str:
    """The facts of a fitted estimator as a table; nothing before the fit."""
    try:
        check_is_fitted(estimator)
    except NotFittedError:
        return ""
    facts = estimator._fit_facts()
    return html_facts("What the fit proves", facts) if facts else ""


def certificate_facts(estimator: Any) -> dict[str, Any]:
    """Chosen parameters, certificate and worst-case error on the training rows."""
    facts: dict[str, Any] = {}
    if hasattr(estimator, "radius_"):
        cost = told_cost(estimator.label_cost_)
        facts["chosen by the search"] = (
            f"radius {estimator.radius_:.4g}, label cost {cost}, mean score "
            f"{estimator.best_score_:.4g}"
        )
    if hasattr(estimator, "worst_case_error_"):
        facts["worst-case error on the training rows"] = (
            f"at most {percent(float(estimator.worst_case_error_))}"
        )
    else:
        facts["worst-case error"] = CALL
    if hasattr(estimator, "objective_"):
        facts |= _certificate(estimator)
    return facts | {"classes": ", ".join(map(str, estimator.classes_))}


def doubts_labels(estimator: Any) -> bool:
    """Whether the fit may disbelieve labels."""
    noise = getattr(estimator, "label_noise", None)
    return isinstance(noise, str) and noise == "random"


def _certificate(estimator: Any) -> dict[str, Any]:
    if doubts_labels(estimator):
        return {DOUBTING: float(estimator.objective_), "solver": estimator.solver_}
    risk, gap = np.max(estimator.objective_), np.max(estimator.duality_gap_)
    if np.ndim(estimator.objective_):
        name = "largest worst-case risk of a machine on the training rows"
    elif hasattr(estimator, "worst_case_error_"):
        name = "bound of the worst-case error that was minimised"
    else:
        name = "worst-case risk on the training rows"
    facts: dict[str, Any] = {name: float(risk)}
    if np.isfinite(gap) and not hasattr(estimator, "worst_case_error_"):
        facts["proven to be within"] = float(gap)
    return facts | {"solver": estimator.solver_}
