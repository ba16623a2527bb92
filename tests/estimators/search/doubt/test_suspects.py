"""The recipe for doubtful labels: two lines that learn, score and list suspects."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse
from sklearn import config_context
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from wdrsvm import (
    RobustLinearSVCCV,
    RobustLogisticRegressionCV,
    RobustSVCCV,
    load_model,
    save_model,
)
from wdrsvm.datasets import flip_labels
from wdrsvm.estimators.search.doubt.suspects import _suspicion

from ...cases import CULTIVAR, IRIS, SPECIES, WINE

SEARCHES = (RobustLinearSVCCV, RobustSVCCV, RobustLogisticRegressionCV)
LABELS = flip_labels(CULTIVAR, 0.2, random_state=1)
WRONG = LABELS != CULTIVAR
NAMES = np.array(["barolo", "grignolino", "barbera"])


def small(kind=RobustLogisticRegressionCV, **options):
    """A search of four points in two folds."""
    return kind([0.5, 0.05], [np.inf, 0.6], cv=2, label_noise="random", **options)


@pytest.fixture(scope="module")
def fitted():
    return RobustLogisticRegressionCV(label_noise="random").fit(WINE, LABELS)


def test_the_recipe_learns_what_is_true(fitted):
    assert fitted.score(WINE, CULTIVAR) > 0.95
    assert fitted.predict_proba(WINE).shape == (178, 3)
    assert np.isfinite(fitted.label_cost_)
    disbelieved = fitted.label_belief_ < 0.5
    assert WRONG[disbelieved].mean() > 0.8
    assert (fitted.suggested_labels_ == CULTIVAR).mean() > 0.9


def test_suspects_are_ranked_by_doubt_and_disbelief_and_mostly_wrong(fitted):
    found = fitted.suspects()
    assert np.array_equal(np.sort(found.row), np.arange(178))
    suspicion = fitted.label_doubt_ + 1 - fitted.label_belief_
    rises = np.flatnonzero(np.diff(suspicion[found.row]) > 1e-12)
    assert set(rises) <= {found.n_suspects - 1}
    assert np.array_equal(found.given, LABELS[found.row])
    assert (found.suggested != found.given).all()
    assert np.array_equal(found.believed, fitted.label_belief_[found.row] >= 0.5)
    top = found.row[: found.n_suspects]
    assert 30 < found.n_suspects < 45
    assert WRONG[top].mean() > 0.85
    check = (fitted.label_belief_ < 0.5) | (fitted.label_doubt_ > 0.5)
    assert np.array_equal(np.sort(top), np.flatnonzero(check))
    assert (CULTIVAR[top] == found.suggested[: found.n_suspects]).mean() > 0.8
    assert found.wrong_share == fitted.wrong_share_ == pytest.approx(0.2, abs=0.07)


def test_the_table_marks_the_labels_to_check(fitted, tmp_path):
    found = fitted.suspects()
    frame = found.to_frame()
    assert frame["check"].sum() == found.n_suspects
    assert frame["check"].iloc[: found.n_suspects].all()
    found.to_csv(tmp_path / "suspects.csv")
    lines = (tmp_path / "suspects.csv").read_text().splitlines()
    assert len(lines) == 179
    assert lines[1].startswith(f"{found.row[0]},{found.given[0]},")


def test_where_all_labels_are_believed_the_folds_audit_them():
    labels = SPECIES.copy()
    labels[7] = 2
    search = RobustLogisticRegressionCV([0.01], [np.inf], label_noise="random", cv=5)
    found = search.fit(IRIS, labels).suspects()
    assert found.believed.all()
    assert (found.row[0], found.suggested[0]) == (7, 0)
    assert (np.diff(found.doubt) <= 0).all()


def test_without_disbelief_the_doubt_counts_alone():
    doubt, belief = np.array([0.9, 0.2]), np.array([1.0, 0.6])
    assert _suspicion(doubt, belief) is doubt
    assert _suspicion(doubt, belief - 0.2) == pytest.approx([0.55, 0.4])


@pytest.mark.parametrize("kind", SEARCHES)
def test_every_search_has_the_recipe(kind):
    X, truth = IRIS[::2], SPECIES[::2]
    found = kind(label_noise="random").fit(X, flip_labels(truth, 0.2, random_state=0))
    assert found.score(IRIS, SPECIES) > 0.93
    assert len(found.suspects().row) == 75


@pytest.mark.parametrize("kind", SEARCHES)
def test_names_sparse_rows_and_pipelines(kind):
    plain = small(kind).fit(WINE, LABELS)
    named = small(kind).fit(sparse.csr_array(WINE), NAMES[LABELS])
    # Names are sorted: the codes of the classes are permuted.
    assert named.best_params_ == pytest.approx(plain.best_params_)
    assert np.mean(named.predict(WINE) == NAMES[plain.predict(WINE)]) > 0.98
    assert set(named.suspects().given) == set(NAMES)
    line = make_pipeline(StandardScaler(), small(kind)).fit(WINE, LABELS)
    assert line[-1].suspects().n_suspects >= 0


@pytest.mark.parametrize("kind", SEARCHES)
def test_a_saved_search_lists_the_same_suspects(kind, tmp_path):
    found = small(kind).fit(WINE, NAMES[LABELS])
    again = load_model(save_model(found, tmp_path / "model.wdrsvm"))
    for name, column in vars(found.suspects()).items():
        assert np.array_equal(column, getattr(again.suspects(), name))
    assert again.score(WINE, NAMES[CULTIVAR]) == found.score(WINE, NAMES[CULTIVAR])
    assert not hasattr(clone(found), "label_doubt_")


def test_suspects_need_a_fit_with_random_label_noise():
    with pytest.raises(NotFittedError):
        small().suspects()
    search = small().fit(WINE, LABELS).set_params(label_noise="adversarial")
    search.fit(WINE, LABELS)
    with pytest.raises(ValueError, match="suspects needs a fit with label_noise='random'"):
        search.suspects()
    assert not hasattr(search, "wrong_share_")


def test_a_scorer_of_the_user_decides_alone():
    search = small(scoring="neg_log_loss").fit(WINE, LABELS)
    assert search.best_index_ == search.cv_results_["mean_test_score"].argmax()
    assert "mean_test_evidence" in search.cv_results_
    assert search.score(WINE, CULTIVAR) < 0


def test_without_a_scorer_the_evidence_decides(fitted):
    table = fitted.cv_results_
    doubting = np.isfinite(np.array(table["param_label_cost"], dtype=float))
    evidence = np.where(doubting, table["mean_test_evidence"], -np.inf)
    # Points that doubt have more weight in total, so that one of them is chosen.
    assert table["weight"][doubting].sum() > table["weight"][~doubting].sum()
    assert fitted.best_index_ == evidence.argmax()
    assert fitted.best_score_ == table["mean_test_score"][fitted.best_index_]
    assert fitted.scorer_(fitted, WINE, CULTIVAR) == fitted.score(WINE, CULTIVAR)


def test_equal_weights_change_nothing_and_trust_is_routed():
    plain = small().fit(WINE, LABELS)
    weighed = small().fit(WINE, LABELS, sample_weight=np.full(178, 3.0))
    assert np.array_equal(plain.label_doubt_, weighed.label_doubt_)
    with config_context(enable_metadata_routing=True):
        routed = small().set_fit_request(label_trust=True)
        line = make_pipeline(StandardScaler(), routed)
        line.fit(WINE, LABELS, label_trust=np.where(WRONG, 1.0, np.inf))
    assert line[-1].label_belief_[~WRONG].all()


@pytest.mark.parametrize("kind", SEARCHES)
def test_verified_labels_come_last_and_are_not_doubted(kind):
    doubted = small(kind).fit(WINE, LABELS).suspects().row[:5]
    trust = np.ones(178)
    trust[doubted] = np.inf
    search = small(kind).fit(WINE, LABELS, label_trust=trust)
    found = search.suspects()
    assert set(found.row[-5:]) == set(doubted)
    assert (search.label_doubt_[doubted] == 0).all()
    assert search.label_belief_[doubted] == pytest.approx(1)
    assert found.n_suspects > 5


def test_rows_without_weight_are_no_evidence():
    weight = np.where(WRONG, 0.0, 1.0)
    found = small().fit(WINE, LABELS, sample_weight=weight)
    assert found.wrong_share_ < 0.02


def test_rows_in_no_fold_are_not_suspected():
    splits = [(np.arange(0, 178, 2), np.arange(1, 178, 2))]
    found = small().set_params(cv=splits).fit(WINE, LABELS)
    assert (found.label_doubt_[::2] == 0).all()
    assert (found.label_doubt_[1::2] > 0).any()


def test_points_may_be_stopped_early():
    found = small(stop_early=True).set_params(cv=5).fit(WINE, LABELS)
    assert np.isfinite(found.cv_results_["mean_test_evidence"][found.best_index_])


SMALL = {"radii": [0.001, 0.01], "label_costs": [np.inf, 0.6], "cv": 2}


@parametrize_with_checks([kind(**SMALL, label_noise="random") for kind in SEARCHES])
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.mark.exhaustive
@parametrize_with_checks([kind(label_noise="random") for kind in SEARCHES])
def test_scikit_learn_checks_of_the_recipe(estimator, check):
    check(estimator)


def test_people_read_the_first_suspects(fitted):
    suspects = fitted.suspects()
    text, html = repr(suspects), suspects._repr_html_()
    assert text.startswith(f"SuspectLabels({len(suspects.row)} labels, ")
    assert f": row {suspects.row[0]} ({suspects.given[0]}, perhaps " in text
    assert len(text) < 200
    assert html.count("<tr>") == 1 + min(suspects.n_suspects, 10)
    assert (
        f'<td style="text-align: left">{round(100 * suspects.doubt[0], 1):g} %</td>' in html
    )
    none = replace(suspects, n_suspects=0)
    assert "<table>" not in none._repr_html_()
