"""A scorer for the worst-case error, so that any classifier can be tuned for it."""

from __future__ import annotations

from typing import Any

from sklearn.utils.metadata_routing import MetadataRequest

from ....problem import WassersteinBall
from .row_costs import check_space
from .worst_case_error import worst_case_error

ROUTED = ("sample_weight", "label_trust")


class WorstCaseErrorScorer:
    """Minus the worst-case error in a ball; made by :func:`worst_case_error_scorer`."""

    def __init__(self, ball: WassersteinBall, space: str = "features") -> None:
        self.ball = ball
        self.space = space
        self._requests: dict[str, bool | str | None] = {}

    def __call__(
        self,
        estimator: Any,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        label_trust: Any = None,
    ) -> float:
        """Minus the worst-case error of a fitted classifier on some rows."""
        return -worst_case_error(
            estimator,
            X,
            y,
            self.ball,
            sample_weight=sample_weight,
            label_trust=label_trust,
            space=self.space,
        )

    def set_score_request(self, **requests: bool | str | None) -> WorstCaseErrorScorer:
        """Ask for ``sample_weight`` or ``label_trust``, with metadata routing enabled.

        Parameters
        ----------
        **requests : dict
            ``True``, ``False``, None or another name for each of them, as for
            scikit-learn's scorers.

        Returns
        -------
        WorstCaseErrorScorer
            The scorer itself.
        """
        unknown = sorted(set(requests) - set(ROUTED))
        if unknown:
            raise TypeError(f"set_score_request knows {list(ROUTED)}, got {unknown}.")
        self._requests = {**self._requests, **requests}
        return self

    def get_metadata_routing(self) -> MetadataRequest:
        """What the scorer asks for beside X and y."""
        request = MetadataRequest(owner=self)
        for name in ROUTED:
            request.score.add_request(param=name, alias=self._requests.get(name))
        return request

    def __repr__(self) -> str:
        space = "" if self.space == "features" else f", space={self.space!r}"
        return f"worst_case_error_scorer({self.ball!r}{space})"


def worst_case_error_scorer(
    ball: WassersteinBall, *, space: str = "features"
) -> WorstCaseErrorScorer:
    """A scorer that gives minus the worst-case error, for searches and cross-validation.

    Parameters
    ----------
    ball : WassersteinBall
        What must be withstood; the same for all candidates of a search.
    space : {"features", "inputs"}, default="features"
        Where the rows of a kernel model move, as for :func:`worst_case_error`.

    Returns
    -------
    callable
        A scorer with the signature ``(estimator, X, y, sample_weight=None,
        label_trust=None)``, for ``scoring=`` of scikit-learn's searches and of this
        package's.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.linear_model import RidgeClassifier
    >>> from sklearn.model_selection import GridSearchCV
    >>> from wdrsvm import WassersteinBall, worst_case_error_scorer
    >>> X, y = load_iris(return_X_y=True)
    >>> scorer = worst_case_error_scorer(WassersteinBall(radius=0.1))
    >>> search = GridSearchCV(RidgeClassifier(), {"alpha": [1, 1e4]}, scoring=scorer)
    >>> search.fit(X, y).best_params_
    {'alpha': 10000.0}
    """
    if not isinstance(ball, WassersteinBall):
        raise TypeError(f"ball must be a WassersteinBall, got {ball!r}.")
    check_space(space)
    return WorstCaseErrorScorer(ball, space)
