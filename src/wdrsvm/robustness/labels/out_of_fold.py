"""What models that never saw a row's label make of it."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass, replace
from inspect import signature
from typing import Any, NamedTuple

import numpy as np
from scipy.special import log_softmax
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold

from ...arrays import Codes, Floats
from ...inputs.arrays import some_rows

# Forests and neighbours estimate 0 where no other row has the label.
LEAST_PROBABILITY = 1e-6
WEIGHT, TRUST = "sample_weight", "label_trust"


@dataclass(frozen=True, eq=False)
class LabelledRows:
    """Features of any kind that the model takes, label codes, weights, label trust."""

    X: Any
    y: Codes
    weight: Floats
    label_trust: Floats | None

    def fitted(self, model: Any, rows: Codes) -> Any:
        """A copy of the model, fitted to some rows.

        Equal weights are left out for a model that takes no weights (``checked_judge``).
        """
        options = {}
        if takes(model, WEIGHT):
            options[WEIGHT] = self.weight[rows]
        if self.label_trust is not None:
            options[TRUST] = self.label_trust[rows]
        if hasattr(model, "steps"):
            last = model.steps[-1][0]
            options = {f"{last}__{name}": column for name, column in options.items()}
        return deepcopy(model).fit(some_rows(self.X, rows), self.y[rows], **options)


def takes(model: Any, name: str) -> bool:
    """Whether ``fit`` of a model, or of the last step of a pipeline, takes an argument."""
    last = model.steps[-1][1] if hasattr(model, "steps") else model
    arguments = signature(last.fit).parameters
    takes_all = any(each.kind is each.VAR_KEYWORD for each in arguments.values())
    return name in arguments or takes_all


def checked_judge(X: Any, estimator: Any, **given: Any) -> Any:
    """The estimator; refuses what cannot be fitted.

    ``given`` are arguments for ``fit`` that the user may have given.
    """
    if X is None:
        raise ValueError("X must have the features if pred_probs is None, got None.")
    if not hasattr(estimator, "fit"):
        raise TypeError(
            "estimator must be a classifier with fit, and decision_function or "
            f"predict_proba, got {estimator!r}."
        )
    for name, values in given.items():
        if values is not None and not takes(estimator, name):
            raise TypeError(
                f"{name} must be None, because fit of {type(estimator).__name__} does not "
                "take it."
            )
    return estimator


class Fold(NamedTuple):
    """Rows to learn from, and rows to judge."""

    learnt: Codes
    judged: Codes


class OutOfFoldScores(NamedTuple):
    """Scores and log-probabilities of all labels of all rows, each (N, C)."""

    scores: Floats
    log_probability: Floats


def repeated_folds(
    y: Codes, n_splits: int, n_repeats: int, random_state: int
) -> list[list[Fold]]:
    """Divisions of the rows into folds, none with more folds than a class has rows."""
    smallest = int(np.bincount(y).min())
    if smallest < 2:
        raise ValueError(
            "y must have at least 2 rows of each class: a label that occurs once cannot "
            "be judged by other rows."
        )
    seeds = np.random.SeedSequence(random_state).generate_state(n_repeats)
    splitters = [
        StratifiedKFold(min(n_splits, smallest), shuffle=True, random_state=int(seed))
        for seed in seeds
    ]
    return [[Fold(*fold) for fold in s.split(y[:, None], y)] for s in splitters]


def mean_opinion(
    model: Any, rows: LabelledRows, divisions: list[list[Fold]]
) -> OutOfFoldScores:
    """Out-of-fold scores and log-probabilities, averaged over the divisions."""
    opinions = [_opinion(model, rows, folds) for folds in divisions]
    return OutOfFoldScores(*np.mean(opinions, axis=0))


def _opinion(model: Any, rows: LabelledRows, folds: list[Fold]) -> OutOfFoldScores:
    scores = np.empty((len(rows.y), int(rows.y.max()) + 1))
    log_probability = np.full_like(scores, np.nan)
    for fold in folds:
        fitted, judged = rows.fitted(model, fold.learnt), some_rows(rows.X, fold.judged)
        scores[fold.judged] = all_scores(fitted, judged)
        if hasattr(fitted, "predict_proba"):
            log_probability[fold.judged] = log_of(fitted.predict_proba(judged))
    if np.isnan(log_probability).any():
        log_probability = _calibrated(scores, rows, folds)
    return OutOfFoldScores(scores, log_probability)


def _calibrated(scores: Floats, rows: LabelledRows, folds: list[Fold]) -> Floats:
    """Log-probabilities from scores, by a logistic model of the scores, out of fold."""
    # Scores of a constant classifier have no spread.
    level = replace(rows, X=scores / (scores.std() or 1.0), label_trust=None)
    calibrated = np.empty_like(scores)
    for fold in folds:
        logistic = level.fitted(LogisticRegression(max_iter=1000), fold.learnt)
        decision = all_scores(logistic, level.X[fold.judged])
        calibrated[fold.judged] = log_softmax(decision, axis=1)
    return calibrated


def all_scores(fitted: Any, X: Any) -> Floats:
    """One score a class; the decision d of two classes is the scores -d/2 and d/2."""
    if not hasattr(fitted, "decision_function"):
        if hasattr(fitted, "predict_proba"):
            return log_of(fitted.predict_proba(X))
        raise TypeError(
            "estimator must have decision_function or predict_proba, but "
            f"{type(fitted).__name__} has neither."
        )
    decision = np.asarray(fitted.decision_function(X), dtype=np.float64)
    if decision.ndim == 1:
        decision = np.column_stack([-decision, decision]) / 2
    return decision


def log_of(probability: Any) -> Floats:
    """Logarithms; a probability of 0 is an estimate too, and becomes a small one."""
    values = np.asarray(probability, dtype=np.float64)
    return np.asarray(np.log(np.maximum(values, LEAST_PROBABILITY)))
