"""The worst-case error by radius, for several models or for the classes of one model."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..problem import WassersteinBall
from ..robustness import ErrorCurve, error_curve
from ..robustness.promises.errors.error_curve import percent
from ..robustness.promises.worst_case import last_classifier
from ._style import Display, axes_for, ink, line_style

PROMISES = ("joint", "within")
# Largest number of points of a drawn curve.
N_POINTS = 1000
# A curve is drawn up to the radius at which it has made this share of its total rise.
SHOWN = 0.95


class ErrorCurveDisplay(Display):
    """Largest share of wrong predictions at each radius.

    Parameters
    ----------
    curves : dict of str to ErrorCurve
        The curves, by their names for the legend.

    Attributes
    ----------
    lines_ : list of matplotlib Line2D
        The curves of the last plot.
    marks_ : list of matplotlib Line2D
        Marks at the radii at which the curves reach the level.
    ax_ : matplotlib Axes
        Its axes.
    figure_ : matplotlib Figure
        Their figure.

    See Also
    --------
    wdrsvm.error_curve : The curves that are drawn.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("agg")
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.linear_model import LogisticRegression
    >>> from wdrsvm import RobustLinearSVC, WassersteinBall
    >>> from wdrsvm.plotting import ErrorCurveDisplay
    >>> X, y = load_iris(return_X_y=True)
    >>> models = [RobustLinearSVC().fit(X, y), LogisticRegression(max_iter=1000).fit(X, y)]
    >>> ball = WassersteinBall(radius=0.1)
    >>> display = ErrorCurveDisplay.from_estimators(models, X, y, ball, level=0.2)
    >>> [text.get_text() for text in display.ax_.get_legend().get_texts()]
    ['RobustLinearSVC: 20 % at 0.0318', 'LogisticRegression: 20 % at 0.0434']
    """

    def __init__(self, curves: dict[str, ErrorCurve]) -> None:
        self.curves = curves

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        ball: WassersteinBall | None = None,
        *,
        by_class: str | None = None,
        level: float | None = None,
        max_radius: float | None = None,
        name: str | None = None,
        ax: Any = None,
        line_kwargs: dict[str, Any] | None = None,
        **how: Any,
    ) -> ErrorCurveDisplay:
        """Plot a fitted classifier.

        Parameters
        ----------
        estimator : object
            An estimator for :func:`wdrsvm.error_curve`.
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Features.
        y : array-like of shape (n_samples,)
            Labels.
        ball : WassersteinBall, default=None
            The ball of the adversary; None takes the ball of the estimator.
        by_class : {"joint", "within"}, default=None
            Draw one curve per class, with one of the two promises of
            :class:`wdrsvm.ClassErrorCurves`.  None draws one curve for all rows.
        level : float, default=None
            An error, such as 0.2.  The point where a curve reaches it is marked.
        max_radius : float, default=None
            Largest radius of the plot; None shows nearly all of the rise.
        name : str, default=None
            Name for the legend; None takes that of the estimator's class.
        ax : matplotlib Axes, default=None
            Where to plot; None makes a new figure.
        line_kwargs : dict, default=None
            Given to ``Axes.plot``.
        **how : dict
            ``sample_weight``, ``label_trust``, ``confidence`` and ``space``, given to
            :func:`wdrsvm.error_curve`.

        Returns
        -------
        ErrorCurveDisplay
            The display.
        """
        _check_promise(by_class)
        curve = _curve(estimator, X, y, ball, how)
        name = type(last_classifier(estimator)).__name__ if name is None else name
        curves = {name: curve}
        if by_class is not None:
            own = getattr(curve.by_class, by_class)
            curves = {f"class {label}": each for label, each in own.items()}
        display = cls(curves)
        return display.plot(
            level=level, max_radius=max_radius, ax=ax, **(line_kwargs or {})
        )

    @classmethod
    def from_estimators(
        cls,
        estimators: Any,
        X: Any,
        y: Any,
        ball: WassersteinBall,
        *,
        level: float | None = None,
        max_radius: float | None = None,
        ax: Any = None,
        line_kwargs: dict[str, Any] | None = None,
        **how: Any,
    ) -> ErrorCurveDisplay:
        """Plot several fitted classifiers in the same ball.

        Parameters
        ----------
        estimators : dict or sequence of fitted classifiers
            The classifiers; the keys of a dict are their names.
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Features.
        y : array-like of shape (n_samples,)
            Labels.
        ball : WassersteinBall
            The ball of the adversary.
        level, max_radius, ax, line_kwargs, **how
            As for :meth:`from_estimator`.

        Returns
        -------
        ErrorCurveDisplay
            The display.
        """
        named = _named(estimators)
        curves = {name: _curve(each, X, y, ball, how) for name, each in named.items()}
        display = cls(curves)
        return display.plot(
            level=level, max_radius=max_radius, ax=ax, **(line_kwargs or {})
        )

    def plot(
        self,
        *,
        level: float | None = None,
        max_radius: float | None = None,
        ax: Any = None,
        **kwargs: Any,
    ) -> ErrorCurveDisplay:
        """Add the curves to the axes, which may already have other curves.

        Parameters
        ----------
        level : float, default=None
            An error.  The point where a curve reaches it is marked; the legend has its
            radius.
        max_radius : float, default=None
            Largest radius of the plot; None shows nearly all of the rise.
        ax : matplotlib Axes, default=None
            Where to plot; None makes a new figure.
        **kwargs : dict
            Given to ``Axes.plot``.

        Returns
        -------
        ErrorCurveDisplay
            The display itself.
        """
        ax = axes_for(ax)
        if max_radius is None:
            max_radius = max(_end(curve) for curve in self.curves.values())
        already = len(ax.lines)
        self.lines_: list[Any] = []
        self.marks_: list[Any] = []
        for k, (name, curve) in enumerate(self.curves.items()):
            radii = _points(curve, max_radius)
            style = line_style(already + k, kwargs, label=_told(name, curve, level))
            self.lines_ += ax.plot(radii, curve.at(radii), **style)
        if level is not None:
            self._mark(ax, level, max_radius)
        ax.set_ylim(0.0, 1.02)
        ax.set_xlim(0.0, max(max_radius, ax.get_xlim()[1] if already else 0.0))
        ax.set(xlabel="radius", ylabel="worst-case error")
        ax.legend(frameon=False)
        return self._drawn_on(ax)

    def _mark(self, ax: Any, level: float, max_radius: float) -> None:
        """Draw a dot where a curve reaches the level, and a thin line down from the dot."""
        for line, curve in zip(self.lines_, self.curves.values(), strict=True):
            radius = curve.budget_for(level)
            if radius <= max_radius:
                colour = line.get_color()
                (dot,) = ax.plot([radius], [level], "o", color=colour, markersize=5)
                ax.vlines(radius, 0.0, level, colors=colour, linewidth=0.8)
                self.marks_.append(dot)
        ax.hlines(level, 0.0, max_radius, colors=ink(ax), linewidth=0.5)


def _check_promise(by_class: Any) -> None:
    if by_class is not None and by_class not in PROMISES:
        allowed = ", ".join(repr(name) for name in PROMISES)
        raise ValueError(f"by_class must be None or one of {allowed}, got {by_class!r}.")


def _curve(
    estimator: Any, X: Any, y: Any, ball: WassersteinBall | None, how: dict[str, Any]
) -> ErrorCurve:
    if ball is not None:
        return error_curve(estimator, X, y, ball, **how)
    if not hasattr(estimator, "error_curve"):
        raise TypeError(
            f"ball must be given for {type(estimator).__name__}, which has none, got None."
        )
    return estimator.error_curve(X, y, **how)


def _named(estimators: Any) -> dict[str, Any]:
    if isinstance(estimators, Mapping):
        return {str(name): each for name, each in estimators.items()}
    names = [type(last_classifier(each)).__name__ for each in estimators]
    if len(set(names)) < len(names):
        names = [f"{name} {k}" for k, name in enumerate(names)]
    return dict(zip(names, estimators, strict=True))


def _end(curve: ErrorCurve) -> float:
    """The radius at which a curve has made nearly all of its rise."""
    low, high = curve.errors[0], curve.errors[-1]
    shown = curve.budget_for(low + SHOWN * (high - low))
    return max(float(shown), 1.1 * curve.radius) or 1.0


def _points(curve: ErrorCurve, max_radius: float) -> Any:
    """Radii at which to draw: the breakpoints, or fewer radii if there are too many."""
    inside = curve.radii[curve.radii < max_radius]
    if len(inside) > N_POINTS:
        return np.linspace(0.0, max_radius, N_POINTS)
    return np.append(inside, max_radius)


def _told(name: str, curve: ErrorCurve, level: float | None) -> str:
    if level is None:
        return name
    radius = curve.budget_for(level)
    if np.isinf(radius):
        return f"{name}: never {percent(level)}"
    return f"{name}: {percent(level)} at {radius:.3g}"
