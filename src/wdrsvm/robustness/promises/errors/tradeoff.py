"""Plain error against worst-case error: what a promise costs, model by model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ....arrays import Codes, Floats
from ....problem import WassersteinBall
from ...frames import imported_pandas
from ...notebook import html_result, html_table, share
from ...paths.parts import RobustPath
from ..worst_case import LinearScores
from .error_curve import percent
from .worst_case_error import worst_case_error


@dataclass(frozen=True, eq=False, repr=False)
class Tradeoff:
    """Plain and worst-case errors of several models on the same rows.

    Attributes
    ----------
    names : list of str
        Names of the models.
    error : ndarray of shape (n_models,)
        Share of wrong predictions without an adversary, ties counted as wrong.
    worst_case_error : ndarray of shape (n_models,)
        Largest share of wrong predictions in the ball.
    front : ndarray of shape (n_front,)
        Positions of the models that no other model beats in one error without losing in
        the other, in ascending order of the plain error.
    ball : WassersteinBall
        The ball.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.preprocessing import scale
    >>> from wdrsvm import WassersteinBall, robust_path, tradeoff
    >>> X, y = load_iris(return_X_y=True)
    >>> path = robust_path(scale(X), y, radii=[0.01, 0.1, 0.3], label_costs=[float("inf")])
    >>> found = tradeoff(path, scale(X), y, WassersteinBall(radius=0.1))
    >>> found.front.tolist(), found.names[found.front[0]]
    ([0], 'radius 0.01, label cost inf')
    """

    names: list[str]
    error: Floats
    worst_case_error: Floats
    front: Codes
    ball: WassersteinBall

    def to_frame(self) -> Any:
        """One row per model: name, both errors, and whether it is on the front.

        Returns
        -------
        pandas.DataFrame
            The table.
        """
        on_front = np.isin(np.arange(len(self.names)), self.front)
        columns = {
            "name": self.names,
            "error": self.error,
            "worst_case_error": self.worst_case_error,
            "on_front": on_front,
        }
        return imported_pandas("to_frame").DataFrame(columns)

    def __repr__(self) -> str:
        first, last = self.front[0], self.front[-1]
        ends = {k: f"{self.names[k]!r}: {self._rates(k)}" for k in (first, last)}
        return (
            f"Tradeoff({len(self.names)} models, {len(self.front)} on the front; "
            f"{'; '.join(ends.values())})"
        )

    def _rates(self, k: int) -> str:
        return f"{share(self.error[k])} wrong, at most {percent(self.worst_case_error[k])}"

    def _repr_html_(self) -> str:
        header = ["model", "wrong now", "wrong at most"]
        rows = [
            [self.names[k], share(self.error[k]), percent(self.worst_case_error[k])]
            for k in self.front
        ]
        moved = f"in a ball of radius {self.ball.radius:g}"
        caption = f"Models that no other model beats in both errors, {moved}"
        return html_result(self, html_table(caption, header, rows))


def tradeoff(
    models: Any,
    X: ArrayLike,
    y: ArrayLike,
    ball: WassersteinBall,
    *,
    sample_weight: ArrayLike | None = None,
    label_trust: ArrayLike | None = None,
    space: str = "features",
) -> Tradeoff:
    """What each model promises, and what it gives up for that.

    Parameters
    ----------
    models : RobustPath, dict or sequence of fitted classifiers
        The models.  A dict names them; of a path each point is a model, and it must be a
        path of linear classifiers.
    X : {array-like, sparse matrix, dask collection} of shape (n_samples, n_features)
        Features, best of rows that the models were not trained on.
    y : array-like of shape (n_samples,)
        Labels.
    ball : WassersteinBall
        What must be withstood.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of the rows.
    label_trust : array-like of shape (n_samples,), default=None
        Factors on the label cost, row by row.
    space : {"features", "inputs"}, default="features"
        Where the rows of kernel models move, as for :func:`worst_case_error`.

    Returns
    -------
    Tradeoff
        Both errors of each model, and which models are worth choosing from.

    See Also
    --------
    wdrsvm.plotting.TradeoffDisplay : A picture of it.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.linear_model import RidgeClassifier
    >>> from wdrsvm import WassersteinBall, tradeoff
    >>> X, y = load_iris(return_X_y=True)
    >>> models = {a: RidgeClassifier(alpha=a).fit(X, y) for a in (1, 100, 10000)}
    >>> found = tradeoff(models, X, y, WassersteinBall(radius=0.1))
    >>> print(found.error.round(3), found.worst_case_error.round(3))
    [0.147 0.22  0.307] [0.562 0.445 0.417]
    """
    named = _named(models)
    given: dict[str, Any] = {"sample_weight": sample_weight, "label_trust": label_trust}
    given["space"] = space
    # Without movement and with trusted labels, label costs and the box do not matter.
    calm = replace(ball.unbounded(), radius=0.0, label_cost=np.inf)
    error = np.array([worst_case_error(m, X, y, calm, **given) for m in named.values()])
    worst = np.array([worst_case_error(m, X, y, ball, **given) for m in named.values()])
    return Tradeoff(list(named), error, worst, pareto_front(error, worst), ball)


def _named(models: Any) -> dict[str, Any]:
    if isinstance(models, RobustPath):
        return _points(models)
    if isinstance(models, Mapping):
        named = {str(name): model for name, model in models.items()}
    elif isinstance(models, list | tuple):
        named = {f"{k}: {type(model).__name__}": model for k, model in enumerate(models)}
    else:
        raise TypeError(
            "models must be a RobustPath, a dict or a list of fitted classifiers, got "
            f"{type(models).__name__}."
        )
    if not named:
        raise ValueError("models must not be empty.")
    return named


def _points(path: RobustPath) -> dict[str, Any]:
    """The classifiers of a path by radius and label cost."""
    points = {}
    for i, j in np.ndindex(len(path.radii), len(path.label_costs)):
        cost = path.label_costs[j]
        told = f"{cost:g}" if np.ndim(cost) == 0 else f"matrix {j}"
        name = f"radius {path.radii[i]:.4g}, label cost {told}"
        while name in points:  # radii that agree in all digits shown
            name += "'"
        points[name] = LinearScores(path.coef[i, j], path.intercept[i, j], path.classes)
    return points


def pareto_front(first: Floats, second: Floats) -> Codes:
    """Positions of the pairs for which no other pair is at most as large in both entries.

    Of equal pairs the first one stands for all; ascending in the first error.
    """
    order = np.lexsort((second, first))
    best = np.minimum.accumulate(second[order])
    is_less = np.append(True, second[order][1:] < best[:-1])
    return np.asarray(order[is_less])
