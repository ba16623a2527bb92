"""A path: coefficients, certified risks and changed labels by radius."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..robustness import RobustPath
from ._style import Display, axes_for, ink, line_style, marker
from .search import CONSTANT, _name


class PathDisplay(Display):
    """The classifiers of a path, as the radius grows.

    Parameters
    ----------
    path : RobustPath
        Result of :func:`wdrsvm.robust_path`.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Axes of the last plot.
    figure_ : matplotlib Figure
        Their figure.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("agg")
    >>> from sklearn.datasets import load_iris
    >>> from wdrsvm import robust_path
    >>> from wdrsvm.plotting import PathDisplay
    >>> X, y = load_iris(return_X_y=True)
    >>> path = robust_path(X, y, radii=[0.01, 0.1, 0.5], label_costs=[2.0])
    >>> display = PathDisplay(path).plot_coefficients(0)
    >>> len(display.ax_.lines)
    4
    """

    def __init__(self, path: RobustPath) -> None:
        self.path = path
        self._order = np.argsort(path.radii)

    def plot_coefficients(
        self,
        class_index: int = 0,
        *,
        cost_index: int = 0,
        feature_names: Any = None,
        ax: Any = None,
        **kwargs: Any,
    ) -> PathDisplay:
        """Plot the coefficients of one class at one label cost.

        Points at which the classifier is no better than a constant one are crossed out.

        Parameters
        ----------
        class_index : int, default=0
            Position of the class in ``path.classes``.
        cost_index : int, default=0
            Position of the label cost in ``path.label_costs``.
        feature_names : sequence of str, default=None
            Names for a legend.
        ax : matplotlib Axes, default=None
            Where to plot; None makes a new figure.
        **kwargs : dict
            Given to ``Axes.plot`` for each line.

        Returns
        -------
        PathDisplay
            The display itself.
        """
        values = self.path.coef[:, cost_index, class_index]
        cost = _name(self.path.label_costs[cost_index])
        title = f"class {self.path.classes[class_index]}, label cost {cost}"
        self._plot(values, "coefficient", feature_names, ax, kwargs, title)
        if self.path.constant is not None:
            constant = self.path.constant[:, [cost_index]]
            self._cross_out(values, np.broadcast_to(constant, values.shape))
        return self

    def plot_objective(self, *, ax: Any = None, **kwargs: Any) -> PathDisplay:
        """Plot the certified worst-case risks at each label cost.

        Points at which the classifier is no better than a constant one are crossed out.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to plot; None makes a new figure.
        **kwargs : dict
            Given to ``Axes.plot`` for each line.

        Returns
        -------
        PathDisplay
            The display itself.
        """
        risks = self.path.objective
        self._plot(risks, "worst-case risk", self._costs(), ax, kwargs)
        return self._cross_out(risks, self.path.constant)

    def plot_flipped_labels(
        self, X: Any, y: Any, *, ax: Any = None, **ball: Any
    ) -> PathDisplay:
        """Plot the number of labels that the worst case changes, at each label cost.

        Points at which the classifier is no better than a constant one are crossed out.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Features.
        y : array-like of shape (n_samples,)
            Labels.
        ax : matplotlib Axes, default=None
            Where to plot; None makes a new figure.
        **ball : dict
            Keyword arguments of :meth:`wdrsvm.RobustPath.flipped_labels`.

        Returns
        -------
        PathDisplay
            The display itself.
        """
        flipped = self.path.flipped_labels(X, y, **ball)
        name = "labels changed in the worst case"
        self._plot(flipped, name, self._costs(), ax, {})
        return self._cross_out(flipped, self.path.constant)

    def _cross_out(self, values: Any, constant: Any) -> PathDisplay:
        """Mark the points (radii, lines) that promise no more than a constant."""
        if constant is not None and constant.any():
            i, j = np.nonzero(constant)
            cross = {"marker": "x", "s": 70, "color": ink(self.ax_), "zorder": 3}
            self.ax_.scatter(self.path.radii[i], values[i, j], label=CONSTANT, **cross)
            title = f"{self.ax_.get_title()}\ncrossed out: {CONSTANT}".lstrip()
            self.ax_.set_title(title, fontsize="small")
        return self

    def _costs(self) -> list[str]:
        return [f"label cost {_name(cost)}" for cost in self.path.label_costs]

    def _plot(
        self, values: Any, name: str, labels: Any, ax: Any, kwargs: Any, title: str = ""
    ) -> PathDisplay:
        ax = axes_for(ax)
        radii, values = self.path.radii[self._order], values[self._order]
        lines = []
        for k, line in enumerate(values.T):
            style = line_style(k, kwargs, marker=marker(k), markersize=4)
            lines += ax.plot(radii, line, **style)
        ax.set(xscale="log", xlabel="radius", ylabel=name, title=title)
        if labels is not None:
            ax.legend(lines, labels, frameon=False, fontsize="small")
        return self._drawn_on(ax)
