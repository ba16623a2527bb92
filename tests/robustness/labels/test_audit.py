"""Audits find wrong labels, respect costs and trust, and lead to better models."""

import csv
import runpy
import sys
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.datasets import load_wine
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from wdrsvm import (
    RobustLinearSVC,
    RobustLogisticRegression,
    WassersteinBall,
    audit_labels,
    label_noise_test,
    worst_case_distribution,
)
from wdrsvm.robustness.labels import audit as label_audit
from wdrsvm.robustness.labels.audit import (
    LEAST_PRICE,
    _checked_cost,
    _doubt,
    _exposure,
    _margin,
    _possible,
    _prices,
    _unverified,
    checked_count,
)
from wdrsvm.robustness.labels.out_of_fold import LabelledRows, OutOfFoldScores
from wdrsvm.robustness.labels.suspicion import noise_models, share_interval

ROOT = Path(__file__).parents[3]


def blobs(n_classes=3, n_rows=90, seed=0):
    rng = np.random.default_rng(seed)
    y = np.arange(n_rows) % n_classes
    return rng.normal(size=(n_rows, 4)) + 5 * np.eye(4)[y], y


def corrupted(y, n_wrong, seed=0):
    rng = np.random.default_rng(seed)
    wrong = rng.choice(len(y), n_wrong, replace=False)
    labels = y.copy()
    n_classes = y.max() + 1
    labels[wrong] = (y[wrong] + rng.integers(1, n_classes, n_wrong)) % n_classes
    return labels, wrong


@pytest.mark.parametrize("n_classes", [2, 3, 4])
def test_wrong_labels_come_first_with_the_right_suggestion(n_classes):
    X, y = blobs(n_classes)
    labels, wrong = corrupted(y, 6)
    audit = audit_labels(X, labels)
    assert np.isin(audit.row[:6], wrong).sum() >= 5
    found = audit.row[:5]
    np.testing.assert_array_equal(audit.suggested[:5], y[found])
    np.testing.assert_array_equal(audit.given, labels[audit.row])
    assert sorted(audit.row) == list(range(len(y)))
    assert (np.diff(audit.gain) <= 0).all()
    assert (audit.gain[:3] > 0).all()
    assert (audit.margin[:5] < 0).all()
    assert 4 <= audit.n_suspects <= 9


def test_beats_the_probability_of_logistic_regression_on_wine():
    """Precision at the number of wrong labels, averaged over seeds."""
    X, y = load_wine(return_X_y=True)
    ours, theirs = [], []
    for seed in range(4):
        labels, wrong = corrupted(y, round(0.1 * len(y)), seed)
        audit = audit_labels(X, labels, random_state=seed)
        ours.append(np.isin(audit.row[: len(wrong)], wrong).mean())
        believed = cross_val_predict(
            make_pipeline(StandardScaler(), LogisticRegression()),
            X,
            labels,
            cv=StratifiedKFold(5, shuffle=True, random_state=seed),
            method="predict_proba",
        )[np.arange(len(y)), labels]
        theirs.append(np.isin(np.argsort(believed)[: len(wrong)], wrong).mean())
    assert np.mean(ours) > np.mean(theirs)


def test_equal_seeds_give_equal_audits():
    X, y = blobs()
    first, again = audit_labels(X, y, random_state=3), audit_labels(X, y, random_state=3)
    np.testing.assert_array_equal(first.gain, again.gain)


def test_any_classifier_of_ours_and_pipelines_do():
    X, y = blobs()
    names = np.array(["ash", "birch", "cedar"])
    labels, wrong = corrupted(y, 5)
    frame = pd.DataFrame(X, columns=list("abcd"))
    pipeline = make_pipeline(StandardScaler(), RobustLinearSVC(0.02, tol=1e-3))
    for estimator in (pipeline, LogisticRegression()):
        audit = audit_labels(frame, names[labels], estimator, n_repeats=1)
        assert np.isin(audit.row[:5], wrong).sum() >= 4
        assert set(audit.suggested) <= set(names)


def test_label_trust_reaches_a_pipelines_last_step():
    X, y = blobs()
    trust = np.ones(len(y))
    trust[4] = np.inf
    pipeline = make_pipeline(StandardScaler(), RobustLinearSVC(0.02, tol=1e-3))
    audit = audit_labels(X, y, pipeline, label_trust=trust, n_repeats=1)
    assert audit.row[-1] == 4
    assert audit.gain[-1] == -np.inf
    assert audit.exposure[-1] == 0


def test_a_mistake_that_nobody_makes_is_not_suggested():
    X, y = blobs()
    labels = y.copy()
    labels[0] = 1
    cost = np.full((3, 3), 1.0)
    np.fill_diagonal(cost, 0)
    assert audit_labels(X, labels, n_repeats=1).suggested[0] == 0
    cost[0, 1] = np.inf
    audit = audit_labels(X, labels, label_cost=cost, n_repeats=1)
    assert audit.suggested[audit.row == 0] == 2
    cost[2, 1] = np.inf
    audit = audit_labels(X, labels, label_cost=cost, n_repeats=1)
    assert audit.suggested[audit.row == 0] == 1
    assert audit.gain[audit.row == 0] == -np.inf


def test_gains_are_per_unit_of_cost_and_trust():
    X, y = blobs()
    trust = np.full(len(y), 2.0)
    plain = audit_labels(X, y, LogisticRegression(), n_repeats=1)
    dear = audit_labels(X, y, LogisticRegression(), n_repeats=1, label_cost=4.0)
    np.testing.assert_allclose(dear.gain, plain.gain / 4)
    np.testing.assert_allclose(dear.exposure, plain.exposure / 4)
    robust = RobustLinearSVC(0.02, np.inf)
    plain = audit_labels(X, y, robust, n_repeats=1)
    trusted = audit_labels(X, y, robust, n_repeats=1, label_trust=trust)
    np.testing.assert_allclose(trusted.gain, plain.gain / 2)


def test_exposure_ranks_the_models_own_worst_case_flips():
    X, y = blobs()
    classifier = RobustLinearSVC(0.05, 1.0, tol=1e-8)
    audit = audit_labels(X, y, classifier, n_repeats=1)
    ball = WassersteinBall(0.3, 1.0)
    worst = worst_case_distribution(classifier.fit(X, y), X, y, ball)
    flipped = np.unique(worst.source[worst.kind == "flipped"])
    assert len(flipped) > 5
    exposure = np.empty(len(y))
    exposure[audit.row] = audit.exposure
    others = np.setdiff1d(np.arange(len(y)), flipped)
    assert exposure[flipped].min() >= exposure[others].max() * (1 - 1e-6)


def test_sparse_rows_are_audited():
    X, y = blobs()
    labels, wrong = corrupted(y, 5)
    audit = audit_labels(sparse.csr_array(X), labels, n_repeats=1)
    assert np.isin(audit.row[:5], wrong).sum() >= 4


def test_a_rare_class_lowers_the_number_of_folds():
    X, y = blobs()
    y = np.where(np.arange(len(y)) < 2, 3, y)
    assert len(audit_labels(X, y, n_repeats=1).row) == len(y)


def test_audit_fix_confirm_refit_improves_the_guarantee(capsys):
    pytest.importorskip("matplotlib").use("agg")
    example = runpy.run_path(str(ROOT / "examples" / "labels" / "audit_labels.py"))
    wrong, risk = zip(*example["history"], strict=True)
    assert wrong[0] == 18
    assert wrong[-1] <= 2
    assert (np.diff(wrong[:3]) < 0).all()
    assert (np.diff(risk) < 1e-6).all()
    assert "20 labels verified" in capsys.readouterr().out


def test_a_frame_and_a_file_hold_the_same(tmp_path):
    X, y = blobs()
    audit = audit_labels(X, np.array(["a,b", 'c"', "d"])[y], n_repeats=1)
    path = tmp_path / "suspects.csv"
    path.write_text("old")
    audit.to_csv(path)
    pd.testing.assert_frame_equal(pd.read_csv(path), audit.to_frame())
    assert [p.name for p in tmp_path.iterdir()] == ["suspects.csv"]
    with path.open(newline="") as file:
        assert len(list(csv.reader(file))) == len(y) + 1


def test_a_failed_write_leaves_the_old_file(tmp_path, monkeypatch):
    X, y = blobs()
    audit = audit_labels(X, y, n_repeats=1)
    path = tmp_path / "suspects.csv"
    path.write_text("old")

    def fail(*args):
        raise OSError("disk full")

    monkeypatch.setattr(Path, "replace", fail)
    with pytest.raises(OSError, match="disk full"):
        audit.to_csv(path)
    assert path.read_text() == "old"
    assert [p.name for p in tmp_path.iterdir()] == ["suspects.csv"]


def test_a_frame_needs_pandas(monkeypatch):
    X, y = blobs()
    audit = audit_labels(X, y, n_repeats=1)
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match="to_frame needs pandas"):
        audit.to_frame()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"label_cost": 0.0}, "label_cost must be > 0 for every mistake"),
        ({"label_cost": np.zeros((2, 2))}, "label_cost has shape"),
        ({"n_splits": 1}, "n_splits must be an integer >= 2"),
        ({"n_repeats": 0}, "n_repeats must be an integer >= 1"),
        ({"label_trust": [1.0]}, "label_trust must have shape"),
    ],
)
def test_bad_arguments(options, message):
    X, y = blobs()
    with pytest.raises(ValueError, match=message):
        audit_labels(X, y, **options)


def test_a_class_of_one_row_and_a_model_without_scores():
    X, y = blobs()
    with pytest.raises(ValueError, match="at least 2 rows of each class"):
        audit_labels(X, np.where(np.arange(len(y)) == 0, 7, y))

    class Unscored(KNeighborsClassifier):
        predict_proba = property()

    with pytest.raises(TypeError, match="estimator must have decision_function or"):
        audit_labels(X, y, Unscored())


def test_an_estimator_that_doubts_labels_audits_better_where_many_are_wrong():
    X, y = load_wine(return_X_y=True)
    found = {"adversarial": 0, "random": 0}
    for seed in range(3):
        labels, wrong = corrupted(y, 45, seed)
        for label_noise in found:
            cost = 1.0 if label_noise == "random" else np.inf
            model = RobustLogisticRegression(0.05, cost, label_noise=label_noise)
            pipeline = make_pipeline(StandardScaler(), model)
            audit = audit_labels(X, labels, pipeline, n_splits=3, n_repeats=1)
            found[label_noise] += np.isin(audit.row[:45], wrong).sum()
    assert found["random"] > found["adversarial"]


TOY_Y = np.array([0, 1, 2, 1, 0])
TOY_COST = np.array([[0.0, 2.0, np.inf], [4.0, 0.0, 1.0], [0.5, 8.0, 0.0]])
TOY_TRUST = np.array([1.0, 2.0, np.inf, 0.0, 0.5])
TOY_SCORES = np.array(
    [[1.0, 3.0, 0.0], [2.0, 1.0, 0.5], [0.0, 1.0, 2.0], [5.0, 0.0, 1.0], [0.0, 0.1, 0.2]]
)


def toy_rows(trust=TOY_TRUST):
    return LabelledRows(np.zeros((5, 1)), TOY_Y, np.ones(5), trust)


def test_prices_are_trust_times_cost():
    expected = [
        [np.inf, 2.0, np.inf],
        [8.0, np.inf, 2.0],
        [np.inf] * 3,
        [LEAST_PRICE, np.inf, LEAST_PRICE],
        [np.inf, 1.0, np.inf],
    ]
    assert LEAST_PRICE == 1e-9
    np.testing.assert_array_equal(_prices(toy_rows(), TOY_COST), expected)
    plain = _prices(toy_rows(None), TOY_COST)
    np.testing.assert_array_equal(plain[0], [np.inf, 2.0, np.inf])


def test_doubt_is_the_likeliest_possible_mistake_per_cost():
    gain, suggested = _doubt(TOY_SCORES, toy_rows(), TOY_COST)
    # True labels (rows of the cost) that can become the given ones: 0 from 1 and 2,
    # 1 from 0 and 2, 2 from 1 alone.
    assert suggested.tolist() == [1, 0, 1, 0, 2]
    # A label is not trusted twice as much where it is doubted twice as cheaply.
    expected = [2.0 / 4.0, 1.0 / (2 * 2.0), -np.inf, 5.0 / LEAST_PRICE, 0.2 / (0.5 * 0.5)]
    np.testing.assert_allclose(gain, expected)


def test_a_label_that_nothing_can_become_is_its_own_suggestion():
    cost = np.array([[0.0, 1.0, np.inf], [1.0, 0.0, np.inf], [1.0, 1.0, 0.0]])
    gain, suggested = _doubt(TOY_SCORES, toy_rows(None), cost)
    assert suggested[2] == 2
    assert gain[2] == -np.inf
    assert np.isfinite(np.delete(gain, 2)).all()


def test_margins_and_exposures_by_hand():
    assert _margin(TOY_SCORES, TOY_Y).tolist() == [-2.0, -1.0, 1.0, -5.0, -0.2]
    rows = toy_rows(np.array([1.0, 2.0, np.inf, 1.0, 0.5]))
    scores = -TOY_SCORES
    rivals = [(scores + (np.arange(3) != c)).max(axis=1) for c in range(3)]
    losses = np.stack(rivals, axis=1) - scores
    gains = losses - losses[np.arange(5), TOY_Y][:, None]
    expected = np.maximum((gains / _prices(rows, TOY_COST)).max(axis=1), 0.0)
    found = _exposure(scores, rows, TOY_COST)
    np.testing.assert_allclose(found, expected)
    assert (found > 0).sum() >= 2
    assert found[2] == 0


def test_costs_and_counts_have_bounds():
    np.testing.assert_array_equal(_checked_cost(1e-3, 2), [[0, 1e-3], [1e-3, 0]])
    np.testing.assert_array_equal(_checked_cost(TOY_COST, 3), TOY_COST)
    with pytest.raises(ValueError, match="label_cost must be > 0 for every mistake"):
        _checked_cost(np.array([[0.0, 1.0], [0.0, 0.0]]), 2)
    assert checked_count(1, "n") == 1
    assert type(checked_count(np.int64(3), "n", 2)) is int
    for value, least in ((0, 1), (1, 2), (True, 1), (2.0, 1), ("3", 1)):
        with pytest.raises(ValueError, match=f"n must be an integer >= {least}, got"):
            checked_count(value, "n", *([] if least == 1 else [least]))


def asked_of_audit(monkeypatch, **options):
    """An audit whose opinions are given; what was asked on the way."""
    asked = SimpleNamespace()

    def folds(*args):
        asked.folds = args
        return "divisions"

    def opinion(model, rows, divisions):
        asked.model, asked.rows, asked.divisions = model, rows, divisions
        return OutOfFoldScores(TOY_SCORES[:, ::-1], TOY_SCORES)

    class Told:
        def fit(self, X, y, **given):
            asked.fitted = (X, y, given)
            return self

        def decision_function(self, X):
            return TOY_SCORES

    monkeypatch.setattr(label_audit, "repeated_folds", folds)
    monkeypatch.setattr(label_audit, "mean_opinion", opinion)
    monkeypatch.setattr(label_audit, "StandardModel", Told)
    asked.X = np.arange(5.0)[:, None]
    asked.audit = audit_labels(asked.X, np.array(["a", "b", "c"])[TOY_Y], **options)
    asked.told = Told
    return asked


def believed(rows, cost, weight):
    """Log-probabilities of the true labels, from the models of the noise."""
    rows = LabelledRows(rows.X, rows.y, weight, rows.label_trust)
    opinions = _unverified(TOY_SCORES, rows)
    posterior = noise_models(opinions).posterior(opinions)
    return np.log(np.maximum(_possible(posterior, rows, cost), 1e-6))


def test_an_audit_puts_its_parts_in_the_order_of_suspicion(monkeypatch):
    options = {"label_cost": TOY_COST, "label_trust": TOY_TRUST, "random_state": 7}
    weight = np.arange(1.0, 6.0)
    asked = asked_of_audit(
        monkeypatch, n_splits=4, n_repeats=2, sample_weight=weight, **options
    )
    audit, names = asked.audit, np.array(["a", "b", "c"])
    assert audit.row.tolist() == [3, 1, 0, 4, 2]
    rows = toy_rows()
    gain, suggested = _doubt(believed(rows, TOY_COST, weight), rows, TOY_COST)
    np.testing.assert_array_equal(audit.gain, gain[audit.row])
    np.testing.assert_array_equal(audit.given, names[TOY_Y[audit.row]])
    np.testing.assert_array_equal(audit.suggested, names[suggested[audit.row]])
    margin = _margin(TOY_SCORES[:, ::-1], TOY_Y)
    np.testing.assert_array_equal(audit.margin, margin[audit.row])
    exposure = _exposure(TOY_SCORES, rows, TOY_COST)
    np.testing.assert_array_equal(audit.exposure, exposure[audit.row])
    np.testing.assert_array_equal(asked.folds[0], TOY_Y)
    assert asked.folds[1:] == (4, 2, 7)
    assert asked.divisions == "divisions"
    assert asked.rows.weight.tolist() == weight.tolist()
    assert asked.rows.label_trust.tolist() == TOY_TRUST.tolist()
    X, y, given = asked.fitted
    np.testing.assert_array_equal(X, asked.X)
    np.testing.assert_array_equal(y, TOY_Y)
    assert given["sample_weight"].tolist() == weight.tolist()
    assert given["label_trust"].tolist() == TOY_TRUST.tolist()


def test_an_audits_defaults_are_written_down(monkeypatch):
    asked = asked_of_audit(monkeypatch)
    assert asked.folds[1:] == (5, 3, 0)
    assert asked.rows.weight.tolist() == [1.0] * 5
    assert asked.rows.label_trust is None
    assert isinstance(asked.model, asked.told)
    unit = 1 - np.eye(3)
    rows = toy_rows(None)
    gain = _doubt(believed(rows, unit, np.ones(5)), rows, unit)[0]
    np.testing.assert_array_equal(asked.audit.gain, -np.sort(-gain))
    model = asked.told()
    assert asked_of_audit(monkeypatch, estimator=model).model is model


def test_counts_of_an_audit_are_checked_before_anything_is_fitted(monkeypatch):
    assert asked_of_audit(monkeypatch, n_splits=2, n_repeats=1).folds[1:] == (2, 1, 0)
    with pytest.raises(ValueError, match=r"^n_splits must be an integer >= 2, got 1"):
        asked_of_audit(monkeypatch, n_splits=1)
    with pytest.raises(ValueError, match=r"^n_repeats must be an integer >= 1, got 0"):
        asked_of_audit(monkeypatch, n_repeats=0)
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        audit_labels(np.zeros((4, 1)), TOY_Y)


def test_an_audit_is_a_table(monkeypatch, tmp_path):
    audit = asked_of_audit(monkeypatch).audit
    table = audit.to_frame()
    assert list(table) == [
        *("row", "given", "suggested", "gain", "margin", "exposure"),
        "wrong_probability",
    ]
    np.testing.assert_array_equal(table["gain"], audit.gain)
    audit.to_csv(tmp_path / "audit.csv")
    pd.testing.assert_frame_equal(pd.read_csv(tmp_path / "audit.csv"), table)
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match=r"^to_frame needs pandas"):
        audit.to_frame()


def test_the_share_of_wrong_labels_is_estimated():
    X, y = blobs(n_rows=300)
    clean = audit_labels(X, y, n_repeats=1)
    assert clean.wrong_share < 0.02
    labels, wrong = corrupted(y, 60)
    audit = audit_labels(X, labels, n_repeats=1)
    assert audit.wrong_share == pytest.approx(0.2, abs=0.04)
    low, high = audit.wrong_share_interval
    assert 0.1 < low < audit.wrong_share < high < 0.3
    np.testing.assert_allclose(audit.wrong_probability.mean(), audit.wrong_share)
    named = np.flatnonzero(audit.issue_mask())
    assert len(named) == audit.n_suspects
    assert 2 * len(np.intersect1d(named, wrong)) / (len(named) + 60) > 0.9
    assert audit.label_quality[wrong].mean() < 0.2
    order = np.argsort(audit.label_quality, kind="stable")
    assert np.isin(order[:50], wrong).mean() > 0.95


def test_the_sentence_says_how_many_to_check():
    X, y = blobs()
    labels, _ = corrupted(y, 9)
    audit = audit_labels(X, labels, n_repeats=1)
    assert f"Check the first {audit.n_suspects} labels of 90:" in audit.sentence()
    one = replace(audit, n_suspects=1, wrong_share=0.123, wrong_share_interval=(0.1, 0.2))
    assert one.sentence() == (
        "Check the first label of 90: an estimated 12.3 % are wrong (10.0 to 20.0 %)."
    )
    none = replace(audit, n_suspects=0)
    assert none.sentence().startswith("No label is worth a check: an estimated")
    assert not none.issue_mask().any()


def test_verified_labels_are_not_suspects_and_lower_the_share():
    X, y = blobs()
    labels, wrong = corrupted(y, 12)
    plain = audit_labels(X, labels, n_repeats=1)
    trust = np.ones(len(y))
    trust[wrong[:6]] = np.inf
    audit = audit_labels(X, labels, label_trust=trust, n_repeats=1)
    assert not audit.issue_mask()[wrong[:6]].any()
    np.testing.assert_array_equal(audit.label_quality[wrong[:6]], 1.0)
    assert audit.wrong_share < 0.8 * plain.wrong_share
    low, high = audit.wrong_share_interval
    assert low < audit.wrong_share < high
    verified = audit_labels(X, labels, label_trust=np.full(len(y), np.inf), n_repeats=1)
    assert verified.n_suspects == 0
    assert verified.wrong_share == 0.0


def test_probabilities_of_other_models_need_no_features():
    X, y = blobs()
    labels, wrong = corrupted(y, 9)
    names = np.array(["ash", "birch", "cedar"])
    probs = cross_val_predict(LogisticRegression(), X, labels, method="predict_proba")
    given = probs.copy()
    audit = audit_labels(None, names[labels], pred_probs=given)
    np.testing.assert_array_equal(given, probs)
    assert np.isin(audit.row[:9], wrong).sum() >= 7
    assert set(audit.suggested) <= set(names)
    again = audit_labels(X, names[labels], pred_probs=probs.tolist())
    np.testing.assert_array_equal(again.gain, audit.gain)
    single = probs.astype(np.float32)
    assert np.isfinite(audit_labels(None, labels, pred_probs=single).gain).all()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"pred_probs": np.ones((90, 2)) / 2}, r"pred_probs must have shape \(90, 3\)"),
        ({"pred_probs": np.ones((90, 3))}, "pred_probs must be >= 0 with the sum 1"),
        ({"pred_probs": np.full((90, 3), np.nan)}, "pred_probs must be >= 0 with the sum"),
        (
            {"pred_probs": np.ones((90, 3)) / 3, "estimator": LogisticRegression()},
            "pred_probs must be None with an estimator, got both",
        ),
    ],
)
def test_bad_probabilities_are_refused(options, message):
    X, y = blobs()
    with pytest.raises(ValueError, match=message):
        audit_labels(X, y, **options)


def test_equal_suspicions_keep_the_order_of_the_rows(monkeypatch):
    monkeypatch.setattr(
        label_audit, "_doubt", lambda *args: (np.zeros(5), np.zeros(5, dtype=np.intp))
    )
    assert asked_of_audit(monkeypatch).audit.row.tolist() == [0, 1, 2, 3, 4]


def test_a_margin_is_the_distance_to_the_best_other_score():
    scores = np.array([[3.0, 1.0, 2.5], [0.0, 4.0, 1.0]])
    np.testing.assert_array_equal(_margin(scores, np.array([0, 2])), [0.5, -3.0])


def test_verified_labels_have_no_weight_in_the_models_of_the_noise():
    rows = LabelledRows(np.zeros((5, 1)), TOY_Y, np.ones(5), TOY_TRUST)
    weight = _unverified(TOY_SCORES, rows).weight
    np.testing.assert_allclose(weight, [1.25, 1.25, 0.0, 1.25, 1.25])
    verified = LabelledRows(np.zeros((5, 1)), TOY_Y, np.ones(5), np.full(5, np.inf))
    np.testing.assert_allclose(_unverified(TOY_SCORES, verified).weight, 1.0)


@pytest.mark.parametrize("judge", [audit_labels, label_noise_test])
def test_features_are_needed_without_probabilities(judge):
    X, y = blobs()
    with pytest.raises(ValueError, match="X must have the features"):
        judge(None, y)
    with pytest.raises(TypeError, match="estimator must be a classifier with fit"):
        judge(X, y, object())


def test_nearest_neighbours_take_no_weights():
    X, y = blobs()
    labels, wrong = corrupted(y, 5)
    found = audit_labels(X, labels, KNeighborsClassifier(), n_repeats=1)
    assert np.isin(found.row[:5], wrong).sum() >= 4
    with pytest.raises(TypeError, match="sample_weight must be None"):
        audit_labels(X, labels, KNeighborsClassifier(), sample_weight=np.ones(len(y)))


def test_verified_labels_lower_the_interval_as_they_lower_the_share(monkeypatch):
    audit = asked_of_audit(monkeypatch, label_trust=TOY_TRUST, random_state=2).audit
    opinions = _unverified(TOY_SCORES, toy_rows())
    models = noise_models(opinions)
    factor = audit.wrong_share / models.wrong_share(opinions)
    assert 0.5 < factor < 0.95
    expected = factor * np.array(share_interval(opinions, models, 2))
    np.testing.assert_allclose(audit.wrong_share_interval, expected)
    order = np.argsort(audit.row)
    quality = audit.wrong_probability[order]
    assert audit.wrong_share == pytest.approx(quality.mean())


@pytest.mark.parametrize("judge", [audit_labels, label_noise_test])
def test_features_beside_probabilities_must_have_as_many_rows(judge):
    X, y = blobs()
    probs = np.full((90, 3), 1 / 3)
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        judge(X[:-1], y, pred_probs=probs)
