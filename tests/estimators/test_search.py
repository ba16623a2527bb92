"""The searches choose as GridSearchCV would, and are what they chose."""

import numpy as np
import pandas as pd
import pytest
from sklearn import config_context
from sklearn.base import clone
from sklearn.datasets import load_wine, make_classification
from sklearn.exceptions import NotFittedError
from sklearn.experimental import enable_halving_search_cv  # noqa: F401
from sklearn.metrics import balanced_accuracy_score, make_scorer
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    HalvingGridSearchCV,
    StratifiedKFold,
    cross_val_score,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler, scale

from wdrsvm import (
    RobustLinearSVC,
    RobustLinearSVCCV,
    RobustLogisticRegression,
    RobustLogisticRegressionCV,
    RobustSVC,
    RobustSVCCV,
)
from wdrsvm.estimators import _folds, _search

RADII, COSTS = [0.2, 0.05, 0.01], (0.5, np.inf)


def rows(n_rows=80, seed=0):
    X, y = make_classification(
        n_rows, 4, n_informative=3, n_redundant=0, n_classes=3, n_clusters_per_class=1,
        flip_y=0.1, random_state=seed,
    )  # fmt: skip
    return scale(X), y


@pytest.mark.filterwarnings("ignore::wdrsvm.RadiusWarning")
@pytest.mark.parametrize("kind", ["linear", "logistic", "kernel"])
def test_the_same_scores_and_choice_as_a_grid_search(kind, monkeypatch):
    """Radii beyond radius_max included: ties are settled alike."""
    monkeypatch.setattr(_search, "FOLD_TOL", 1e-6)
    X, y = rows()
    one, all_ = {
        "linear": (RobustLinearSVC(norm="l1"), RobustLinearSVCCV(norm="l1")),
        "logistic": (RobustLogisticRegression(), RobustLogisticRegressionCV()),
        "kernel": (RobustSVC(gamma=0.5), RobustSVCCV(gamma=0.5)),
    }[kind]
    grid = {"radius": [1.5, *RADII], "label_cost": list(COSTS)}
    peer = GridSearchCV(one, grid, cv=3).fit(X, y)
    search = all_.set_params(radii=grid["radius"], label_costs=COSTS, cv=3).fit(X, y)
    assert search.best_params_ == peer.best_params_
    assert search.radius_ == peer.best_params_["radius"]
    assert search.label_cost_ == peer.best_params_["label_cost"]
    assert search.best_score_ == pytest.approx(peer.best_score_)
    assert set(search.cv_results_) == {*peer.cv_results_, "constant"}
    assert search.cv_results_["params"] == peer.cv_results_["params"]
    for name in ("mean_test_score", "std_test_score", "split1_test_score"):
        assert search.cv_results_[name] == pytest.approx(peer.cv_results_[name], abs=0.04)
    assert np.array_equal(search.predict(X), peer.predict(X))


def test_a_second_fit_leaves_nothing_of_the_first():
    X, y = rows()
    options = {"label_noise": "random", "cv": 3}
    search = RobustLinearSVCCV(RADII, [2.0], **options).fit(pd.DataFrame(X), y)
    assert hasattr(search, "label_belief_")
    search.set_params(label_noise="adversarial").fit(X[:, :3], -y)
    fresh = RobustLinearSVCCV(RADII, [2.0], cv=3).fit(X[:, :3], -y)
    assert vars(search).keys() == vars(fresh).keys()
    assert np.array_equal(search.coef_, fresh.coef_)
    assert np.array_equal(search.predict(X[:, :3]), fresh.predict(X[:, :3]))


def test_it_is_what_it_chose():
    X, y = rows()
    search = RobustLinearSVCCV(RADII, COSTS, cv=3).fit(X, y)
    chosen = RobustLinearSVC(search.radius_, search.label_cost_).fit(X, y)
    assert search.coef_ == pytest.approx(chosen.coef_)
    assert search.objective_ == chosen.objective_
    assert search.worst_case_risk(X, y) == pytest.approx(search.objective_)
    assert search.certified_radius(X) == pytest.approx(chosen.certified_radius(X))
    assert search.worst_case_distribution(X, y).risk <= search.objective_ + 1e-9
    assert search.score(X, y) == chosen.score(X, y)


def test_a_kernel_search_promises_as_its_choice_does():
    X, y = rows(40)
    search = RobustSVCCV([0.05, 0.01], [np.inf], cv=2).fit(X, y)
    chosen = RobustSVC(search.radius_, np.inf).fit(X, y)
    assert search.decision_function(X) == pytest.approx(chosen.decision_function(X))
    assert search.certified_radius(X) == pytest.approx(chosen.certified_radius(X))
    assert search.lifted_radius(0.1) == chosen.lifted_radius(0.1)


def test_a_precomputed_kernel_is_cut_on_both_sides():
    X, y = rows(40)
    plain = RobustSVCCV([0.05, 0.01], [np.inf], cv=2, kernel="linear").fit(X, y)
    given = RobustSVCCV([0.05, 0.01], [np.inf], cv=2, kernel="precomputed").fit(X @ X.T, y)
    for name in ("split0_test_score", "split1_test_score"):
        assert given.cv_results_[name] == pytest.approx(plain.cv_results_[name])


def test_default_radii_are_those_of_a_path():
    X, y = load_wine(return_X_y=True)
    search = RobustLinearSVCCV(radii=4, label_costs=[np.inf], cv=2).fit(scale(X), y)
    assert search.radii_ == pytest.approx(search.radii_[0] * np.logspace(0, -3, 4))


def test_one_standard_error_takes_a_larger_radius():
    X, y = load_wine(return_X_y=True)
    X = scale(X)
    best = RobustLinearSVCCV(np.geomspace(0.8, 1e-3, 12), [np.inf]).fit(X, y)
    robust = clone(best).set_params(one_standard_error=True).fit(X, y)
    table = best.cv_results_
    error = table["std_test_score"][best.best_index_] / np.sqrt(5)
    assert robust.radius_ > best.radius_
    assert robust.best_score_ >= best.best_score_ - error
    beyond = best.radii_ > robust.radius_
    assert (table["mean_test_score"][beyond] < best.best_score_ - error).all()


def test_any_scorer():
    X, y = rows()
    named = RobustLinearSVCCV(RADII, COSTS, cv=3, scoring="balanced_accuracy").fit(X, y)
    made = RobustLinearSVCCV(
        RADII, COSTS, cv=3, scoring=make_scorer(balanced_accuracy_score)
    ).fit(X, y)

    def own(estimator, X, y):
        return balanced_accuracy_score(y, estimator.predict(X))

    plain = RobustLinearSVCCV(RADII, COSTS, cv=3, scoring=own).fit(X, y)
    column = named.cv_results_["mean_test_score"]
    assert made.cv_results_["mean_test_score"] == pytest.approx(column)
    assert plain.cv_results_["mean_test_score"] == pytest.approx(column)
    expected = balanced_accuracy_score(y, named.predict(X))
    assert named.score(X, y) == pytest.approx(expected)


def test_several_scorers():
    X, y = rows()
    search = RobustLinearSVCCV(
        RADII, COSTS, cv=3, scoring=["accuracy", "balanced_accuracy"], refit="accuracy"
    ).fit(X, y)
    assert {"mean_test_accuracy", "rank_test_balanced_accuracy"} <= set(search.cv_results_)
    assert search.cv_results_["rank_test_accuracy"][search.best_index_] == 1
    with pytest.raises(ValueError, match="refit must name one of the scorers"):
        search.set_params(refit=True).fit(X, y)


def test_weights_reach_training_and_scoring():
    """Rows of weight zero are as if they were not there."""
    X, y = rows()
    weight = np.ones(80)
    weight[::8] = 0
    kept = np.flatnonzero(weight)
    folds = list(StratifiedKFold(3).split(X, y))
    place = np.cumsum(weight > 0) - 1
    inside = [tuple(place[part[weight[part] > 0]] for part in fold) for fold in folds]
    weighted = RobustLinearSVCCV(RADII, COSTS, cv=folds).fit(X, y, sample_weight=weight)
    left = RobustLinearSVCCV(RADII, COSTS, cv=inside).fit(X[kept], y[kept])
    table = left.cv_results_["mean_test_score"]
    assert weighted.cv_results_["mean_test_score"] == pytest.approx(table)
    assert weighted.coef_ == pytest.approx(left.coef_)


def test_trust_reaches_training():
    X, y = rows()
    trust = np.full(80, np.inf)
    trusted = RobustLinearSVCCV(RADII, [0.5], cv=3).fit(X, y, label_trust=trust)
    infinite = RobustLinearSVCCV(RADII, [np.inf], cv=3).fit(X, y)
    assert trusted.objective_ == pytest.approx(infinite.objective_, abs=1e-6)


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
        assert table == pytest.approx(given.cv_results_["mean_test_score"])


def test_weights_are_routed_to_who_asks():
    X, y = rows()
    weight = np.random.default_rng(0).integers(1, 4, 80).astype(float)
    with config_context(enable_metadata_routing=True):
        scorer = make_scorer(balanced_accuracy_score).set_score_request(sample_weight=True)
        search = RobustLinearSVCCV(RADII, COSTS, cv=3, scoring=scorer)
        search.set_fit_request(sample_weight=True)
        routed = search.fit(X, y, sample_weight=weight)
    plain = RobustLinearSVCCV(
        RADII, COSTS, cv=3, scoring=make_scorer(balanced_accuracy_score)
    ).fit(X, y, sample_weight=weight)
    table = plain.cv_results_["mean_test_score"]
    assert routed.cv_results_["mean_test_score"] == pytest.approx(table)


def test_unknown_metadata_are_an_error():
    X, y = rows()
    with pytest.raises(TypeError, match="unexpected arguments"):
        RobustLinearSVCCV(RADII, COSTS).fit(X, y, colour=y)


def test_without_a_refit_there_is_a_choice_but_no_classifier():
    X, y = rows()
    search = RobustLinearSVCCV(RADII, COSTS, cv=3, refit=False).fit(X, y)
    assert search.radius_ in RADII
    with pytest.raises(NotFittedError):
        search.predict(X)


def test_frames_names_and_sparse_rows():
    X, y = rows()
    frame = pd.DataFrame(X, columns=list("abcd"))
    labels = np.array(["ash", "birch", "cedar"])[y]
    search = RobustLinearSVCCV(RADII, COSTS, cv=3).fit(frame, labels)
    assert list(search.feature_names_in_) == list("abcd")
    assert set(search.predict(frame)) <= {"ash", "birch", "cedar"}
    assert make_pipeline(StandardScaler(), search).fit(frame, labels).score(frame, labels)


def test_jobs_change_nothing(capsys):
    X, y = rows()
    alone = RobustLinearSVCCV(RADII, COSTS, cv=2, verbose=1).fit(X, y)
    assert "folds [####################] 2/2" in capsys.readouterr().err
    together = RobustLinearSVCCV(RADII, COSTS, cv=2, n_jobs=2).fit(X, y)
    assert np.array_equal(
        alone.cv_results_["mean_test_score"], together.cv_results_["mean_test_score"]
    )
    assert np.array_equal(alone.coef_, together.coef_)


def test_an_estimator_that_no_path_serves_is_fitted_point_by_point(monkeypatch):
    X, y = rows()
    along = RobustLinearSVCCV(RADII, COSTS, cv=2).fit(X, y)
    monkeypatch.setattr(_folds, "_path", _folds._fitted)
    fitted = RobustLinearSVCCV(RADII, COSTS, cv=2).fit(X, y)
    table = along.cv_results_["mean_test_score"]
    assert fitted.cv_results_["mean_test_score"] == pytest.approx(table, abs=0.03)


def test_parameters_are_those_of_the_estimator():
    theirs = set(RobustSVC().get_params()) - {"radius", "label_cost"}
    assert theirs <= set(RobustSVCCV().get_params())
    theirs = set(RobustLinearSVC().get_params()) - {"radius", "label_cost", "warm_start"}
    assert theirs <= set(RobustLinearSVCCV().get_params())
    with pytest.raises(TypeError, match="radius"):
        RobustLinearSVCCV(radius=0.1)


def test_a_failed_fit_leaves_nothing_behind():
    X, y = rows()
    search = RobustLinearSVCCV(RADII, [np.zeros((2, 2))], cv=2)
    with pytest.raises(ValueError, match="label_cost has shape"):
        search.fit(X, y)
    assert not hasattr(search, "cv_results_")


@pytest.mark.filterwarnings("ignore::wdrsvm.RadiusWarning")
def test_searches_of_scikit_learn_take_our_estimators():
    X, y = rows(120)
    grid = {"radius": RADII, "label_cost": list(COSTS)}
    halved = HalvingGridSearchCV(RobustLinearSVC(), grid, cv=2, random_state=0).fit(X, y)
    assert halved.best_params_["radius"] in RADII
    nested = cross_val_score(RobustLinearSVCCV(RADII, COSTS, cv=2), X, y, cv=2)
    assert nested.mean() > 0.5


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


@pytest.mark.parametrize("refit", [None, 0, 1, len])
def test_refit_is_a_truth_or_a_name(refit):
    X, y = load_wine(return_X_y=True)
    search = RobustLinearSVCCV([0.1], 2.0, cv=2, refit=refit)
    with pytest.raises(ValueError, match="refit must be True, False or the name"):
        search.fit(X, y)


@pytest.mark.parametrize("name", ["label_noise", "disbelief", "lipschitz"])
def test_an_array_is_no_word(name):
    X, y = load_wine(return_X_y=True)
    search = RobustSVCCV([0.1], 2.0, cv=2, **{name: np.ones((2, 2))})
    with pytest.raises(ValueError, match=f"{name} must be '"):
        search.fit(X, y)


@pytest.mark.parametrize("cv", [[], b"l2"])
def test_no_splits_are_refused(cv):
    X, y = load_wine(return_X_y=True)
    with pytest.raises(ValueError, match="cv must be a number of folds, a splitter or"):
        RobustLinearSVCCV([0.1], 2.0, cv=cv).fit(X, y)
