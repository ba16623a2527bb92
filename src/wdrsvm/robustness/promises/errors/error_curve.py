r"""The worst-case error as a function of the radius: one sort gives the whole curve.

    error(eps) = min over lam >= 0 of  lam eps + sum_n w_n max(0, 1 - lam c_n)

with c_n the cost of making row n wrong.  It is a fractional knapsack: the adversary buys
rows in ascending order of c_n until the budget is spent, the last row in part.  The curve
is therefore piecewise linear, concave and non-decreasing.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ....arrays import Floats, Labels
from ....cached import cached_property
from ...notebook import html_result, html_table, share
from .curve_points import breakpoints, raised, sampling_margin
from .row_costs import RowCosts


class Wording(NamedTuple):
    """Words for a curve: which rows change, how, and whose errors are counted."""

    who: str = "these rows"
    how: str = "move by {radius:g} on average"
    counted: str = "of them"


THESE_ROWS = Wording()
# Errors for which a notebook shows the radius.
LEVELS = (0.05, 0.1, 0.2, 0.5)


class CurveRows(NamedTuple):
    """The rows behind a curve, the classes of their codes, and whether labels stay."""

    costs: RowCosts
    classes: Labels
    labels_stay: bool


@dataclass(frozen=True, eq=False, repr=False)
class ErrorCurve:
    """Largest share of wrong predictions, for every radius.

    Made by :func:`error_curve`.  Between the breakpoints the curve is a straight line, and
    after the last one it is constant.

    Attributes
    ----------
    radii : ndarray of shape (n_breakpoints,)
        Radii in ascending order, the first one 0.
    errors : ndarray of shape (n_breakpoints,)
        Worst-case errors at these radii; the first one is the error without an adversary,
        with ties counted as wrong.
    radius : float
        Radius of the given ball.
    n_rows : int
        Number of rows that carry weight.
    confidence : float or None
        Probability with which the curve holds for new rows; None if it holds for the rows
        given.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.linear_model import LogisticRegression
    >>> from wdrsvm import WassersteinBall, error_curve
    >>> X, y = load_iris(return_X_y=True)
    >>> classifier = LogisticRegression(max_iter=1000).fit(X, y)
    >>> curve = error_curve(classifier, X, y, WassersteinBall(radius=0.1))
    >>> curve
    ErrorCurve(150 rows: at most 2.7 % wrong at radius 0, 32 % at 0.1, 100 % at 0.857)
    >>> print(curve.sentence())
    If these rows move by 0.1 on average, at most 32 % of them are classified wrongly.
    >>> print(f"{curve.at(0.05):.3f} {curve.budget_for(0.2):.3f}")
    0.216 0.043
    """

    radii: Floats
    errors: Floats
    radius: float
    n_rows: int
    confidence: float | None = None
    wording: Wording = THESE_ROWS
    rows: CurveRows | None = None

    def at(self, radius: ArrayLike) -> Any:
        """Worst-case errors at given radii.

        Parameters
        ----------
        radius : float or array-like
            Radii, at least 0.

        Returns
        -------
        float or ndarray
            The errors, shaped like ``radius``.
        """
        given = _checked(radius, "radius")
        return _like(np.interp(given, self.radii, self.errors))

    def __call__(self, radius: ArrayLike) -> Any:
        """The same as :meth:`at`."""
        return self.at(radius)

    def budget_for(self, error: ArrayLike) -> Any:
        """The least radius at which the worst-case error reaches a level.

        Parameters
        ----------
        error : float or array-like
            Levels, at least 0: 0.2 asks what must happen before one prediction in five can
            be wrong.

        Returns
        -------
        float or ndarray
            The radii, shaped like ``error``; 0 where the error without an adversary is as
            large, ``inf`` where no radius makes it so.
        """
        given = _checked(error, "error")
        return _like(np.interp(given, self.errors, self.radii, right=np.inf))

    @cached_property
    def by_class(self) -> ClassErrorCurves:
        """Curves of each class, as a :class:`ClassErrorCurves`; labels must be trusted."""
        if self.rows is None:
            raise ValueError("by_class is for a curve of all classes, got one of a class.")
        if not self.rows.labels_stay:
            raise ValueError(
                "by_class needs label_cost=inf, because a changed label moves a row to "
                "another class, got a ball with finite label costs."
            )
        return ClassErrorCurves.of(self, self.rows)

    def sentence(self, radius: float | None = None) -> str:
        """The promise in words.

        Parameters
        ----------
        radius : float, default=None
            Radius of the promise; None is that of the ball.

        Returns
        -------
        str
            A sentence; percentages are rounded up, and the radius has three digits.
        """
        radius = self.radius if radius is None else radius
        shown, (who, how, counted) = float(f"{radius:.3g}"), self.wording
        # The sentence is true for the radius that it shows and for the one that was given.
        error = self.at(max(radius, shown))
        what = f"{who} {how.format(radius=shown)}"
        held = "" if self.confidence is None else _confidently(self.confidence)
        start = f"{held}if {what}" if held else f"If {what}"
        if error >= 1:
            return f"{start}, all {counted} may be classified wrongly: nothing is promised."
        return f"{start}, at most {percent(error)} {counted} are classified wrongly."

    def __repr__(self) -> str:
        points = [(self.errors[0], 0.0)]
        if self.radius > 0:
            points.append((self.at(self.radius), self.radius))
        if self.radii[-1] > self.radius:
            points.append((self.errors[-1], self.radii[-1]))
        first, *others = (f"{percent(error)}|{radius:.3g}" for error, radius in points)
        told = ", ".join(each.replace("|", " at ") for each in others)
        told = f", {told}" if told else ""
        start = first.replace("|", " wrong at radius ")
        held = "" if self.confidence is None else f", confidence {self.confidence:g}"
        return f"ErrorCurve({self.n_rows} rows: at most {start}{told}{held})"

    def _repr_html_(self) -> str:
        rows = [[percent(level), float(self.budget_for(level))] for level in LEVELS]
        table = html_table("Radius that allows it", ["share wrong", "radius"], rows)
        return html_result(self.sentence(), table)


@dataclass(frozen=True, eq=False, repr=False)
class ClassErrorCurves:
    """Worst-case errors class by class: two promises, which are never mixed.

    One minus such an error is a worst-case recall.

    Attributes
    ----------
    joint : dict
        For each label the :class:`ErrorCurve` over the radius of the whole ball, all of
        whose budget is spent on that class.  For a rare class it is soon 1, which promises
        nothing.  Refused for curves with a confidence.
    within : dict
        For each label the :class:`ErrorCurve` over the radius by which the rows of that
        class move on average.  With a confidence each curve holds with that probability,
        not all of them together.
    share : dict
        For each label its share of the weight.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.linear_model import LogisticRegression
    >>> from wdrsvm import WassersteinBall, error_curve
    >>> X, y = load_iris(return_X_y=True)
    >>> classifier = LogisticRegression(max_iter=1000).fit(X, y)
    >>> by_class = error_curve(classifier, X, y, WassersteinBall(radius=0.1)).by_class
    >>> print(by_class.within[0].sentence())
    If the rows of class 0 move by 0.1 on average, at most 9.5 % of them are classified
    wrongly.
    >>> print(by_class.joint[0].sentence())
    If these rows move by 0.1 on average, at most 26.4 % of those of class 0 are classified
    wrongly.
    """

    within: dict[Any, ErrorCurve]
    share: dict[Any, float]
    about: Wording
    confidence: float | None = None

    @property
    def joint(self) -> dict[Any, ErrorCurve]:
        """For each label the curve over the radius of the whole ball."""
        if self.confidence is not None:
            raise ValueError(
                "joint is about the rows given, because the shares of the classes in "
                f"their source are unknown, got confidence={self.confidence!r}."
            )
        return {label: self._joint(label) for label in self.within}

    def __repr__(self) -> str:
        told = ", ".join(
            f"{label!r}: {percent(curve.at(curve.radius))}"
            for label, curve in self.within.items()
        )
        return f"ClassErrorCurves(wrong at most within each class: {told})"

    def _repr_html_(self) -> str:
        header = ["class", "share of the rows", "wrong now", "wrong at most", "radius"]
        rows = [
            [
                *(label, share(self.share[label]), percent(curve.errors[0])),
                *(percent(curve.at(curve.radius)), curve.radius),
            ]
            for label, curve in self.within.items()
        ]
        return html_table("Worst-case errors within each class", header, rows)

    def _joint(self, label: Any) -> ErrorCurve:
        own = self.within[label]
        about = self.about._replace(counted=f"of those of class {label!r}")
        radii = own.radii * self.share[label]
        return ErrorCurve(radii, own.errors, own.radius, own.n_rows, wording=about)

    @classmethod
    def of(cls, curve: ErrorCurve, rows: CurveRows) -> ClassErrorCurves:
        total, within, share = rows.costs.weight.sum(), {}, {}
        for code in np.unique(rows.costs.code).tolist():
            label = rows.classes[code : code + 1].tolist()[0]
            costs = rows.costs.only(rows.costs.code == code)
            share[label] = float(costs.weight.sum() / total)
            about = Wording(f"the rows of class {label!r}", curve.wording.how)
            if curve.confidence is not None:
                about = about._replace(who=f"new rows of class {label!r}")
            within[label] = curve_of(costs, curve.radius, about, curve.confidence)
        return cls(within, share, curve.wording, curve.confidence)


def curve_of(
    costs: RowCosts,
    radius: float,
    wording: Wording = THESE_ROWS,
    confidence: float | None = None,
    rows: CurveRows | None = None,
) -> ErrorCurve:
    """The curve of rows whose errors have these costs."""
    radii, errors = breakpoints(costs.cost, costs.weight)
    n_rows = len(costs.cost)
    if confidence is not None:
        margin = sampling_margin(confidence, n_rows)
        radii, errors = raised(radii, errors, margin)
    return ErrorCurve(radii, errors, radius, n_rows, confidence, wording, rows)


def percent(share: float) -> str:
    """A share in per cent with one decimal, rounded up: a promise is not to be missed."""
    tenths = math.ceil(round(share * 1000, 6))
    return f"{tenths / 10:g} %"


def _confidently(confidence: float) -> str:
    return f"With {100 * confidence:g} % confidence: "


def _checked(values: ArrayLike, name: str) -> Floats:
    given = np.asarray(values, dtype=np.float64)
    if not (given >= 0).all():
        raise ValueError(f"{name} must be >= 0 in every entry, got {values!r}.")
    return given


def _like(values: Any) -> Any:
    return float(values) if np.ndim(values) == 0 else values
