"""Messages about sets of labels: errors, a warning, and the promise as a sentence."""

from __future__ import annotations

import warnings
from numbers import Real
from typing import Any

import numpy as np

from ...arrays import Floats
from ...inputs.arrays import checked_flag
from ...robustness.promises.errors.error_curve import percent
from ...robustness.promises.errors.worst_case_error import wording_of


def check_parameters(conformal: Any) -> None:
    """Refuse parameters outside their allowed range."""
    coverage, multiplier = conformal.coverage, conformal.multiplier
    if not isinstance(coverage, Real) or not 0 < float(coverage) < 1:
        raise ValueError(f"coverage must be a number in (0, 1), got {coverage!r}.")
    checked_flag(conformal.by_class, "by_class")
    if multiplier is None:
        return
    if not isinstance(multiplier, Real) or not 0 <= float(multiplier) < np.inf:
        raise ValueError(
            f"multiplier must be None or a finite number >= 0, got {multiplier!r}."
        )


def promise_in_words(conformal: Any) -> str:
    """The promise of a fitted classifier as a sentence."""
    ball = conformal.ball_
    stay = ball.trusts_labels(len(conformal.classes_))
    # A confidence selects the wording about new rows; its value is not in the sentence.
    who, how, _ = wording_of(conformal.estimators_[0], stay, confidence=1.0)
    if conformal._by_class:
        who = who.replace("new rows", "new rows of any one class")
    lost = percent(1 - conformal.promised_coverage_)
    lost = f"the sets lack the label of at most {lost}"
    if ball.radius == 0:
        return f"On average over calibrations: {lost} of {who}."
    moved = how.format(radius=ball.radius)
    return f"On average over calibrations: if {who} {moved}, {lost} of them."


def warn_of_full_sets(conformal: Any, thresholds: Floats) -> None:
    """Warn which labels are in every set, because their thresholds (K, C) are infinite."""
    everywhere = np.isinf(thresholds).mean(axis=0) >= 0.5
    if not everywhere.any():
        return
    labels = conformal.classes_[everywhere].tolist()
    which = "all labels" if everywhere.all() else f"the labels {labels}"
    warnings.warn(
        f"No threshold keeps a coverage of {conformal.coverage:g} at radius "
        f"{conformal.ball_.radius:g} with so few calibration rows, or so large a "
        f"multiplier: every set holds {which}.",
        UserWarning,
        stacklevel=4,
    )
