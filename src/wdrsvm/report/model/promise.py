"""The promise of a model in sentences: shares of wrong predictions, and baselines.

Errors of different classifiers can be compared.  Losses cannot, because they grow with the
scale of the scores.  Therefore the sentences give errors, and the errors of two baselines.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from sklearn.compose import ColumnTransformer
from sklearn.preprocessing import MaxAbsScaler, StandardScaler
from sklearn.utils import check_array

from ...arrays import Floats
from ...problem import WassersteinBall
from ...robustness import error_curve
from ...robustness.promises.errors.error_curve import ErrorCurve, curve_of, percent
from ...robustness.promises.errors.row_costs import RowCosts, row_costs
from ...robustness.promises.worst_case import LinearScores, has_kernel
from ..words import counted, share
from .baselines import LOGISTIC, Baselines
from .chance import RowErrors, standard_errors

# The default movement of the sentences.
BUDGET = 0.1
DEVIATIONS, LARGEST, SEEN, LIFTED = (
    "standard deviations",
    "of the largest entries",
    "units",
    "units in feature space",
)
MEANINGS = {
    DEVIATIONS: "each number is measured in standard deviations of its column in the "
    "training table",
    LARGEST: "each number is measured by the largest one of its column in the training "
    "table",
    SEEN: "each number is measured as the classifier sees it",
    LIFTED: "rows move in the feature space of the kernel",
}


class Rates(NamedTuple):
    """Share of wrong predictions on the given rows, and the largest if they move."""

    error: float
    worst_case_error: float

    def told(self) -> str:
        return f"{share(self.error)}, {at_most(self.worst_case_error)}"


class Movement(NamedTuple):
    """How far rows move, in which unit, and in which ball; labels do not change."""

    ball: WassersteinBall
    unit: str
    space: str = "features"

    def told(self) -> str:
        unit = self.unit
        if self.ball.radius == 1 and unit.startswith(DEVIATIONS):
            unit = unit.replace("deviations", "deviation", 1)
        return f"{self.ball.radius:.4g} {unit}"

    def meaning(self) -> str:
        """The meaning of the distance, as a sentence."""
        norm = self.ball.norm
        cost = self.ball.feature_cost
        fixed = cost is not None and bool(np.isinf(np.asarray(cost, float)).any())
        stay = "categories and labels stay" if fixed else "labels stay"
        return (
            f"Movement is the {norm} length of a row's change: {MEANINGS[self.unit]}; "
            f"{self._limits()}{stay} as they are."
        )

    def _limits(self) -> str:
        """What the distance says of categories and ranges."""
        if self.ball.categorical is None:
            return ""
        costs = sorted({float(cost) for _, cost in self.ball.categorical})
        told = " or ".join(f"{cost:g}" for cost in costs)
        ranges = "" if self.ball.support is None else "numbers stay within their ranges; "
        return f"a switched category counts as {told}; {ranges}"


@dataclass(frozen=True, eq=False)
class Promise:
    """Error rates of a model and of its baselines on the same rows.

    ``by_class`` has the worst-case error *within* each class: the rows of the class move
    by the radius on average.  ``logistic`` is None if there is no such baseline.  ``noise``
    has the standard errors of the differences between both.
    """

    rows: str
    movement: Movement
    rates: Rates
    by_class: dict[Any, Rates]
    largest_class: Any
    constant_error: float
    logistic: Rates | None
    curve: ErrorCurve
    logistic_curve: ErrorCurve | None
    about_logistic: str = LOGISTIC
    noise: Rates | None = None

    @property
    def worst_class(self) -> Any:
        """The class with the largest worst-case error; if several tie, the first."""
        return max(self.by_class, key=lambda label: self.by_class[label].worst_case_error)

    def sentences(self) -> list[str]:
        """Three sentences: the promise, the baselines, and the meaning of the distance."""
        return [self.about_model(), self.about_baselines(), self.movement.meaning()]

    def about_model(self) -> str:
        worst = self.rates.worst_case_error
        moved = (
            "all of them may be: nothing is promised"
            if worst >= 1
            else f"{at_most(worst)} are{self._within()}"
        )
        return (
            f"Of {self.rows} {share(self.rates.error)} are classified wrongly. If the "
            f"rows move by {self.movement.told()} on average, {moved}."
        )

    def _within(self) -> str:
        if len(self.by_class) < 2:
            return ""
        worst = self.worst_class
        told = at_most(self.by_class[worst].worst_case_error)
        return f"; within one class {told} (class {worst} suffers most)"

    def about_baselines(self) -> str:
        constant = (
            f"Always answering {self.largest_class}, the largest class: "
            f"{share(self.constant_error)}, moved or not."
        )
        if self.logistic is None:
            return constant
        return f"{constant} {self.about_logistic}: {self.logistic.told()}."

    def values(self) -> dict[str, Any]:
        """The promise as plain values, for programs."""
        constant = Rates(self.constant_error, self.constant_error)
        baselines = {"largest class": {"label": self.largest_class, **constant._asdict()}}
        if self.logistic is not None:
            baselines[LOGISTIC] = self.logistic._asdict()
        return {
            "sentence": " ".join(self.sentences()[:2]),
            "budget": self.movement.ball.radius,
            "unit": self.movement.unit,
            **self.rates._asdict(),
            "by_class": {name: each._asdict() for name, each in self.by_class.items()},
            "baselines": baselines,
        }


def promise_of(
    classifier: Any,
    X: Any,
    y: Any,
    baselines: Baselines,
    movement: Movement,
    kind: str = "",
) -> Promise:
    """Error rates of a classifier, on rows in the form that the classifier receives.

    Parameters
    ----------
    classifier : estimator or LinearScores
        A fitted classifier of this package, or a linear one.
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        Features.
    y : array-like of shape (n_samples,)
        Labels.
    baselines : Baselines
        The baselines for the comparison.
    movement : Movement
        How far the rows move.
    kind : str, default=""
        The kind of rows: "training" or "test".  The empty text stands for "these rows".

    Returns
    -------
    Promise
        All error rates.
    """
    y = np.asarray(y)
    ball, space = movement.ball, movement.space
    curve = error_curve(classifier, X, y, ball, space=space)
    wrong = _predicted(classifier, X) != y
    # A classifier of the inputs cannot use distances in a kernel's feature space.
    rival = None if movement.unit == LIFTED else _rival(baselines, X, y, ball)
    own = RowErrors.of(wrong, _costs_of(curve), curve)
    return Promise(
        _named(len(y), kind),
        movement,
        Rates(float(wrong.mean()), float(curve.at(ball.radius))),
        {
            label: Rates(float(wrong[y == label].mean()), float(within.at(ball.radius)))
            for label, within in curve.by_class.within.items()
        },
        baselines.largest_class,
        float(np.mean(y != baselines.largest_class)),
        None if rival is None else rival.rates,
        curve,
        None if rival is None else rival.curve,
        baselines.about_logistic,
        None if rival is None else Rates(*standard_errors(own, rival.by_row)),
    )


def _costs_of(curve: ErrorCurve) -> Floats:
    assert curve.rows is not None
    return curve.rows.costs.cost


def _named(n_rows: int, kind: str) -> str:
    if kind:
        return f"the {counted(n_rows, f'{kind} row', f'{kind} rows')}"
    return f"{'this' if n_rows == 1 else 'these'} {counted(n_rows, 'row', 'rows')}"


class _Rival(NamedTuple):
    """Error rates of the logistic regression, their curve, and errors row by row."""

    rates: Rates
    curve: ErrorCurve
    by_row: RowErrors


def _rival(baselines: Baselines, X: Any, y: Any, ball: WassersteinBall) -> _Rival | None:
    """The rates of the logistic regression; of its folds together if it has folds."""
    if baselines.logistic is not None:
        curve = error_curve(baselines.logistic, X, y, ball)
        wrong, cost = _predicted(baselines.logistic, X) != y, _costs_of(curve)
    elif baselines.folds:
        X = check_array(X, accept_sparse="csr")
        cost, wrong = np.zeros(len(y)), np.zeros(len(y), bool)
        for rows, scores in baselines.folds:
            cost[rows] = row_costs(scores, X[rows], y[rows], ball)[0].cost
            wrong[rows] = _predicted(scores, X[rows]) != y[rows]
        equal = RowCosts(cost, np.ones(len(y)), np.zeros(len(y), dtype=np.intp))
        curve = curve_of(equal, ball.radius)
    else:
        return None
    rates = Rates(float(wrong.mean()), float(curve.at(ball.radius)))
    return _Rival(rates, curve, RowErrors.of(wrong, cost, curve))


def _predicted(classifier: Any, X: Any) -> Any:
    if not isinstance(classifier, LinearScores):
        return classifier.predict(X)
    scores = X @ classifier.coef.T + classifier.intercept
    return classifier.classes[scores.argmax(axis=1)]


def movement_of(model: Any, radius: float) -> Movement:
    """How rows move before the last step of a model, by its norm and feature costs.

    The ball of a kernel model is a ball of inputs if the kernel is calm.
    """
    last = model[-1] if hasattr(model, "steps") else model
    chosen = getattr(last, "best_estimator_", last)
    ball = replace(chosen._ball(), radius=radius, label_cost=np.inf)
    if not has_kernel(chosen):
        return Movement(ball, _unit(model))
    try:
        chosen.input_distance(np.ones(1), ball.norm)
    except ValueError:
        return Movement(ball, LIFTED)
    return Movement(ball, _unit(model), "inputs")


def _unit(model: Any) -> str:
    steps = [step for _, step in getattr(model, "steps", [(None, model)])]
    kinds = {type(leaf) for step in steps[-2:-1] for leaf in _leaves(step)}
    if StandardScaler in kinds:
        return DEVIATIONS
    if MaxAbsScaler in kinds:
        return LARGEST
    last = getattr(steps[-1], "best_estimator_", steps[-1])
    costs = getattr(last, "feature_cost", None)
    return DEVIATIONS if isinstance(costs, str) and costs == "std" else SEEN


def _leaves(step: Any) -> list[Any]:
    """The last transformers of a step: of each group of columns, and of a pipeline."""
    if isinstance(step, ColumnTransformer):
        return [leaf for _, part, _ in step.transformers_ for leaf in _leaves(part)]
    return _leaves(step[-1]) if hasattr(step, "steps") else [step]


def at_most(worst: float) -> str:
    """A promise in words, rounded up."""
    return f"at most {percent(worst)}"
