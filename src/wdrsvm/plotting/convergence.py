"""The convergence of a solver to the optimum."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn import clone

from ..estimators.fitting.steps import solver_settings
from ..problem.certificate.gap import relative_gap
from ..robustness.promises.worst_case import last_step
from ..solvers import Progress, SolverResult, solve
from ._style import Display, axes_for, colour, line_style, marker

# For each value of ``against``: the field of a record, and the label of the axis.
ALONG = {"iterations": ("n_iter", "iterations"), "seconds": ("seconds", "seconds")}


class ConvergenceDisplay(Display):
    """The progress of a solver: the gap of its objective to a lower bound of the optimum.

    Parameters
    ----------
    history : sequence of Progress
        The ``history`` of a :class:`~wdrsvm.solvers.SolverResult`.
    bound : float, default=None
        Lower bound of the optimum; None takes the best bound of the history.
    name : str, default=None
        Name for the legend.

    Attributes
    ----------
    line_ : matplotlib Line2D
        The curve of the last plot; the curve of the objective if there are two.
    ax_ : matplotlib Axes
        Its axes.
    figure_ : matplotlib Figure
        Their figure.

    Notes
    -----
    Most solvers compute a lower bound only once, at the end.  Therefore the gap at an
    iteration is its objective minus the best bound of the whole history.  As for ``tol``,
    the gap is divided by the final objective, or by 0.01 if that is larger.

    Examples
    --------
    Two solvers on one axis:

    >>> import matplotlib
    >>> matplotlib.use("agg")
    >>> from sklearn.datasets import load_iris
    >>> from wdrsvm import RobustLinearSVC
    >>> from wdrsvm.plotting import ConvergenceDisplay
    >>> X, y = load_iris(return_X_y=True)
    >>> display = ConvergenceDisplay.from_estimator(RobustLinearSVC(), X, y)
    >>> newton = RobustLinearSVC(solver="newton")
    >>> display = ConvergenceDisplay.from_estimator(newton, X, y, ax=display.ax_)
    >>> [text.get_text() for text in display.ax_.get_legend().get_texts()]
    ['interior-point', 'newton']
    """

    def __init__(
        self,
        history: Sequence[Progress],
        *,
        bound: float | None = None,
        name: str | None = None,
    ) -> None:
        if not history:
            raise ValueError("history must have at least one record, got none.")
        self.history = history
        self.bound = bound
        self.name = name

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        *,
        sample_weight: Any = None,
        label_trust: Any = None,
        name: str | None = None,
        ax: Any = None,
        **kwargs: Any,
    ) -> ConvergenceDisplay:
        """Solve the training problem of an estimator, and plot the progress.

        Parameters
        ----------
        estimator : RobustLinearSVC, RobustSVC or RobustLogisticRegression
            The estimator, or a fitted pipeline that ends in one.  It does not change.
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Features.
        y : array-like of shape (n_samples,)
            Labels.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows.
        label_trust : array-like of shape (n_samples,), default=None
            Factors on the label cost, one per row.
        name : str, default=None
            Name for the legend; None takes that of the solver.
        ax : matplotlib Axes, default=None
            Where to plot; None makes a new figure.
        **kwargs : dict
            Given to :meth:`plot`.

        Returns
        -------
        ConvergenceDisplay
            The display.
        """
        X, estimator = last_step(X, estimator)
        watched = clone(estimator)
        data = watched._training_data(X, y, sample_weight, label_trust)
        problem = watched._problem(data, watched._ball())
        settings, kernel = solver_settings(watched), watched._of_kernel
        result = solve(problem, watched.solver, settings, of_kernel=kernel)
        return cls.from_result(result, name=name, ax=ax, **kwargs)

    @classmethod
    def from_result(
        cls,
        result: SolverResult,
        *,
        bound: float | None = None,
        name: str | None = None,
        ax: Any = None,
        **kwargs: Any,
    ) -> ConvergenceDisplay:
        """Plot the result of a solver.

        Parameters
        ----------
        result : SolverResult
            Result of :func:`wdrsvm.solvers.solve`.
        bound : float, default=None
            Lower bound of the optimum; None takes that of the result.
        name : str, default=None
            Name for the legend; None takes that of the solver.
        ax : matplotlib Axes, default=None
            Where to plot; None makes a new figure.
        **kwargs : dict
            Given to :meth:`plot`.

        Returns
        -------
        ConvergenceDisplay
            The display.
        """
        bound = result.certificate.dual_bound if bound is None else bound
        name = result.solver if name is None else name
        return cls(result.history, bound=bound, name=name).plot(ax=ax, **kwargs)

    def plot(
        self,
        *,
        metric: str = "gap",
        against: str = "iterations",
        ax: Any = None,
        **kwargs: Any,
    ) -> ConvergenceDisplay:
        """Add the curve to the axes, which may already have other curves.

        Parameters
        ----------
        metric : {"gap", "objective"}, default="gap"
            The relative gap on logarithmic axes, or the objective and, if there are any,
            the lower bounds.
        against : {"iterations", "seconds"}, default="iterations"
            The quantity of the other axis.  Iterations of two solvers cannot be compared.
            The seconds of a first solve may include compiling.
        ax : matplotlib Axes, default=None
            Where to plot; None makes a new figure.
        **kwargs : dict
            Given to ``Axes.plot``.

        Returns
        -------
        ConvergenceDisplay
            The display itself.
        """
        metrics = {"gap": self._gap, "objective": self._objective}
        for name, given, known in (
            ("metric", metric, metrics),
            ("against", against, ALONG),
        ):
            if given not in known:
                raise ValueError(f"{name} must be one of {list(known)}, got {given!r}.")
        ax = axes_for(ax)
        field, label = ALONG[against]
        x = np.array([getattr(record, field) for record in self.history])
        ax.set(xlabel=label)
        metrics[metric](ax, x, kwargs)
        if self.name is not None:
            ax.legend(frameon=False)
        return self._drawn_on(ax)

    def _gap(self, ax: Any, x: Any, kwargs: Any) -> None:
        objective = self._values("objective")
        bound = self._values("dual_bound").max() if self.bound is None else self.bound
        if not np.isfinite(bound):
            raise ValueError(
                "A gap needs a lower bound, but no record has one: give bound."
            )
        gap = relative_gap(objective - bound, objective.min())
        # A gap of 0 cannot be drawn on a logarithmic axis.
        gap = np.where(gap > 0, gap, np.nan)
        k = len(ax.lines)
        own = {"marker": marker(k), "markersize": 4, "label": self.name}
        (self.line_,) = ax.plot(x, gap, **line_style(k, kwargs, **own))
        ax.set(xscale="log", yscale="log", ylabel="(objective - bound) / objective")

    def _objective(self, ax: Any, x: Any, kwargs: Any) -> None:
        # Each display draws two lines of the same colour.
        k = len(ax.lines) // 2
        above, below = self._values("objective"), self._values("dual_bound")
        own = {"color": colour(k), "marker": marker(k), "markersize": 4}
        solid = line_style(k, kwargs, **own, linestyle="-", label=self.name)
        (self.line_,) = ax.plot(x, above, **solid)
        dashed = line_style(k, kwargs, **own, linestyle="--", label="its lower bound")
        ax.plot(x, np.where(np.isfinite(below), below, np.nan), **dashed)
        ax.set(ylabel="objective")

    def _values(self, field: str) -> Any:
        return np.array([getattr(record, field) for record in self.history])


def _check_known(argument: str, given: str, known: dict[str, Any]) -> None:
    if given not in known:
        raise ValueError(f"{argument} must be one of {list(known)}, got {given!r}.")
