"""Error and worst-case error of several models, and the models worth choosing from."""

from __future__ import annotations

from typing import Any

from ..problem import WassersteinBall
from ..robustness import Tradeoff, tradeoff
from ._style import Display, axes_for, colour, ink, line_style

ABOVE: dict[str, Any] = {
    "frameon": False,
    "loc": "lower center",
    "bbox_to_anchor": (0.5, 1.0),
    "ncols": 2,
}


class TradeoffDisplay(Display):
    """One point per model: its error without an adversary, and its worst-case error.

    Models that no other model beats in both errors have filled markers and names.  A line
    joins them.

    Parameters
    ----------
    tradeoff : Tradeoff
        Result of :func:`wdrsvm.tradeoff`.

    Attributes
    ----------
    points_ : matplotlib Line2D
        The models that another model beats.
    front_ : matplotlib Line2D
        The models that no other model beats.
    ax_ : matplotlib Axes
        Axes of the last plot.
    figure_ : matplotlib Figure
        Their figure.

    See Also
    --------
    wdrsvm.tradeoff : The numbers of the plot.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("agg")
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.preprocessing import scale
    >>> from wdrsvm import WassersteinBall, robust_path
    >>> from wdrsvm.plotting import TradeoffDisplay
    >>> X, y = load_iris(return_X_y=True)
    >>> path = robust_path(scale(X), y, radii=[0.01, 0.1, 0.5], label_costs=[2.0])
    >>> ball = WassersteinBall(radius=0.1)
    >>> display = TradeoffDisplay.from_models(path, scale(X), y, ball)
    >>> display.ax_.get_ylabel()
    'worst-case error at radius 0.1'
    """

    def __init__(self, tradeoff: Tradeoff) -> None:
        self.tradeoff = tradeoff

    @classmethod
    def from_models(
        cls,
        models: Any,
        X: Any,
        y: Any,
        ball: WassersteinBall,
        *,
        ax: Any = None,
        line_kwargs: dict[str, Any] | None = None,
        **how: Any,
    ) -> TradeoffDisplay:
        """Compute the errors of models, and plot them.

        Parameters
        ----------
        models : RobustPath, dict or sequence of fitted classifiers
            The models.
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Features.
        y : array-like of shape (n_samples,)
            Labels.
        ball : WassersteinBall
            The ball of the adversary.
        ax : matplotlib Axes, default=None
            Where to plot; None makes a new figure.
        line_kwargs : dict, default=None
            Given to ``Axes.plot`` for the line of the front.
        **how : dict
            ``sample_weight``, ``label_trust`` and ``space``, given to
            :func:`wdrsvm.tradeoff`.

        Returns
        -------
        TradeoffDisplay
            The display.
        """
        found = tradeoff(models, X, y, ball, **how)
        return cls(found).plot(ax=ax, **(line_kwargs or {}))

    def plot(
        self, *, with_names: bool = True, ax: Any = None, **kwargs: Any
    ) -> TradeoffDisplay:
        """Draw the points and the front.

        Parameters
        ----------
        with_names : bool, default=True
            Whether the models of the front are named.
        ax : matplotlib Axes, default=None
            Where to plot; None makes a new figure.
        **kwargs : dict
            Given to ``Axes.plot`` for the line of the front.

        Returns
        -------
        TradeoffDisplay
            The display itself.
        """
        ax, found = axes_for(ax), self.tradeoff
        first, second, front = found.error, found.worst_case_error, found.front
        beaten = [k for k in range(len(first)) if k not in set(front.tolist())]
        hollow = {"markerfacecolor": "none", "linestyle": "none", "markersize": 5}
        (self.points_,) = ax.plot(
            first[beaten], second[beaten], "o", color=ink(ax), label="beaten", **hollow
        )
        style = line_style(0, kwargs, marker="o", label="worth choosing from")
        (self.front_,) = ax.plot(first[front], second[front], **style)
        if with_names:
            ax.margins(y=0.1)
            self._name_front(ax)
        radius = f"{found.ball.radius:g}"
        ax.set(xlabel="error", ylabel=f"worst-case error at radius {radius}")
        # Names of models may be anywhere inside of the frame.
        shown = [line for line in (self.points_, self.front_) if len(line.get_xdata())]
        ax.legend(handles=shown, **ABOVE)
        return self._drawn_on(ax)

    def _name_front(self, ax: Any) -> None:
        found = self.tradeoff
        middle = (found.error.min() + found.error.max()) / 2
        for k in found.front.tolist():
            # The front falls: there is room above its left end and below its right end.
            is_right = found.error[k] > middle
            ax.annotate(
                found.names[k],
                (found.error[k], found.worst_case_error[k]),
                xytext=(-6, -4) if is_right else (6, 4),
                ha="right" if is_right else "left",
                va="top" if is_right else "bottom",
                textcoords="offset points",
                fontsize="small",
                color=colour(0),
            )
