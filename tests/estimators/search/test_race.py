"""Points left out of further folds: the choice stays, the table says which."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris, load_wine, make_classification
from sklearn.preprocessing import scale

from wdrsvm import RobustLinearSVCCV, RobustLogisticRegressionCV, RobustSVCCV
from wdrsvm.estimators.search import refit
from wdrsvm.estimators.search.folds import FoldScores
from wdrsvm.estimators.search.grid import SearchGrid
from wdrsvm.estimators.search.race import Race
from wdrsvm.plotting import SearchDisplay


def table(name, seed=0):
    if name == "made":
        X, y = make_classification(
            200, 6, n_informative=4, n_classes=3, flip_y=0.1, random_state=seed
        )
    else:
        X, y = (load_iris if name == "iris" else load_wine)(return_X_y=True)
    order = np.random.default_rng(seed).permutation(len(y))
    return scale(X)[order], y[order]


def both(search, X, y):
    whole = clone(search).set_params(stop_early=False).fit(X, y)
    return whole, clone(search).set_params(stop_early=True).fit(X, y)


def splits_of(search, name="score"):
    rows = [f"split{k}_test_{name}" for k in range(search.n_splits_)]
    return np.array([search.cv_results_[row] for row in rows])


@pytest.mark.parametrize("one_standard_error", [False, True])
@pytest.mark.parametrize("name", ["iris", "wine", "made"])
@pytest.mark.parametrize("seed", [0, 1])
def test_the_choice_is_that_of_all_folds(name, seed, one_standard_error, monkeypatch):
    """With folds so exact that a point's neighbours do not change its scores."""
    monkeypatch.setattr(refit, "FOLD_TOL", 1e-7)
    search = RobustLinearSVCCV(6, one_standard_error=one_standard_error)
    X, y = table(name, seed)
    whole, raced = both(search, X, y)
    assert raced.best_params_ == whole.best_params_
    assert np.array_equal(raced.coef_, whole.coef_)
    assert np.array_equal(splits_of(raced)[:2], splits_of(whole)[:2])


@pytest.mark.parametrize("name", ["iris", "wine", "made"])
@pytest.mark.parametrize("seed", [0, 1])
def test_scores_differ_by_the_tolerance_of_the_folds_alone(name, seed, monkeypatch):
    """Points that are left out are no neighbours to start from.  In folds without a
    tolerance worth the name, all scores that there are agree to the last bit."""
    monkeypatch.setattr(refit, "FOLD_TOL", 1e-9)
    whole, raced = both(RobustLinearSVCCV(6, tol=1e-9), *table(name, seed))
    run = ~np.isnan(splits_of(raced))
    assert not run.all()
    assert raced.best_score_ == whole.best_score_
    assert np.array_equal(splits_of(raced)[run], splits_of(whole)[run])


@pytest.mark.parametrize(
    "search",
    [
        RobustSVCCV([3.0, 0.05, 0.01], [2.0], cv=4),
        RobustLogisticRegressionCV([3.0, 0.05, 0.01], [2.0], cv=4, scoring="neg_log_loss"),
        RobustLinearSVCCV(
            [3.0, 0.05, 0.01], [2.0], cv=4, label_noise="random", scoring="accuracy"
        ),
        RobustLinearSVCCV(
            [3.0, 0.05, 0.01],
            [2.0, np.inf],
            cv=4,
            scoring=["balanced_accuracy", "accuracy"],
            refit="balanced_accuracy",
        ),
    ],
    ids=["kernel", "log-loss", "random noise", "two scorers"],
)
def test_every_search_leaves_out_what_is_far_behind(search):
    whole, raced = both(search, *table("iris"))
    names = ["score"] if isinstance(search.refit, bool) else search.scoring
    assert raced.best_params_ == whole.best_params_
    for name in names:
        run = ~np.isnan(splits_of(raced, name))
        assert run[:2].all()
        assert not run[2:, 0].any()
        assert run[:, raced.best_index_].all()
        assert np.array_equal(splits_of(raced, name)[:2], splits_of(whole, name)[:2])
        finished = run.all(axis=0)
        rank = raced.cv_results_[f"rank_test_{name}"]
        assert np.array_equal(np.isnan(raced.cv_results_[f"mean_test_{name}"]), ~finished)
        assert (rank[~finished] == finished.sum() + 1).all()
        assert rank[finished].max() <= finished.sum()


def test_jobs_leave_out_the_same_points():
    X, y = table("wine")
    alone = RobustLinearSVCCV([3.0, 0.1, 0.01], stop_early=True).fit(X, y)
    together = clone(alone).set_params(n_jobs=2).fit(X, y)
    assert np.isnan(splits_of(alone)).any()
    np.testing.assert_array_equal(splits_of(alone), splits_of(together))


@pytest.mark.parametrize(
    "options",
    [{"cv": 3}, {"cv": 4, "stop_early": False}, {"cv": 4, "label_noise": "random"}],
)
def test_some_searches_run_all_points(options):
    """Few folds, a search that is told to, and one in which the evidence decides."""
    search = RobustLinearSVCCV([3.0, 0.05], [2.0], **options).fit(*table("iris"))
    assert not np.isnan(splits_of(search)).any()


def test_default_searches_leave_points_out():
    search = RobustLinearSVCCV([3.0, 0.05], [2.0]).fit(*table("iris"))
    assert np.isnan(splits_of(search)).any()


def test_unknown_answers_are_an_error():
    with pytest.raises(ValueError, match="stop_early must be"):
        RobustLinearSVCCV(stop_early="perhaps").fit(*table("iris"))


GRID = SearchGrid(np.array([1.0, 0.1, 0.01]), [2.0])


def folds(scores, risk=0.5):
    risk = np.broadcast_to(risk, np.shape(scores))
    pairs = zip(np.array(scores, dtype=float), risk, strict=True)
    return [FoldScores({"score": s}, r, np.ones(len(s)), 0.0, 0.0) for s, r in pairs]


def left(done, n_folds=5, n_rows=1000, one_standard_error=False):
    race = Race(GRID, "score", True, one_standard_error)
    return race.left(done, [(None, range(n_rows))] * n_folds).tolist()


def test_rounds_double():
    race = Race(GRID, "score", True, False)
    for n_folds, ends in ((3, [3]), (4, [2, 4]), (5, [2, 4, 5]), (10, [2, 4, 8, 10])):
        rounds = race.rounds(n_folds)
        assert [each.stop for each in rounds] == ends
        assert [each.start for each in rounds] == [0, *ends[:-1]]


def test_who_is_far_behind_is_out():
    assert left(folds([[0.5, 0.9, 0.895], [0.52, 0.91, 0.905]])) == [False, True, True]


def test_shares_of_few_rows_say_little():
    scores = [[0.6, 0.9, 0.9], [0.6, 0.9, 0.9]]
    assert left(folds(scores), n_rows=10) == [True, True, True]
    assert left(folds(scores), n_rows=1000) == [False, True, True]


def test_a_spread_from_fold_to_fold_leaves_hope():
    assert left(folds([[0.5, 0.9, 0.89], [0.9, 0.91, 0.9]])) == [True, True, True]


def test_the_standard_error_may_yet_take_a_larger_radius():
    scores = [[0.5, 0.9, 0.5], [0.5, 0.9, 0.5]]
    assert left(folds(scores)) == [False, True, False]
    assert left(folds(scores), one_standard_error=True) == [True, True, False]


def test_a_constant_classifier_neither_leads_nor_stays():
    scores = [[0.9, 0.8, 0.8], [0.9, 0.8, 0.8]]
    assert left(folds(scores, [0.999, 0.5, 0.5])) == [False, True, True]
    assert left(folds(scores, [0.999, 0.985, 0.985])) == [True, True, True]


def test_who_is_out_stays_out():
    assert left(folds([[np.nan, 0.9, 0.9], [0.9, 0.9, 0.9]])) == [False, True, True]


def test_pictures_have_gaps():
    pytest.importorskip("matplotlib").use("agg")
    radii = [3.0, 0.1, 0.03, 0.01]
    search = RobustLinearSVCCV(radii, [2.0, np.inf], stop_early=True).fit(*table("iris"))
    assert np.isnan(splits_of(search)).any()
    for kind in ("lines", "heatmap", "surface"):
        SearchDisplay.from_search(search, kind=kind).figure_.canvas.draw()
