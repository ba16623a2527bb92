"""The last fit of a search: one point, or the mean of all points, on all rows."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.base import clone

from ...solvers.descent_settings import DESCENT
from ..fitting.steps import RadiusWarning, solver_settings
from ..fitting.training import disbelieves
from .defaults import is_auto
from .doubt.choice import Doubts
from .doubt.mean import PointWeights, fitted_mean
from .doubt.path import fitted_like_folds
from .doubt.suspects import SuspectsMixin
from .grid import SearchGrid
from .judges import ALONE, GivenRows
from .results import eligible

# Relative duality gap of the fits in folds: scores hardly change below it.
FOLD_TOL = 1e-3


class RefitMixin(SuspectsMixin):
    """Fit what a search has chosen, and take over its attributes."""

    _searched: type
    radii: Any
    scoring: Any
    one_standard_error: Any
    best_params_: dict[str, Any]
    cv_results_: dict[str, Any]
    best_estimator_: Any

    def _refit(
        self, estimator: Any, rows: GivenRows, grid: SearchGrid, doubted: Doubts | None
    ) -> None:
        best = clone(estimator).set_params(**self.best_params_)
        points = None if doubted is None else self._point_weights(doubted, grid)
        if points is None:
            best.fit(*rows)
        elif self._averages:
            self.cv_results_["weight"] = points.weight[: len(grid.params)]
            fitted_mean(best, self._rough(estimator), rows, grid, points)
        else:
            self._fit_like_folds(best, rows, grid)
        self._adopt(best)
        self._keep_doubts(doubted, points, rows.label_trust)

    def _point_weights(self, doubted: Doubts, grid: SearchGrid) -> PointWeights:
        """The weights of a mean; the chosen point alone has the weight 1."""
        if not self._averages:
            alone = np.eye(len(grid.params))[self.best_index_]
            return PointWeights(alone, np.ones(len(alone)), alone)
        could = eligible(self.cv_results_, ALONE)
        factor = doubted.evidence.factor / doubted.evidence.factor[self.best_index_]
        return PointWeights(doubted.weights(could), factor, doubted.grid_weights(could))

    @property
    def _averages(self) -> bool:
        """Whether the classifier is the mean of all points: if scores are log-odds, and
        neither a scorer nor a rule of the user decides."""
        has_log_odds = hasattr(self._searched, "predict_proba")
        return has_log_odds and self.scoring is None and not self.one_standard_error

    def _fit_like_folds(self, best: Any, rows: GivenRows, grid: SearchGrid) -> None:
        with warnings.catch_warnings():
            if is_auto(self.radii):
                # Advice on a radius that the user has not given is of no use.
                warnings.simplefilter("ignore", RadiusWarning)
            fitted_like_folds(best, rows, grid.label_costs)

    def _rough(self, estimator: Any) -> Any:
        """The estimator with the accuracy of the fits in folds."""
        tol = max(solver_settings(estimator).tol, _fold_tol(estimator))
        return clone(estimator).set_params(tol=tol)

    def _adopt(self, best: Any) -> None:
        """Take over the attributes of the fitted estimator."""
        for name in _fitted(getattr(self, "best_estimator_", None)):
            # Remove attributes that only the earlier fit has.
            if name in vars(self) and name not in vars(best):
                delattr(self, name)
        self.best_estimator_ = best
        for name, value in _fitted(best).items():
            setattr(self, name, value)


def _fold_tol(estimator: Any) -> float:
    """The relative gap in folds: rough where beliefs change, because these decide."""
    return DESCENT.rough_tol if disbelieves(estimator) else FOLD_TOL


def _fitted(estimator: Any) -> dict[str, Any]:
    """The fitted attributes of an estimator; none if there is no estimator."""
    if estimator is None:
        return {}
    params = estimator.get_params(deep=False)
    return {name: value for name, value in vars(estimator).items() if name not in params}
