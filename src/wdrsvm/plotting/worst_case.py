"""Decision regions of two features, and the adversary's changes of the points."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..inputs.arrays import checked_features, label_codes
from ..problem import WassersteinBall
from ..robustness import WorstCaseDistribution, worst_case_distribution
from ..robustness.frames import feature_names
from ..robustness.promises.worst_case import has_kernel, last_step
from ._style import Display, axes_for, colour, ink, marker


class WorstCaseDisplay(Display):
    """Decision regions of a classifier of two features, and the worst case.

    Each point has the colour and the marker of its label.  A hollow marker around a point
    is the label that the adversary gives to the point.  An arrow shows where the adversary
    moves a point; it ends at the edge of the plot if the place is outside.

    Parameters
    ----------
    xx0, xx1 : ndarray of shape (grid_resolution, grid_resolution)
        Coordinates of a grid.
    scores : ndarray of shape (grid_resolution, grid_resolution, n_classes)
        Scores of the classes at the points of the grid.
    X : ndarray of shape (n_samples, 2)
        The points.
    codes : ndarray of shape (n_samples,)
        Their labels, as positions in ``classes``.
    classes : ndarray of shape (n_classes,)
        Labels.
    worst : WorstCaseDistribution, default=None
        The worst case; None draws no worst case.
    of_kernel : bool, default=False
        Whether ``worst`` moves points in the feature space of a kernel, which arrows
        cannot show.
    names : sequence of str, default=("x0", "x1")
        Names of the features.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Axes of the last plot.
    figure_ : matplotlib Figure
        Their figure.

    See Also
    --------
    wdrsvm.worst_case_distribution : The distribution that is drawn.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("agg")
    >>> from sklearn.datasets import load_iris
    >>> from wdrsvm import RobustLinearSVC
    >>> from wdrsvm.plotting import WorstCaseDisplay
    >>> X, y = load_iris(return_X_y=True)
    >>> classifier = RobustLinearSVC(radius=0.05, label_cost=1.0).fit(X[:, :2], y)
    >>> display = WorstCaseDisplay.from_estimator(classifier, X[:, :2], y)
    >>> display.ax_.get_xlabel(), (display.worst.kind == "flipped").sum() > 0
    ('x0', np.True_)
    """

    def __init__(
        self,
        xx0: Any,
        xx1: Any,
        scores: Any,
        X: Any,
        codes: Any,
        classes: Any,
        *,
        worst: WorstCaseDistribution | None = None,
        of_kernel: bool = False,
        names: Any = ("x0", "x1"),
    ) -> None:
        self.xx0 = xx0
        self.xx1 = xx1
        self.scores = scores
        self.X = X
        self.codes = codes
        self.classes = classes
        self.worst = worst
        self.of_kernel = of_kernel
        self.names = names

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        ball: WassersteinBall | None = None,
        *,
        tail_mass: float = 1.0,
        sample_weight: ArrayLike | None = None,
        label_trust: ArrayLike | None = None,
        grid_resolution: int = 200,
        margin: float = 0.1,
        worst_case: bool = True,
        ax: Any = None,
        **kwargs: Any,
    ) -> WorstCaseDisplay:
        """Plot a fitted classifier and the worst case in a ball around the data.

        Parameters
        ----------
        estimator : object
            An estimator for :func:`wdrsvm.worst_case_distribution`: a fitted linear
            classifier, a kernel model, or a pipeline that ends in one.  For a pipeline,
            the plot shows the features that the last step receives.
        X : array-like of shape (n_samples, n_features)
            Features; the last step of a pipeline must receive two features.
        y : array-like of shape (n_samples,)
            Labels, each one of ``estimator.classes_``.
        ball : WassersteinBall, default=None
            The ball of the adversary.  None takes the ball of the estimator; if it has
            none, only the regions are drawn.
        tail_mass : float, default=1.0
            Largest mass that is moved with the budget that is left after flips.  A smaller
            mass moves farther; 1 moves a whole point.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows.
        label_trust : array-like of shape (n_samples,), default=None
            Factors on the label cost, one per row.
        grid_resolution : int, default=200
            Number of grid points along each axis.
        margin : float, default=0.1
            Margin around the points, as a share of their range.
        worst_case : bool, default=True
            Whether to draw the worst case.
        ax : matplotlib Axes, default=None
            Where to plot; None makes a new figure.
        **kwargs : dict
            Given to ``Axes.scatter`` for the points.

        Returns
        -------
        WorstCaseDisplay
            The display.
        """
        X, classifier = last_step(X, estimator)
        points = _checked_plane(X)
        how = {"sample_weight": sample_weight, "label_trust": label_trust}
        xx0, xx1 = _grid(points, grid_resolution, margin)
        display = cls(
            xx0,
            xx1,
            _scores(classifier, xx0, xx1),
            points,
            label_codes(y, classifier.classes_),
            classifier.classes_,
            worst=_worst_case(classifier, X, y, ball, tail_mass=tail_mass, **how),
            of_kernel=has_kernel(classifier),
            names=_names(estimator, classifier),
        )
        return display.plot(worst_case=worst_case, ax=ax, **kwargs)

    def plot(
        self, *, worst_case: bool = True, ax: Any = None, **kwargs: Any
    ) -> WorstCaseDisplay:
        """Draw the regions, the points and the worst case.

        Parameters
        ----------
        worst_case : bool, default=True
            Whether to draw the worst case.
        ax : matplotlib Axes, default=None
            Where to plot; None makes a new figure.
        **kwargs : dict
            Given to ``Axes.scatter`` for the points.

        Returns
        -------
        WorstCaseDisplay
            The display itself.
        """
        ax = axes_for(ax)
        self._regions(ax)
        self._points(ax, kwargs)
        if worst_case and self.worst is not None:
            self._flips(ax, self.worst)
            self._moves(ax, self.worst)
        (left, right), (bottom, top) = self._ends()
        ax.set(xlim=(left, right), ylim=(bottom, top))
        ax.set(xlabel=self.names[0], ylabel=self.names[1])
        ax.legend(fontsize="small")
        return self._drawn_on(ax)

    def _regions(self, ax: Any) -> None:
        for k in range(len(self.classes)):
            others = np.delete(self.scores, k, axis=2).max(axis=2)
            lead = self.scores[..., k] - others
            grid = (self.xx0, self.xx1, lead)
            if lead.max() > 0:
                ax.contourf(*grid, levels=[0.0, np.inf], colors=[colour(k)], alpha=0.2)
            if lead.min() < 0 < lead.max():
                ax.contour(*grid, levels=[0.0], colors=[ink(ax)], linewidths=1.0)

    def _points(self, ax: Any, kwargs: Any) -> None:
        for k, name in enumerate(self.classes):
            style = {"s": 20, "linewidths": 0, "color": colour(k), "marker": marker(k)}
            style = {**style, "label": str(name), "zorder": 3, **kwargs}
            ax.scatter(*self.X[self.codes == k].T, **style)

    def _flips(self, ax: Any, worst: WorstCaseDistribution) -> None:
        flipped = worst.kind == "flipped"
        given = label_codes(worst.y, self.classes)
        for k in np.unique(given[flipped]):
            to = flipped & (given == k)
            ax.scatter(
                *self.X[worst.source[to]].T,
                s=110,
                facecolors="none",
                edgecolors=colour(k),
                linewidths=1.6,
                marker=marker(k),
                label=f"flipped to {self.classes[k]}",
                zorder=4,
            )

    def _moves(self, ax: Any, worst: WorstCaseDistribution) -> None:
        moved = np.flatnonzero(worst.kind == "moved")
        if self.of_kernel or not moved.size:
            return
        style = {"arrowstyle": "-|>", "color": ink(ax), "shrinkA": 0, "shrinkB": 0}
        for atom in moved:
            begin = self.X[worst.source[atom]]
            end = self._cut(begin, worst.X[[atom]])
            ax.annotate("", end, begin, arrowprops=style, zorder=5)
        arrow = {"marker": r"$\rightarrow$", "markersize": 10, "linestyle": "none"}
        ax.plot([], [], color=ink(ax), label="moved", **arrow)

    def _cut(self, begin: Any, end: Any) -> Any:
        """The end of an arrow, cut at the edge of the plot if it is outside."""
        end = np.asarray(end.toarray() if hasattr(end, "toarray") else end)[0]
        low, high = np.transpose(self._ends())
        step = end - begin
        wall = np.where(step > 0, high, low) - begin
        share = np.divide(wall, step, out=np.full(2, np.inf), where=step != 0)
        return begin + min(1.0, 0.98 * share.min()) * step

    def _ends(self) -> list[tuple[float, float]]:
        return [(axis.min(), axis.max()) for axis in (self.xx0, self.xx1)]


def _checked_plane(X: Any) -> Any:
    points = checked_features(X)
    points = points.toarray() if hasattr(points, "toarray") else points
    if points.shape[1] != 2:
        raise ValueError(
            f"X must have 2 features for the classifier, got {points.shape[1]}."
        )
    return points


def _names(estimator: Any, classifier: Any) -> Any:
    """Names of the two features; for a kernel model, the names of its inputs."""
    if has_kernel(classifier):
        return getattr(classifier, "feature_names_in_", ("x0", "x1"))
    return feature_names(estimator, 2)


def _worst_case(
    classifier: Any, X: Any, y: Any, ball: WassersteinBall | None, **how: Any
) -> WorstCaseDistribution | None:
    if ball is not None:
        return worst_case_distribution(classifier, X, y, ball, **how)
    own = getattr(classifier, "worst_case_distribution", None)
    return None if own is None else own(X, y, **how)


def _grid(points: Any, resolution: int, margin: float) -> Any:
    low, high = points.min(axis=0), points.max(axis=0)
    room = margin * np.where(high > low, high - low, 1.0)
    ends = zip(low - room, high + room, strict=True)
    return np.meshgrid(*(np.linspace(*end, resolution) for end in ends))


def _scores(classifier: Any, xx0: Any, xx1: Any) -> Any:
    """Scores (n, n, C) on the grid; with two classes, the one score is used for both."""
    grid = np.column_stack([xx0.ravel(), xx1.ravel()])
    scores = np.asarray(classifier.decision_function(grid))
    if scores.ndim == 1:
        scores = np.column_stack([-scores, scores]) / 2
    return scores.reshape(*xx0.shape, -1)
