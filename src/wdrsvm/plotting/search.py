"""Scores of a search over radii and label costs: lines, a heat map, a surface."""

from __future__ import annotations

from typing import Any

import numpy as np

from ._style import Display, axes_for, ink, line_style, marker

CONSTANT = "promises no more than a constant"


class SearchDisplay(Display):
    """Scores of a cross-validated search by radius and label cost.

    Parameters
    ----------
    radii : ndarray of shape (n_radii,)
        Radii.
    label_costs : list
        Label costs.
    mean, error : ndarray of shape (n_label_costs, n_radii)
        Mean scores over the folds, and their standard errors.
    chosen : tuple of int
        Positions of the chosen label cost and radius.
    name : str
        Name of the scores.
    constant : ndarray of bool of shape (n_label_costs, n_radii) or None
        Points that promise no more than a constant classifier; they are crossed out.

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
    >>> from wdrsvm import RobustLinearSVCCV
    >>> from wdrsvm.plotting import SearchDisplay
    >>> X, y = load_iris(return_X_y=True)
    >>> search = RobustLinearSVCCV(radii=[0.01, 0.1], cv=3).fit(X, y)
    >>> display = SearchDisplay.from_search(search)
    >>> len(display.ax_.lines)
    3
    """

    def __init__(
        self,
        radii: Any,
        label_costs: list[Any],
        mean: Any,
        error: Any,
        chosen: tuple[int, int],
        name: str = "score",
        constant: Any = None,
    ) -> None:
        self.radii = radii
        self.label_costs = label_costs
        self.mean = mean
        self.error = error
        self.chosen = chosen
        self.name = name
        self.constant = np.zeros(np.shape(mean), bool) if constant is None else constant

    @classmethod
    def from_search(
        cls,
        search: Any,
        *,
        kind: str = "lines",
        metric: str = "score",
        ax: Any = None,
        **kwargs: Any,
    ) -> SearchDisplay:
        """Plot a fitted search.

        Parameters
        ----------
        search : RobustLinearSVCCV or RobustSVCCV
            The fitted search.
        kind : {"lines", "heatmap", "surface"}, default="lines"
            Lines with a band of one standard error for each label cost, or a heat map or
            surface over radius and label cost.
        metric : str, default="score"
            Name of the scorer, if there are several.
        ax : matplotlib Axes, default=None
            Where to plot; None makes a new figure.
        **kwargs : dict
            Given to :meth:`plot`.

        Returns
        -------
        SearchDisplay
            The display.
        """
        table, radii = search.cv_results_, np.asarray(search.radii_)
        shape = (-1, len(radii))
        costs = [point["label_cost"] for point in table["params"][:: len(radii)]]
        error = table[f"std_test_{metric}"] / np.sqrt(search.n_splits_)
        display = cls(
            radii,
            costs,
            table[f"mean_test_{metric}"].reshape(shape),
            error.reshape(shape),
            divmod(search.best_index_, len(radii)),
            metric.replace("_", " "),
            np.reshape(table["constant"], shape),
        )
        return display.plot(kind=kind, ax=ax, **kwargs)

    def plot(self, *, kind: str = "lines", ax: Any = None, **kwargs: Any) -> SearchDisplay:
        """Draw the scores.

        Parameters
        ----------
        kind : {"lines", "heatmap", "surface"}, default="lines"
            The kind of plot.
        ax : matplotlib Axes, default=None
            Where to plot; None makes a new figure.  A surface needs three-dimensional
            axes.
        **kwargs : dict
            Given to ``Axes.plot`` for each line, ``Axes.imshow`` or ``Axes.plot_surface``.

        Returns
        -------
        SearchDisplay
            The display itself.
        """
        kinds = {"lines": self._lines, "heatmap": self._heatmap, "surface": self._surface}
        if kind not in kinds:
            raise ValueError(f"kind must be one of {list(kinds)}, got {kind!r}.")
        ax = axes_for(ax, **({"projection": "3d"} if kind == "surface" else {}))
        kinds[kind](ax, kwargs)
        return self._drawn_on(ax)

    def _lines(self, ax: Any, kwargs: Any) -> None:
        order = np.argsort(self.radii)
        radii = self.radii[order]
        for k, cost in enumerate(self.label_costs):
            mean, error = self.mean[k][order], self.error[k][order]
            own = {"marker": marker(k), "label": _name(cost)}
            (line,) = ax.plot(radii, mean, **line_style(k, kwargs, **own))
            band = (mean - error, mean + error)
            ax.fill_between(radii, *band, alpha=0.15, color=line.get_color(), linewidth=0)
        j, i = np.nonzero(self.constant)
        if len(i):
            cross = {"marker": "x", "s": 70, "color": ink(ax), "zorder": 3}
            ax.scatter(self.radii[i], self.mean[j, i], label=CONSTANT, **cross)
        radius = self.radii[self.chosen[1]]
        ax.axvline(radius, color=ink(ax), linestyle=":", linewidth=1, label="chosen")
        ax.set(xscale="log", xlabel="radius", ylabel=self.name)
        ax.legend(title="label cost", frameon=False)

    def _heatmap(self, ax: Any, kwargs: Any) -> None:
        order = np.argsort(self.radii)
        style = {"aspect": "auto", "origin": "lower", "cmap": "viridis", **kwargs}
        image = ax.imshow(self.mean[:, order], **style)
        ax.set_xticks(range(len(order)), [f"{r:.2g}" for r in self.radii[order]])
        ax.set_yticks(range(len(self.label_costs)), [_name(c) for c in self.label_costs])
        ax.tick_params(axis="x", rotation=45)
        for row, column in np.argwhere(self.constant[:, order]):
            for edge, width in (("black", 4), ("white", 2)):
                ax.scatter(column, row, 80, edge, marker="x", linewidths=width)
        j, i = self.chosen
        place = (int(np.flatnonzero(order == i)[0]), j)
        # The star has a dark edge and a light face, so that it is visible on any colour.
        star = {"markerfacecolor": "white", "markeredgecolor": "black", "markersize": 15}
        ax.plot(*place, "*", **star)
        ax.set(xlabel="radius", ylabel="label cost")
        if self.constant.any():
            ax.set_title(f"crossed out: {CONSTANT}", fontsize="small")
        ax.figure.colorbar(image, ax=ax, label=self.name)

    def _surface(self, ax: Any, kwargs: Any) -> None:
        order = np.argsort(self.radii)
        logarithm = np.log10(np.maximum(self.radii[order], np.finfo(float).tiny))
        places = np.arange(len(self.label_costs))
        plane = (logarithm[None], places[:, None], self.mean[:, order])
        ax.plot_surface(*plane, **{"cmap": "viridis", **kwargs})
        k, i = np.nonzero(self.constant[:, order])
        if len(i):
            height = self.mean[:, order][k, i]
            ax.scatter(logarithm[i], k, height, marker="x", color=ink(ax), label=CONSTANT)
            ax.legend(frameon=False)
        ax.set_yticks(places, [_name(cost) for cost in self.label_costs])
        ax.set(xlabel="log10 radius", ylabel="label cost", zlabel=self.name)


def _name(label_cost: Any) -> str:
    return f"{label_cost:.3g}" if np.ndim(label_cost) == 0 else "matrix"
