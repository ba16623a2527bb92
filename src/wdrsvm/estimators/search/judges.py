"""Scoring in a search: the held-out rows, the scorers, and the scorers' arguments."""

from __future__ import annotations

import inspect
from typing import Any, NamedTuple

import numpy as np
from sklearn import get_config
from sklearn.metrics import check_scoring
from sklearn.utils import Bunch, get_tags

from ...inputs.arrays import nominal_weight, observed_classes, some_rows

# The name of the scorer if there is only one.
ALONE = "score"


class GivenRows(NamedTuple):
    """The checked arguments of ``fit``."""

    X: Any
    y: Any
    sample_weight: Any
    label_trust: Any

    def part(self, estimator: Any, rows: Any, trained: Any = None) -> GivenRows:
        """Some of the rows.

        For a precomputed kernel, X holds the kernel values of these rows with the
        training rows.
        """
        weight, trust = self.sample_weight, self.label_trust
        return GivenRows(
            self._features(estimator, rows, rows if trained is None else trained),
            self.y[rows],
            None if weight is None else weight[rows],
            None if trust is None else trust[rows],
        )

    def _features(self, estimator: Any, rows: Any, trained: Any) -> Any:
        if not get_tags(estimator).input_tags.pairwise:
            return some_rows(self.X, rows)
        if self.X.shape[0] != self.X.shape[1]:
            raise ValueError(
                "X must be a square matrix of kernel values where kernel is 'precomputed', "
                f"got shape {self.X.shape}."
            )
        return self.X[rows][:, trained]


class Judge(NamedTuple):
    """A scorer and its arguments besides X and y, with one entry per row of the data."""

    scorer: Any
    given: dict[str, Any]

    def score(self, fitted: Any, held_out: GivenRows, rows: Any) -> float:
        """The score on held-out rows.

        The scorer None is the accuracy, computed without scikit-learn's input checks.
        """
        given = {name: value[rows] for name, value in self.given.items()}
        if self.scorer is None:
            right = fitted.predict(held_out.X) == held_out.y
            return float(np.average(right, weights=given.get("sample_weight")))
        return self.scorer(fitted, held_out.X, held_out.y, **given)


def scorers_of(estimator: Any, scoring: Any) -> dict[str, Any]:
    """The scorers of ``scoring`` by name; a single scorer has the name ``ALONE``."""
    if scoring is None or isinstance(scoring, str) or callable(scoring):
        return {ALONE: check_scoring(estimator, scoring or "accuracy")}
    several = isinstance(scoring, dict | list | tuple | set)
    names = list(scoring) if several else []
    if not names or not all(isinstance(name, str) for name in names):
        raise ValueError(
            "scoring must be None, a name, a callable, a list of names or a dict of them "
            f"by name, got {scoring!r}."
        )
    if len(set(names)) < len(names):
        raise ValueError(f"scoring must name each scorer once, got {scoring!r}.")
    chosen = scoring if isinstance(scoring, dict) else dict(zip(names, names, strict=True))
    return {name: check_scoring(estimator, each) for name, each in chosen.items()}


def routed_name(scorer: str) -> str:
    """The name of a scorer in metadata routing; each of several has a different name."""
    return "scorer" if scorer == ALONE else f"scorer_{scorer}"


def judges_of(
    scorers: dict[str, Any], rows: GivenRows, class_weight: Any, routed: Bunch
) -> dict[str, Judge]:
    """Each scorer with its arguments; a scorer may be None.

    The sample weights are the row weights times the class weights, as in training.
    """
    weight = score_weight(rows, class_weight)
    routing = get_config()["enable_metadata_routing"]
    judges = {}
    for name, scorer in scorers.items():
        asked = routed.get(routed_name(name), Bunch(score={})).score
        given = {key: np.asarray(value) for key, value in asked.items()}
        # Class weights are not metadata: our own accuracy uses them without a request.
        own = scorer is None and rows.sample_weight is None
        weighs = own or "sample_weight" in given if routing else _weighs(scorer, rows)
        if weighs and weight is not None:
            given["sample_weight"] = weight
        judges[name] = Judge(scorer, given)
    return judges


def score_weight(rows: GivenRows, class_weight: Any) -> Any:
    """The weights for scoring, or None if neither rows nor classes have weights."""
    if class_weight is None:
        return rows.sample_weight
    classes, codes = observed_classes(rows.y)
    return nominal_weight(rows.sample_weight, class_weight, classes, codes)


def _weighs(scorer: Any, rows: GivenRows) -> bool:
    """Whether a scorer gets the argument ``sample_weight``.

    If rows have weights, a scorer made by scikit-learn always gets them, and may refuse
    them.  Otherwise, a scorer gets weights only if it has the parameter.
    """
    if scorer is None or (
        hasattr(scorer, "_score_func") and rows.sample_weight is not None
    ):
        return True
    parameters = inspect.signature(getattr(scorer, "_score_func", scorer)).parameters
    named = "sample_weight" in parameters
    return named or any(each.kind is each.VAR_KEYWORD for each in parameters.values())


def groups_alone(owner: Any, params: dict[str, Any]) -> dict[str, Any]:
    """Arguments of the splitter if metadata routing is off: ``groups``, if given."""
    unknown = sorted(set(params) - {"groups"})
    if unknown:
        raise TypeError(
            f"{type(owner).__name__}.fit got unexpected arguments {unknown}: without "
            "metadata routing it knows 'groups' alone."
        )
    return {name: value for name, value in params.items() if value is not None}
