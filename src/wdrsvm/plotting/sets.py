"""Plots of sets of labels: their sizes, and how often they contain the right label."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..arrays import Floats
from ..inputs.arrays import label_codes
from ._style import Display, axes_for, colour, ink

# Hatches of the bars, so that models differ in more than the colour.
HATCHES = ("", "///", "...", "xx", "\\\\\\")
# Width of all bars of one size together.
WIDTH = 0.8


class SetSizeDisplay(Display):
    """Share of the rows whose set has each size.

    Parameters
    ----------
    shares : dict of str to ndarray of shape (n_classes + 1,)
        For each model the shares of rows with 0, 1, ... labels in their set.

    Attributes
    ----------
    bars_ : list of matplotlib BarContainer
        The bars of each model.
    ax_ : matplotlib Axes
        Axes of the last plot.
    figure_ : matplotlib Figure
        Their figure.

    See Also
    --------
    wdrsvm.RobustConformalClassifier : The sets.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("agg")
    >>> from sklearn.datasets import load_iris
    >>> from wdrsvm import RobustConformalClassifier, RobustLinearSVC
    >>> from wdrsvm.plotting import SetSizeDisplay
    >>> X, y = load_iris(return_X_y=True)
    >>> sets = RobustConformalClassifier(RobustLinearSVC(0.02), 0.9, random_state=0)
    >>> display = SetSizeDisplay.from_estimators({"radius 0.02": sets.fit(X, y)}, X)
    >>> display.ax_.get_xlabel()
    'labels in the set'
    """

    def __init__(self, shares: dict[str, Floats]) -> None:
        self.shares = shares

    @classmethod
    def from_estimators(
        cls, estimators: Any, X: Any, *, ax: Any = None, **bar_kwargs: Any
    ) -> SetSizeDisplay:
        """Plot one or several fitted classifiers.

        Parameters
        ----------
        estimators : RobustConformalClassifier or dict of them
            The classifiers; a dict names them.
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Features.
        ax : matplotlib Axes, default=None
            Where to plot; None makes a new figure.
        **bar_kwargs : dict
            Given to ``Axes.bar``.

        Returns
        -------
        SetSizeDisplay
            The display.
        """
        named = estimators if isinstance(estimators, Mapping) else {"": estimators}
        shares = {}
        for name, each in named.items():
            sizes = each.predict_set(X).sum(axis=1)
            counts = np.bincount(sizes, minlength=len(each.classes_) + 1)
            shares[str(name)] = counts / len(sizes)
        return cls(shares).plot(ax=ax, **bar_kwargs)

    def plot(self, *, ax: Any = None, **bar_kwargs: Any) -> SetSizeDisplay:
        """Draw the bars.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to plot; None makes a new figure.
        **bar_kwargs : dict
            Given to ``Axes.bar``.

        Returns
        -------
        SetSizeDisplay
            The display itself.
        """
        ax = axes_for(ax)
        self.bars_: list[Any] = []
        width = WIDTH / len(self.shares)
        n_sizes = max(len(shares) for shares in self.shares.values())
        for k, (name, shares) in enumerate(self.shares.items()):
            # Size 0 is left out, because no set is empty.
            sizes = np.arange(1, len(shares))
            mean = float(sizes @ shares[1:])
            label = f"{name}: {mean:.2f} on average" if name else f"{mean:.2f} on average"
            style = {"color": colour(k), "hatch": HATCHES[k % len(HATCHES)]}
            style |= {"edgecolor": ink(ax), "label": label} | bar_kwargs
            place = sizes + (k - (len(self.shares) - 1) / 2) * width
            self.bars_.append(ax.bar(place, shares[1:], width, **style))
        ax.set_xticks(np.arange(1, n_sizes))
        ax.set(xlabel="labels in the set", ylabel="share of rows")
        ax.legend(frameon=False)
        return self._drawn_on(ax)


class CoverageDisplay(Display):
    """How often sets contain the right label, for all rows and for each class.

    A filled dot is the coverage of the given rows.  A hollow diamond is the least coverage
    in the ball around these rows.  A dashed line is the promised coverage.  The diamond of
    a class is the least coverage within the class; a promise for all rows together does not
    cover it.

    Parameters
    ----------
    names : list of str
        Names of the lines of the picture.
    coverage : ndarray of shape (n_names,)
        Coverage of the given rows.
    worst : ndarray of shape (n_names,)
        Least coverage in the ball; NaN where it is not known.
    promised : float
        The promise.
    by_class : bool, default=False
        Whether the promise holds within each class.

    Attributes
    ----------
    dots_, diamonds_, line_ : matplotlib Line2D
        The drawn elements.
    ax_ : matplotlib Axes
        Axes of the last plot.
    figure_ : matplotlib Figure
        Their figure.

    See Also
    --------
    wdrsvm.RobustConformalClassifier : The sets.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("agg")
    >>> import numpy as np
    >>> from sklearn.datasets import load_iris
    >>> from wdrsvm import RobustConformalClassifier, RobustLinearSVC
    >>> from wdrsvm.plotting import CoverageDisplay
    >>> X, y = load_iris(return_X_y=True)
    >>> model = RobustLinearSVC(0.02, label_cost=np.inf)
    >>> sets = RobustConformalClassifier(model, 0.9, random_state=0).fit(X, y)
    >>> CoverageDisplay.from_estimator(sets, X, y).names
    ['all rows', 'class 0', 'class 1', 'class 2']
    """

    def __init__(
        self,
        names: list[str],
        coverage: Floats,
        worst: Floats,
        promised: float,
        by_class: bool = False,
    ) -> None:
        self.names = names
        self.coverage = coverage
        self.worst = worst
        self.promised = promised
        self.by_class = by_class

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        *,
        label_trust: Any = None,
        ax: Any = None,
        **line_kwargs: Any,
    ) -> CoverageDisplay:
        """Plot a fitted classifier.

        Parameters
        ----------
        estimator : RobustConformalClassifier
            The fitted classifier.
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Features of rows that are neither training rows nor calibration rows.
        y : array-like of shape (n_samples,)
            Labels, each one of ``classes_``.
        label_trust : array-like of shape (n_samples,), default=None
            Factors on the label cost, row by row.
        ax : matplotlib Axes, default=None
            Where to plot; None makes a new figure.
        **line_kwargs : dict
            Given to ``Axes.plot`` for dots and diamonds.

        Returns
        -------
        CoverageDisplay
            The display.
        """
        codes, classes = label_codes(y, estimator.classes_), estimator.classes_
        held = estimator.predict_set(X)[np.arange(len(codes)), codes]
        present = np.unique(codes)
        coverage = [held.mean(), *(held[codes == code].mean() for code in present)]
        worst = np.full(len(coverage), np.nan)
        if len(estimator.estimators_) == 1:
            worst[0] = estimator.worst_case_coverage(X, y, label_trust)
            if estimator.ball_.trusts_labels(len(classes)):
                own = estimator.worst_case_coverage(X, y, label_trust, by_class=True)
                worst[1:] = own[present]
        names = ["all rows", *(f"class {label}" for label in classes[present].tolist())]
        by_class = np.ndim(estimator.threshold_) == 1 + (len(estimator.estimators_) > 1)
        display = cls(
            names, np.array(coverage), worst, estimator.promised_coverage_, by_class
        )
        return display.plot(ax=ax, **line_kwargs)

    def plot(self, *, ax: Any = None, **line_kwargs: Any) -> CoverageDisplay:
        """Draw dots, diamonds and the promise.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to plot; None makes a new figure.
        **line_kwargs : dict
            Given to ``Axes.plot`` for dots and diamonds.

        Returns
        -------
        CoverageDisplay
            The display itself.
        """
        ax = axes_for(ax)
        lines = np.arange(len(self.names))
        style = {"linestyle": "none", "color": colour(0), "markersize": 7} | line_kwargs
        (self.dots_,) = ax.plot(self.coverage, lines, "o", label="these rows", **style)
        style |= {"color": colour(1), "markerfacecolor": "none", "markeredgewidth": 1.6}
        (self.diamonds_,) = ax.plot(self.worst, lines, "D", label="worst case", **style)
        whom = "each class" if self.by_class else "all rows together"
        told = f"promised for {whom}: {100 * self.promised:.4g} %"
        self.line_ = ax.axvline(self.promised, color=ink(ax), linestyle="--", label=told)
        ax.set_yticks(lines, self.names)
        ax.set_ylim(len(lines) - 0.5, -0.5)
        ax.set(xlabel="share of labels in their set")
        ax.set_xlim(right=1.01)
        ax.legend(frameon=False, loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=3)
        return self._drawn_on(ax)
