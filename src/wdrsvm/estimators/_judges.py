"""What scores a classifier of a search: rows held out, scorers and what these are given."""

from __future__ import annotations

import inspect
from typing import Any, NamedTuple

import numpy as np
from sklearn import get_config
from sklearn.utils import Bunch
from sklearn.utils.metaestimators import _safe_split

from ..inputs.arrays import nominal_weight, observed_classes

# The name of a scorer that is alone.
ALONE = "score"


class Rows(NamedTuple):
    """What ``fit`` was given, checked."""

    X: Any
    y: Any
    sample_weight: Any
    label_trust: Any

    def part(self, estimator: Any, rows: Any, trained: Any = None) -> Rows:
        """Some rows; of a precomputed kernel, their values with those trained on."""
        X, y = _safe_split(estimator, self.X, self.y, rows, trained)
        weight, trust = self.sample_weight, self.label_trust
        return Rows(
            X,
            y,
            None if weight is None else weight[rows],
            None if trust is None else trust[rows],
        )


class Judge(NamedTuple):
    """A scorer and what it is given beside rows and labels, for all rows."""

    scorer: Any
    given: dict[str, Any]

    def score(self, fitted: Any, held_out: Rows, rows: Any) -> float:
        """None is the accuracy, without checks that every point would repeat."""
        given = {name: value[rows] for name, value in self.given.items()}
        if self.scorer is None:
            right = fitted.predict(held_out.X) == held_out.y
            return float(np.average(right, weights=given.get("sample_weight")))
        return self.scorer(fitted, held_out.X, held_out.y, **given)


def routed_name(scorer: str) -> str:
    """What the router calls a scorer: a name of its own for each of several."""
    return "scorer" if scorer == ALONE else f"scorer_{scorer}"


def judges_of(
    scorers: dict[str, Any], rows: Rows, class_weight: Any, routed: Bunch
) -> dict[str, Judge]:
    """Each scorer, a None too, with what it asked for or can take.

    Weights are those of the rows times those of their classes, as in training.
    """
    weight = _score_weight(rows, class_weight)
    routing = get_config()["enable_metadata_routing"]
    judges = {}
    for name, scorer in scorers.items():
        asked = routed.get(routed_name(name), Bunch(score={})).score
        given = {key: np.asarray(value) for key, value in asked.items()}
        # No metadata: the weights of classes reach our own accuracy in any case.
        own = scorer is None and rows.sample_weight is None
        weighs = own or "sample_weight" in given if routing else _weighs(scorer, rows)
        if weighs and weight is not None:
            given["sample_weight"] = weight
        judges[name] = Judge(scorer, given)
    return judges


def _score_weight(rows: Rows, class_weight: Any) -> Any:
    """None if neither rows nor classes have weights."""
    if class_weight is None:
        return rows.sample_weight
    classes, codes = observed_classes(rows.y)
    return nominal_weight(rows.sample_weight, class_weight, classes, codes)


def _weighs(scorer: Any, rows: Rows) -> bool:
    """Whether a scorer is given weights.

    One made by scikit-learn is always given those of the rows, and may refuse them; those
    of classes alone only if it can take them, as a function of the user's own.
    """
    if scorer is None or (
        hasattr(scorer, "_score_func") and rows.sample_weight is not None
    ):
        return True
    parameters = inspect.signature(getattr(scorer, "_score_func", scorer)).parameters
    named = "sample_weight" in parameters
    return named or any(each.kind is each.VAR_KEYWORD for each in parameters.values())
