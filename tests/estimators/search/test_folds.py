"""Folds of a search: how rows are cut, and how folds are worked on."""

import numpy as np
import pytest
from sklearn import config_context
from sklearn.base import clone
from sklearn.datasets import load_wine
from sklearn.model_selection import GridSearchCV, GroupKFold

from wdrsvm import RobustLinearSVC, RobustLinearSVCCV, RobustSVCCV
from wdrsvm.estimators.search import path_search as _search
from wdrsvm.estimators.search.refit import FOLD_TOL

from ..cases import COSTS, CULTIVAR, RADII, WINE, rows


def test_a_precomputed_kernel_is_cut_on_both_sides():
    X, y = rows(40)
    plain = RobustSVCCV([0.05, 0.01], [np.inf], cv=2, kernel="linear").fit(X, y)
    given = RobustSVCCV([0.05, 0.01], [np.inf], cv=2, kernel="precomputed").fit(X @ X.T, y)
    for name in ("split0_test_score", "split1_test_score"):
        assert given.cv_results_[name] == pytest.approx(plain.cv_results_[name])


def test_groups_stay_together():
    X, y = rows()
    groups = np.arange(80) // 10
    plain = RobustLinearSVCCV(RADII, COSTS, cv=GroupKFold(4)).fit(X, y, groups=groups)
    splits = list(GroupKFold(4).split(X, y, groups))
    given = RobustLinearSVCCV(RADII, COSTS, cv=splits).fit(X, y)
    with config_context(enable_metadata_routing=True):
        routed = RobustLinearSVCCV(RADII, COSTS, cv=GroupKFold(4))
        routed.fit(X, y, groups=groups)
    for search in (plain, routed):
        table = search.cv_results_["mean_test_score"]
        # Points that were left out early have no score, and are the same ones.
        expected = given.cv_results_["mean_test_score"]
        assert table == pytest.approx(expected, nan_ok=True)


@pytest.mark.filterwarnings(
    "ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning"
)
def test_folds_can_be_worked_on_by_dask():
    distributed = pytest.importorskip("distributed")
    joblib = pytest.importorskip("joblib")
    X, y = rows()
    search = RobustLinearSVCCV(RADII, COSTS, cv=2)
    alone = clone(search).fit(X, y)
    with (
        distributed.LocalCluster(
            n_workers=1, threads_per_worker=2, processes=False, dashboard_address=":0"
        ) as cluster,
        distributed.Client(cluster),
        joblib.parallel_config(backend="dask"),
    ):
        search.fit(X, y)
        grid = GridSearchCV(RobustLinearSVC(), {"radius": RADII}, cv=2).fit(X, y)
    assert np.array_equal(search.coef_, alone.coef_)
    assert grid.best_params_["radius"] in RADII


@pytest.mark.parametrize("cv", [[], b"l2"])
def test_no_splits_are_refused(cv):
    X, y = load_wine(return_X_y=True)
    with pytest.raises(
        ValueError, match="cv must be 'auto', a number of folds, a splitter or"
    ):
        RobustLinearSVCCV([0.1], 2.0, cv=cv).fit(X, y)


def test_folds_are_solved_roughly_and_the_choice_to_tol(monkeypatch):
    seen = []
    run = _search.scored_fold

    def watched(estimator, *rest):
        seen.append(estimator.tol)
        return run(estimator, *rest)

    monkeypatch.setattr(_search, "scored_fold", watched)
    found = RobustLinearSVCCV([0.1], [2.0], cv=2, tol=1e-7).fit(WINE, CULTIVAR)
    assert seen == [FOLD_TOL] * 2
    assert found.duality_gap_ <= 1e-7 * max(found.objective_, 1e-2)
