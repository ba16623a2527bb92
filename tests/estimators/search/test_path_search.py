"""The searches choose as GridSearchCV would, and are what they chose."""

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import load_wine
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.experimental import enable_halving_search_cv  # noqa: F401
from sklearn.model_selection import (
    GridSearchCV,
    HalvingGridSearchCV,
    cross_val_score,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler, scale
from sklearn.utils.estimator_checks import (
    check_class_weight_classifiers,
    parametrize_with_checks,
)

from wdrsvm import (
    RobustLinearSVC,
    RobustLinearSVCCV,
    RobustLogisticRegression,
    RobustLogisticRegressionCV,
    RobustSVC,
    RobustSVCCV,
)
from wdrsvm.estimators.search import folds as _folds
from wdrsvm.estimators.search import refit

from ..cases import COSTS, CULTIVAR, IRIS, RADII, RADII_WITH_A_CONSTANT, SPECIES, WINE, rows


@pytest.mark.filterwarnings("ignore::wdrsvm.RadiusWarning")
@pytest.mark.parametrize("kind", ["linear", "logistic", "kernel"])
def test_the_same_scores_and_choice_as_a_grid_search(kind, monkeypatch):
    """Radii beyond radius_max included: ties are settled alike."""
    monkeypatch.setattr(refit, "FOLD_TOL", 1e-6)
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


def test_a_search_tells_of_fits_that_stop_above_their_gap():
    search = RobustLinearSVCCV(radii=[0.1, 0.01], label_costs=[2.0], cv=2, max_iter=1)
    with warnings.catch_warnings(record=True) as given:
        warnings.simplefilter("always")
        search.fit(IRIS, SPECIES)
    said = [str(each.message) for each in given if each.category is ConvergenceWarning]
    assert any("fits of RobustLinearSVC stopped above tol" in text for text in said)


@pytest.mark.parametrize("options", [{}, {"one_standard_error": True}])
@pytest.mark.parametrize("search", [RobustLinearSVCCV, RobustLogisticRegressionCV])
def test_a_constant_is_never_chosen_while_there_is_another(search, options):
    # Whatever the scores say.
    found = search(
        RADII_WITH_A_CONSTANT, [np.inf], cv=2, scoring=lambda *_: 1.0, **options
    ).fit(WINE, CULTIVAR)
    assert found.cv_results_["constant"].tolist() == [True, False, False]
    assert found.radius_ == 0.5


def test_among_constants_the_best_score_decides():
    found = RobustLinearSVCCV([20.0, 30.0], [2.0], cv=2)
    with pytest.warns(UserWarning, match="At radius="):
        found.fit(WINE, CULTIVAR)
    assert found.cv_results_["constant"].all()
    assert found.best_score_ == found.cv_results_["mean_test_score"].max()


def test_random_label_noise_has_constants_too():
    found = RobustLinearSVCCV(RADII_WITH_A_CONSTANT, [2.0], cv=2, label_noise="random").fit(
        WINE, CULTIVAR
    )
    assert found.cv_results_["constant"].tolist() == [True, False, False]


def test_default_radii_begin_where_something_is_learned():
    found = RobustLinearSVCCV(3, cv=2).fit(WINE, CULTIVAR)
    top = np.flatnonzero(found.cv_results_["param_radius"] == found.radii_[0])
    assert not found.cv_results_["constant"][top].all()


@pytest.mark.parametrize("n_jobs", [None, 2])
def test_progress_is_told_fold_by_fold_in_place_of_the_bar(n_jobs, capsys):
    shown = []
    search = RobustLinearSVCCV([0.1], [2.0], cv=4, n_jobs=n_jobs, stop_early=True)
    search._on_fold = lambda *far: shown.append(far)
    search.set_params(verbose=1).fit(WINE, CULTIVAR)
    assert shown == [(k, 4) for k in range(5)]
    assert "folds [" not in capsys.readouterr().err


def test_a_search_says_nothing_unless_asked(capsys):
    RobustLinearSVCCV([0.1], [2.0], cv=2).fit(WINE, CULTIVAR)
    assert capsys.readouterr() == ("", "")


def test_the_default_kernel_search_heeds_class_weights():
    check_class_weight_classifiers("RobustSVCCV", RobustSVCCV())


SMALL = {"radii": [0.001, 0.01], "label_costs": (2.0,), "cv": 2}


SEARCHES = (RobustLinearSVCCV, RobustLogisticRegressionCV, RobustSVCCV)


@parametrize_with_checks([search(**SMALL) for search in SEARCHES])
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.mark.exhaustive
@parametrize_with_checks([search() for search in SEARCHES])
def test_scikit_learn_checks_of_the_default_searches(estimator, check):
    check(estimator)
