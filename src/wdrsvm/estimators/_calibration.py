"""Thresholds of one fitted classifier, from rows that it was not fitted on."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ..arrays import Floats
from ..problem import WassersteinBall
from ..robustness.promises.error_curve import breakpoints
from ..robustness.promises.set_costs import SetCosts
from ..robustness.promises.set_thresholds import (
    Wanted,
    best_multiplier,
    blind_multiplier,
    calm_threshold,
    robust_threshold,
)
from ..robustness.promises.worst_case import judged_classifier
from ._judges import GivenRows


class Calibration(NamedTuple):
    """What is asked for: the ball, the share of labels that may be lost, for all classes
    together or for each, and the multiplier if it is given."""

    ball: WassersteinBall
    lost: float
    by_class: bool
    multiplier: float | None

    @property
    def needs_others(self) -> bool:
        """Whether rows beside the calibration rows have to choose the multiplier."""
        return self.ball.radius > 0 and self.multiplier is None

    @property
    def wanted(self) -> Wanted:
        return Wanted(self.lost, self.ball.radius)


class Member(NamedTuple):
    """A classifier with the thresholds and multipliers of its labels, both (C,), and the
    number of rows behind them."""

    estimator: Any
    ball: WassersteinBall
    thresholds: Floats
    multipliers: Floats
    n_rows: int


def lost_shares(
    estimator: Any,
    rows: GivenRows,
    ball: WassersteinBall,
    thresholds: Floats,
    by_class: bool,
) -> Floats:
    """Largest shares of lost labels in the ball around rows: (1,) of all rows, or (C,) of
    each class, NaN for a class without rows."""
    found = set_costs(estimator, rows, ball)
    check_trusted(ball, by_class, len(found.scores))
    if ball.radius == 0:
        # Nothing moves: a label whose gap is the threshold itself is not lost.
        costs = np.where(found.lost(thresholds), 0.0, np.inf)
    else:
        costs = found(thresholds)
    groups = class_groups(found, by_class)
    return np.array([_worst_share(costs[group], ball.radius) for group in groups])


def _worst_share(costs: Floats, radius: float) -> float:
    if not len(costs):
        return float("nan")
    return float(np.interp(radius, *breakpoints(costs, np.ones(len(costs)))))


def set_costs(estimator: Any, rows: GivenRows, ball: WassersteinBall) -> SetCosts:
    """What it costs to lose the labels of some rows."""
    judged = judged_classifier(
        estimator, rows.X, rows.y, ball, "crammer-singer", None, rows.label_trust
    )
    return SetCosts(judged)


def class_groups(costs: SetCosts, by_class: bool) -> list[Any]:
    """The rows of each class, or all rows."""
    if not by_class:
        return [np.arange(len(costs.codes))]
    return [np.flatnonzero(costs.codes == code) for code in range(len(costs.scores))]


def calibrated(
    estimator: Any, rows: GivenRows, others: GivenRows | None, how: Calibration
) -> Member:
    """Thresholds of a fitted classifier; the rows ``others`` choose its multipliers."""
    found = set_costs(estimator, rows, how.ball)
    n_classes = len(found.scores)
    check_trusted(how.ball, how.by_class, n_classes)
    apart = None
    if others is not None and how.needs_others:
        apart = set_costs(estimator, others, how.ball)
    groups = class_groups(found, how.by_class)
    thresholds, multipliers = np.empty(len(groups)), np.empty(len(groups))
    for k, group in enumerate(groups):
        label = k if how.by_class else None
        lam = _multiplier(apart, label, len(group), how)
        multipliers[k] = lam
        if how.ball.radius == 0:
            thresholds[k] = calm_threshold(found.free_gaps[group], how.wanted)
        else:
            costs_at = _costs_at(found, label, group)
            thresholds[k] = robust_threshold(costs_at, len(group), lam, how.wanted)
    per_label = [np.broadcast_to(each, n_classes) for each in (thresholds, multipliers)]
    return Member(estimator, how.ball, per_label[0], per_label[1], len(found.codes))


def _multiplier(
    apart: SetCosts | None, label: int | None, n_rows: int, how: Calibration
) -> float:
    """The multiplier of all labels, or of one: given, or chosen on rows set apart."""
    if how.ball.radius == 0:
        return np.inf
    if how.multiplier is not None:
        return float(how.multiplier)
    if apart is None:
        return blind_multiplier(n_rows, how.wanted)
    group = class_groups(apart, label is not None)[label or 0]
    if not len(group):
        return blind_multiplier(n_rows, how.wanted)
    return best_multiplier(_costs_at(apart, label, group), n_rows, how.wanted)


def _costs_at(costs: SetCosts, label: int | None, group: Any) -> Callable[[float], Floats]:
    """Costs of a group of rows for a threshold of all labels, or of one."""
    n_classes = len(costs.scores)

    def at(threshold: float) -> Floats:
        thresholds = np.full(n_classes, threshold if label is None else np.inf)
        if label is not None:
            thresholds[label] = threshold
        return costs(thresholds)[group]

    return at


def check_trusted(ball: WassersteinBall, by_class: bool, n_classes: int) -> None:
    """Refuse promises by class where labels can change."""
    if by_class and not ball.trusts_labels(n_classes):
        raise ValueError(
            "by_class=True needs a ball with label_cost=inf, because a changed label moves "
            f"a row to another class, got label_cost={ball.label_cost!r}."
        )
