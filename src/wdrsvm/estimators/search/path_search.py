"""A search over radii and label costs: what the cross-validated estimators share."""

from __future__ import annotations

import inspect
import sys
from typing import Any

from sklearn import get_config
from sklearn.base import clone
from sklearn.model_selection import check_cv
from sklearn.utils.metadata_routing import (
    process_routing,
)
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import check_is_fitted, validate_data

from ...inputs.arrays import (
    READ_AS_THEY_ARE,
    as_matrix,
    check_labels_present,
    checked_flag,
    checked_trust,
    checked_weight,
)
from ...problem import Loss, WassersteinBall
from ...robustness.paths.grids import (
    checked_label_costs,
    checked_radii,
    useful_radii,
)
from ..fitting.limits import found_limits
from ..fitting.steps import unchanged_on_error
from .defaults import (
    doubts,
    resolved_costs,
    resolved_cv,
    resolved_norm,
    resolved_radii,
)
from .doubt.choice import Doubts, believes_all, doubts_of
from .folds import FoldScores, scored_fold
from .grid import SearchGrid
from .judges import (
    ALONE,
    GivenRows,
    Judge,
    judges_of,
    routed_name,
    score_weight,
)
from .parameters import SEARCHED, check_refit, search_init
from .progress import Tell, print_bar, silent
from .race import Race
from .refit import RefitMixin
from .results import best_point, eligible, most_robust, results_table
from .routing import RoutingMixin


class PathSearch(RoutingMixin, RefitMixin):
    """Cross-validation along paths of radii.

    A subclass names the ``_searched`` estimator.  Once fitted, the search has the fitted
    attributes and the methods of the chosen estimator.
    """

    _searched: type
    radii: Any
    label_costs: Any
    cv: Any
    scoring: Any
    refit: Any
    one_standard_error: Any
    n_jobs: Any
    verbose: Any
    stop_early: Any
    # Called with the numbers of finished and of all folds; replaces the printed bar.
    _on_fold: Tell | None = None
    class_weight: Any

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if "_searched" in vars(cls):
            cls.__init__ = search_init(cls._searched)  # type: ignore[method-assign]

    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        label_trust: Any = None,
        **params: Any,
    ) -> Any:
        """Choose radius and label cost by cross-validation, then fit with them.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Features.
        y : array-like of shape (n_samples,)
            Labels.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows, for training and for scoring; with metadata routing, for
            the scorers that request them.
        label_trust : array-like of shape (n_samples,), default=None
            Factors >= 0 on the label cost, row by row; ``inf`` marks a verified label.
        **params : dict
            ``groups`` for the splitter; with metadata routing, the arguments that splitter
            and scorer request.

        Returns
        -------
        object
            The fitted classifier itself.
        """
        with unchanged_on_error(self):
            rows = self._rows(X, y, sample_weight, label_trust)
            check_refit(self.refit)
            scorers = self._scorers()
            metric = self._metric(scorers)
            routed = self._routed(sample_weight, label_trust, params)
            estimator = self._estimator().set_params(**found_limits(self, X, rows.X))
            self._say("radii")
            grid = self._grid(estimator, rows)
            splits = self._splits(rows, routed.splitter.split)
            scored_by = {ALONE: None} if self.scoring is None else scorers
            judges = judges_of(scored_by, rows, self.class_weight, routed)
            race = self._race(grid, metric)
            folds = self._cross_validated(estimator, rows, splits, grid, judges, race)
            doubted = self._doubts(rows, splits, folds)
            self._choose(grid, folds, metric, doubted)
            self.n_splits_ = len(splits)
            self.scorer_ = scorers[metric]
            if self.refit:
                self._say("fit with what was chosen")
                self._refit(estimator, rows, grid, doubted)
        return self

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Score of the chosen classifier, by the scorer of the search.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Features.
        y : array-like of shape (n_samples,)
            Labels.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows.

        Returns
        -------
        float
            The score.
        """
        check_is_fitted(self)
        given = {} if sample_weight is None else {"sample_weight": sample_weight}
        if get_config()["enable_metadata_routing"]:
            routed = process_routing(self, "score", **given)
            given = routed[routed_name(self._metric(self._scorers()))].score
        return self.scorer_(self.best_estimator_, X, y, **given)

    def _rows(self, X: Any, y: Any, sample_weight: Any, label_trust: Any) -> GivenRows:
        check_labels_present(y)
        X, y = validate_data(self, X, y, accept_sparse="csr", dtype=READ_AS_THEY_ARE)
        weight = None if sample_weight is None else checked_weight(sample_weight, len(y))
        return GivenRows(as_matrix(X), y, weight, checked_trust(label_trust, len(y)))

    def _splits(self, rows: GivenRows, given: dict[str, Any]) -> list[Any]:
        splitter = check_cv(resolved_cv(self, rows.y), rows.y, classifier=True)
        is_splitter = hasattr(splitter, "get_n_splits")
        splits = list(splitter.split(rows.X, rows.y, **given)) if is_splitter else []
        if not splits:
            raise ValueError(
                "cv must be 'auto', a number of folds, a splitter or pairs of row numbers, "
                f"got {self.cv!r}."
            )
        return splits

    def _estimator(self) -> Any:
        """The estimator of the search, with all parameters that both share."""
        known = set(inspect.signature(self._searched).parameters) - set(SEARCHED)
        shared = {name: getattr(self, name) for name in known}
        if "norm" in known:
            shared["norm"] = resolved_norm(self)
        shared["verbose"] = max(int(self.verbose) - 1, 0)
        return clone(self._searched(**shared))

    def _grid(self, estimator: Any, rows: GivenRows) -> SearchGrid:
        trial = clone(estimator)
        problem = trial._problem(trial._training_data(*rows), trial._ball())
        costs = checked_label_costs(resolved_costs(self, problem))
        radii = checked_radii(resolved_radii(self, problem, self._equal_classes(rows)))
        if isinstance(radii, int):
            radii = useful_radii(problem, radii, costs)
        return SearchGrid(radii, costs)

    def _equal_classes(self, rows: GivenRows) -> Any:
        """A function that makes the problem without class weights."""

        def problem() -> Any:
            trial = self._estimator().set_params(class_weight=None)
            return trial._problem(trial._training_data(*rows), trial._ball())

        return problem

    def _cross_validated(
        self,
        estimator: Any,
        rows: GivenRows,
        splits: list[Any],
        grid: SearchGrid,
        judges: dict[str, Judge],
        race: Race,
    ) -> list[FoldScores]:
        rough = self._rough(estimator)
        run = delayed(scored_fold)
        tell = self._on_fold or (print_bar if self.verbose else silent)
        tell(0, len(splits))
        folds: list[FoldScores] = []
        for some in race.rounds(len(splits)):
            wanted = race.left(folds, splits)
            for fold in Parallel(n_jobs=self.n_jobs, return_as="generator")(
                run(rough, rows, split, grid, judges, wanted, self._averages)
                for split in splits[some]
            ):
                folds.append(fold)
                tell(len(folds), len(splits))
        return folds

    def _race(self, grid: SearchGrid, metric: str) -> Race:
        stops_early = checked_flag(self.stop_early, "stop_early")
        one_standard_error = checked_flag(self.one_standard_error, "one_standard_error")
        # The evidence for doubt decides over all rows; a lead in the score says little.
        by_evidence = doubts(self) and self.scoring is None
        return Race(grid, metric, stops_early and not by_evidence, one_standard_error)

    def _say(self, what: str) -> None:
        """Print the current step, if ``verbose``."""
        if self.verbose:
            print(f"{type(self).__name__}: {what}", file=sys.stderr, flush=True)

    def _doubts(
        self, rows: GivenRows, splits: list[Any], folds: list[FoldScores]
    ) -> Doubts | None:
        """The opinions of the folds on the labels, with random label noise."""
        if not doubts(self):
            return None
        held_out = [test for _, test in splits]
        opinions = [fold.opinions for fold in folds]
        weight = score_weight(rows, self.class_weight)
        merged = self._estimator()._training_data(*rows).rows.became
        return doubts_of(rows.y, weight, held_out, opinions, merged)

    def _choose(
        self,
        grid: SearchGrid,
        folds: list[FoldScores],
        decided_by: str,
        doubted: Doubts | None,
    ) -> None:
        self.cv_results_ = results_table(grid, folds)
        index = best_point(self.cv_results_, decided_by)
        if doubted is not None:
            self.cv_results_ |= doubted.columns(len(grid.params))
            could = eligible(self.cv_results_, decided_by)
            if self._averages:
                believing = believes_all(grid.label_costs, len(grid.radii))
                index = doubted.centre(could, believing)
            elif self.scoring is None:
                index = doubted.chosen(could)
        if self.one_standard_error:
            index = most_robust(grid, self.cv_results_, decided_by, index, len(folds))
        self.best_index_ = index
        self.best_score_ = float(self.cv_results_[f"mean_test_{decided_by}"][index])
        self.best_params_ = grid.params[index]
        self.radius_ = self.best_params_["radius"]
        self.label_cost_ = self.best_params_["label_cost"]
        self.radii_ = grid.radii

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "best_estimator_")

    def _ball(self) -> WassersteinBall:
        return self.best_estimator_._ball()

    def _loss(self) -> Loss:
        return self.best_estimator_._loss()
