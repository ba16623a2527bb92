"""The share of the rows that is certified at each radius."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_consistent_length, column_or_1d

from ..inputs.arrays import checked_weight
from ..robustness import certified_radius
from ..robustness.promises.worst_case import last_classifier
from ._style import Display, axes_for, line_style


class CertifiedRadiusDisplay(Display):
    """Share of the rows whose prediction does not change by any move within a radius.

    Parameters
    ----------
    radius : ndarray of shape (n_steps,)
        Radii in increasing order; the first one is 0.
    share : ndarray of shape (n_steps,)
        Share of the rows that is certified at each radius.
    name : str, default=None
        Name for the legend.
    of_right : bool, default=False
        Whether only correctly predicted rows count.

    Attributes
    ----------
    line_ : matplotlib Line2D
        The curve of the last plot.
    ax_ : matplotlib Axes
        Its axes.
    figure_ : matplotlib Figure
        Their figure.

    See Also
    --------
    wdrsvm.certified_radius : The radii from which the curve is made.

    Examples
    --------
    Several models on one axis:

    >>> import matplotlib
    >>> matplotlib.use("agg")
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.linear_model import LogisticRegression
    >>> from wdrsvm import RobustLinearSVC
    >>> from wdrsvm.plotting import CertifiedRadiusDisplay
    >>> X, y = load_iris(return_X_y=True)
    >>> robust, plain = RobustLinearSVC(), LogisticRegression(max_iter=1000)
    >>> display = CertifiedRadiusDisplay.from_estimator(robust.fit(X, y), X, y)
    >>> other = CertifiedRadiusDisplay.from_estimator(plain.fit(X, y), X, y, ax=display.ax_)
    >>> [text.get_text() for text in other.ax_.get_legend().get_texts()]
    ['RobustLinearSVC', 'LogisticRegression']
    """

    def __init__(
        self, radius: Any, share: Any, *, name: str | None = None, of_right: bool = False
    ) -> None:
        self.radius = radius
        self.share = share
        self.name = name
        self.of_right = of_right

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any = None,
        *,
        norm: str = "l2",
        feature_cost: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        name: str | None = None,
        ax: Any = None,
        **kwargs: Any,
    ) -> CertifiedRadiusDisplay:
        """Plot a fitted classifier.

        Parameters
        ----------
        estimator : object
            An estimator for :func:`wdrsvm.certified_radius`: a fitted linear classifier,
            a kernel model, or a pipeline that ends in one.  For a pipeline, radii are
            measured in the features that the last step receives.
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Features.
        y : array-like of shape (n_samples,), default=None
            Labels.  If they are given, only correctly predicted rows count, and the curve
            begins at the accuracy.
        norm : {"l1", "l2", "linf"}, default="l2"
            Norm of the moves; use the same norm for all models of a comparison.
        feature_cost : array-like of shape (n_features,), default=None
            Cost of moving each feature by one unit.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows.
        name : str, default=None
            Name for the legend; None takes that of the estimator's class.
        ax : matplotlib Axes, default=None
            Where to plot; None makes a new figure.
        **kwargs : dict
            Given to ``Axes.plot``.

        Returns
        -------
        CertifiedRadiusDisplay
            The display.
        """
        radii = certified_radius(estimator, X, norm, feature_cost)
        return cls.from_predictions(
            radii,
            y,
            None if y is None else estimator.predict(X),
            sample_weight=sample_weight,
            name=type(last_classifier(estimator)).__name__ if name is None else name,
            ax=ax,
            **kwargs,
        )

    @classmethod
    def from_predictions(
        cls,
        radii: ArrayLike,
        y_true: Any = None,
        y_pred: Any = None,
        *,
        sample_weight: ArrayLike | None = None,
        name: str | None = None,
        ax: Any = None,
        **kwargs: Any,
    ) -> CertifiedRadiusDisplay:
        """Plot certified radii that are already known.

        Parameters
        ----------
        radii : array-like of shape (n_samples,)
            Certified radius of each row, ``inf`` allowed.
        y_true, y_pred : array-like of shape (n_samples,), default=None
            Labels and predictions, both or neither.  If they are given, only correctly
            predicted rows count.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows.
        name : str, default=None
            Name for the legend.
        ax : matplotlib Axes, default=None
            Where to plot; None makes a new figure.
        **kwargs : dict
            Given to ``Axes.plot``.

        Returns
        -------
        CertifiedRadiusDisplay
            The display.
        """
        reach = _checked_radii(radii)
        weight = checked_weight(sample_weight, len(reach))
        if (y_true is None) != (y_pred is None):
            raise ValueError("y_true and y_pred must be given together, got one of them.")
        if y_true is not None:
            check_consistent_length(reach, y_true, y_pred)
            reach = np.where(column_or_1d(y_true) == column_or_1d(y_pred), reach, -1.0)
        display = cls(*_steps(reach, weight), name=name, of_right=y_true is not None)
        return display.plot(ax=ax, **kwargs)

    def plot(
        self, *, name: str | None = None, ax: Any = None, **kwargs: Any
    ) -> CertifiedRadiusDisplay:
        """Add the curve to the axes, which may already have other curves.

        Parameters
        ----------
        name : str, default=None
            Name for the legend; None keeps the name of the display.
        ax : matplotlib Axes, default=None
            Where to plot; None makes a new figure.
        **kwargs : dict
            Given to ``Axes.plot``.

        Returns
        -------
        CertifiedRadiusDisplay
            The display itself.
        """
        ax = axes_for(ax)
        name = self.name if name is None else name
        # A share is valid up to its radius, and at this radius too.
        own = {"drawstyle": "steps-pre", "label": name}
        style = line_style(len(ax.lines), kwargs, **own)
        (self.line_,) = ax.plot(self.radius, self.share, **style)
        ax.set_ylim(0.0, 1.02)
        right = " and right" if self.of_right else ""
        ax.set(xlabel="radius", ylabel=f"share of rows certified{right}")
        if name is not None:
            ax.legend(frameon=False)
        return self._drawn_on(ax)


def _steps(radii: Any, weight: Any) -> tuple[Any, Any]:
    """The radii at which the share decreases, and the share certified up to each."""
    steps = np.unique(np.append(radii[np.isfinite(radii) & (radii > 0)], 0.0))
    # Beyond the last radius, only rows remain whose prediction never changes.
    steps = np.append(steps, 1.05 * steps[-1] if steps[-1] > 0 else 1.0)
    order = np.argsort(radii)
    below = np.append(0.0, np.cumsum(weight[order]))
    return steps, 1 - below[np.searchsorted(radii[order], steps)] / below[-1]


def _checked_radii(radii: ArrayLike) -> Any:
    given = column_or_1d(np.asarray(radii, dtype=np.float64))
    if not (given >= 0).all():
        raise ValueError("radii must be numbers >= 0 or inf, got NaN or negative ones.")
    return given
