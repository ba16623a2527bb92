"""Thresholds of one fitted classifier, found on rows outside its training set."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ...arrays import Floats
from ...problem import WassersteinBall
from ...robustness.promises.errors.curve_points import breakpoints
from ...robustness.promises.sets.costs import SetCosts
from ...robustness.promises.sets.thresholds import (
    Wanted,
    best_multiplier,
    blind_multiplier,
    calm_threshold,
    robust_threshold,
)
from ...robustness.promises.worst_case import judged_classifier
from ..search.judges import GivenRows


class Calibration(NamedTuple):
    """The request: the ball, the share of labels that the sets may lack, whether this
    share holds for each class, and the multiplier if the user gives one."""

    ball: WassersteinBall
    lost: float
    by_class: bool
    multiplier: float | None

    @property
    def needs_others(self) -> bool:
        """Whether other rows than the calibration rows determine the multiplier."""
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
    """Largest share of labels that the sets lack, over the ball around the rows.

    The shape is (1,) for all rows together, or (C,) with one share per class.  The share
    of a class without rows is NaN.
    """
    found = set_costs(estimator, rows, ball)
    check_trusted(ball, by_class, len(found.scores))
    if ball.radius == 0:
        # No row moves: a label whose gap equals the threshold is still in the set.
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
    """For each row, the cost of moving it so far that its set lacks its label."""
    judged = judged_classifier(
        estimator, rows.X, rows.y, ball, "crammer-singer", None, rows.label_trust
    )
    return SetCosts(judged)


def class_groups(costs: SetCosts, by_class: bool) -> list[Any]:
    """The row numbers of each class, or one group with all row numbers."""
    if not by_class:
        return [np.arange(len(costs.codes))]
    return [np.flatnonzero(costs.codes == code) for code in range(len(costs.scores))]


def calibrated(
    estimator: Any, rows: GivenRows, others: GivenRows | None, how: Calibration
) -> Member:
    """Thresholds of a fitted classifier; the rows ``others`` determine the multipliers."""
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
    """The multiplier of one label, or of all labels if ``label`` is None.

    It is the given multiplier, or is chosen on the rows ``apart``.
    """
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
    """Costs of a group of rows as a function of one label's threshold.

    If ``label`` is None, all labels share the threshold.
    """
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
