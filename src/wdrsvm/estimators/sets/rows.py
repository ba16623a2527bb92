"""Split the rows: some calibrate the sets, the others fit or choose the multiplier."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from sklearn import get_config
from sklearn.model_selection import (
    KFold,
    ShuffleSplit,
    StratifiedKFold,
    StratifiedShuffleSplit,
    check_cv,
)
from sklearn.utils import Bunch, assert_all_finite, indexable
from sklearn.utils.metadata_routing import process_routing
from sklearn.utils.validation import check_is_fitted, column_or_1d, has_fit_parameter

from ...arrays import Floats, Labels
from ...inputs.arrays import (
    check_labels_present,
    checked_trust,
    checked_weight,
    observed_classes,
    some_rows,
)
from ...inputs.dask_collections import is_lazy
from ...problem import WassersteinBall
from ...robustness.promises.worst_case import last_classifier
from ..search.judges import GivenRows, groups_alone

PREFIT = "prefit"
# Default shares of the rows that are used for calibration.
SPLIT_SIZE, PREFIT_SIZE = 0.5, 0.8


class CalibrationSplit(NamedTuple):
    """Calibration rows, the other rows, and further arguments of the estimator's fit."""

    rows: GivenRows
    others: GivenRows | None
    given: dict[str, Any]


def is_prefit(cv: Any) -> bool:
    """Whether the estimator is fitted already."""
    if isinstance(cv, str) and cv != PREFIT:
        raise ValueError(
            f"cv must be None, {PREFIT!r}, a number of folds, a splitter or pairs of row "
            f"numbers, got {cv!r}."
        )
    return isinstance(cv, str)


def given_rows(
    X: Any, y: Any, sample_weight: Any, label_trust: Any, routed: Bunch
) -> tuple[GivenRows, Bunch]:
    """The checked arguments of ``fit``, without rows of zero weight."""
    if is_lazy(X):
        raise TypeError("X must be in memory, got a dask collection: compute it.")
    check_labels_present(y)
    y = column_or_1d(y, warn=True)
    if y.dtype.kind == "f":
        assert_all_finite(y, input_name="y")
    X, y = indexable(X, y)
    trust = checked_trust(label_trust, len(y))
    weight = checked_weight(sample_weight, len(y))
    _check_equal(weight)
    if weight.all():
        return GivenRows(X, y, None, trust), routed
    kept = np.flatnonzero(weight)
    cut = {
        name: {call: _cut_params(each, len(y), kept) for call, each in calls.items()}
        for name, calls in routed.items()
    }
    trust = None if trust is None else trust[kept]
    return GivenRows(some_rows(X, kept), y[kept], None, trust), Bunch(**cut)


def _cut_params(params: dict[str, Any], n_rows: int, kept: Any) -> dict[str, Any]:
    """The arguments for the kept rows; only arrays with one entry per row are cut."""
    return {
        name: some_rows(value, kept) if _has_rows(value, n_rows) else value
        for name, value in params.items()
    }


def _has_rows(value: Any, n_rows: int) -> bool:
    if isinstance(value, str | bytes | dict) or not hasattr(value, "__len__"):
        return hasattr(value, "shape") and value.shape[:1] == (n_rows,)
    return len(value) == n_rows


def _check_equal(weight: Floats) -> None:
    carried = weight[weight > 0]
    if carried.min() < carried.max():
        raise ValueError(
            "sample_weight must be 0 or the same number in all rows, because the promise "
            f"is about rows drawn alike, got weights from {carried.min():g} to "
            f"{carried.max():g}."
        )


def routed_arguments(conformal: Any, params: dict[str, Any]) -> Bunch:
    """Arguments of the estimator and of the splitter, besides X and y."""
    known = {name: value for name, value in params.items() if value is not None}
    if get_config()["enable_metadata_routing"]:
        routed = process_routing(conformal, "fit", **known)
        split = routed.splitter.split if "splitter" in routed else {}
        return Bunch(estimator={"fit": routed.estimator.fit}, splitter={"split": split})
    known.pop("sample_weight", None)
    trust = known.pop("label_trust", None)
    groups = groups_alone(conformal, known)
    takes = trust is not None and has_fit_parameter(conformal.estimator, "label_trust")
    given = {"label_trust": trust} if takes else {}
    return Bunch(estimator={"fit": given}, splitter={"split": groups})


def prefit_part(conformal: Any, rows: GivenRows) -> CalibrationSplit:
    """Use all rows for calibration, unless some are needed to choose the multiplier."""
    check_is_fitted(conformal.estimator)
    if not conformal._calibration(conformal.estimator).needs_others:
        return CalibrationSplit(rows, None, {})
    splitter = _random_split(conformal, PREFIT_SIZE, rows.y)
    others, kept = next(splitter.split(np.zeros(len(rows.y)), rows.y))
    return CalibrationSplit(_cut(rows, kept), _cut(rows, others), {})


def _cut(rows: GivenRows, kept: Any) -> GivenRows:
    trust = None if rows.label_trust is None else rows.label_trust[kept]
    return GivenRows(some_rows(rows.X, kept), rows.y[kept], None, trust)


def split_parts(conformal: Any, rows: GivenRows, routed: Bunch) -> list[CalibrationSplit]:
    """One part per split: rows for the fit, and rows for the calibration."""
    observed_classes(rows.y)
    splitter = splitter_of(conformal, rows.y)
    given, parts = routed.estimator["fit"], []
    for train, test in splitter.split(rows.X, rows.y, **routed.splitter["split"]):
        parts.append(
            CalibrationSplit(
                rows.part(conformal.estimator, test, train),
                rows.part(conformal.estimator, train),
                _cut_params(given, len(rows.y), train),
            )
        )
    if not parts:
        raise ValueError(f"cv must make one split at least, got {conformal.cv!r}.")
    return parts


def splitter_of(conformal: Any, y: Any = None) -> Any:
    """The splitter; it is purely random, so that calibration rows are like new rows."""
    cv = conformal.cv
    if cv is None or isinstance(cv, str):
        return _random_split(conformal, SPLIT_SIZE, y)
    if isinstance(cv, int | np.integer):
        kind = StratifiedKFold if conformal.by_class else KFold
        return kind(cv, shuffle=True, random_state=conformal.random_state)
    return check_cv(cv, y, classifier=True)


def _random_split(conformal: Any, default: float, y: Any) -> Any:
    size = default if conformal.test_size is None else conformal.test_size
    # A promise within each class allows a stratified split: it depends on labels only.
    counts = np.unique(y, return_counts=True)[1] if y is not None else np.zeros(1)
    stratified = conformal.by_class and counts.min() > 1
    kind = StratifiedShuffleSplit if stratified else ShuffleSplit
    return kind(1, test_size=size, random_state=conformal.random_state)


def check_classes(estimator: Any, part: CalibrationSplit) -> None:
    """Refuse calibration rows whose class has no row in the fit of the estimator."""
    missing = sorted(set(part.rows.y.tolist()) - set(estimator.classes_.tolist()))
    if missing:
        raise ValueError(
            "y must have enough rows of each class for the estimator to see all of them, "
            f"but the split leaves it none of class {missing[0]!r}."
        )


def shared_classes(estimators: list[Any]) -> Labels:
    """The classes of the estimators; all estimators must have the same classes."""
    classes: Labels = estimators[0].classes_
    if any(not np.array_equal(each.classes_, classes) for each in estimators):
        raise ValueError(
            "cv must leave rows of the same classes to all estimators, got "
            f"{[each.classes_.tolist() for each in estimators]}."
        )
    return classes


def ball_of(ball: Any, estimator: Any) -> WassersteinBall:
    """The given ball, or the ball of the estimator if None is given."""
    if isinstance(ball, WassersteinBall):
        return ball
    last = last_classifier(estimator)
    if ball is not None or not hasattr(last, "_ball"):
        raise TypeError(
            "ball must be a WassersteinBall, or None for an estimator of this package, "
            f"which has its own, got {ball!r} for {type(last).__name__}."
        )
    own: WassersteinBall = last._ball()
    return own


def copy_feature_names(conformal: Any, estimator: Any) -> None:
    """Copy the number and the names of the features from a fitted estimator."""
    for name in ("n_features_in_", "feature_names_in_"):
        vars(conformal).pop(name, None)
        if hasattr(estimator, name):
            setattr(conformal, name, getattr(estimator, name))
