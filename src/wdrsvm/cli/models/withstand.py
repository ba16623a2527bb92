"""Learn a classifier for a given movement of the rows: two ways, and the better one stays.

The first way is the ramp loss at the radius of the movement.  It minimises the worst-case
error itself, but is not convex.  The second way is a path of convex fits with another loss.
A search chooses its radius and label cost by the worst-case error on held-out rows.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.model_selection import cross_val_score

from ...estimators import RobustLinearSVC, RobustLinearSVCCV
from ...problem import WassersteinBall
from ...report.words import counted
from ...robustness import worst_case_error_scorer
from ...robustness.promises.errors.error_curve import percent
from ..output import Share


@dataclass(frozen=True, eq=False)
class Choice:
    """The chosen classifier, and the cross-validated errors of both ways."""

    classifier: Any
    sentence: str
    ramp_error: float
    search_error: float

    def facts(self) -> dict[str, Any]:
        return {
            "chosen": self.sentence,
            "cross-validated worst-case error": Share(
                min(self.ramp_error, self.search_error)
            ),
        }


def search_for(ball: WassersteinBall) -> Any:
    """A search along the convex path, by the worst-case error in a ball."""
    return RobustLinearSVCCV(norm=ball.norm, scoring=worst_case_error_scorer(ball))


def best_to_withstand(search: Any, X: Any, y: Any) -> Choice:
    """Try both ways on the same folds, and fit the better one; the ramp if both tie."""
    limits = {
        name: getattr(search, name) for name in ("feature_cost", "support", "categorical")
    }
    ball = replace(search.scoring.ball, **limits)
    search.set_params(scoring=worst_case_error_scorer(ball))
    ramp = RobustLinearSVC(ball.radius, np.inf, loss="ramp", norm=ball.norm, **limits)
    with warnings.catch_warnings():
        # Warnings of a candidate in a fold are not about the final classifier.
        warnings.simplefilter("ignore")
        scores = cross_val_score(ramp, X, y, cv=search.cv, scoring=search.scoring)
        search.fit(X, y)
    errors = -float(scores.mean()), -float(search.best_score_)
    is_ramp = errors[0] <= errors[1]
    # Keep the classifier and not the search: a model file cannot contain the scorer.
    kept = ramp if is_ramp else RobustLinearSVC(**search.best_estimator_.get_params())
    return Choice(kept.fit(X, y), _sentence(search, ball.radius, *errors), *errors)


def _sentence(search: Any, radius: float, ramp: float, convex: float) -> str:
    n_fits = len(search.cv_results_["params"])
    fits = counted(n_fits, "convex fit", "convex fits")
    point = f"radius {search.radius_:.3g}, label cost {search.label_cost_:g}"
    names = {
        f"the ramp loss at radius {radius:g}": ramp,
        f"the best of {fits} ({point})": convex,
    }
    best, other = names if ramp <= convex else reversed(names)
    return (
        f"{best}, because at most {percent(names[best])} of rows left out are wrong if "
        f"they move by {radius:g} on average, against {percent(names[other])} for {other}."
    )
