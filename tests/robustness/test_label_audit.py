"""Audits find wrong labels, respect costs and trust, and lead to better models."""

import csv
import runpy
import sys
from pathlib import Path

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
    worst_case_distribution,
)

ROOT = Path(__file__).parents[2]


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
    assert (audit.gain[:5] > 0).all()
    assert (audit.margin[:5] < 0).all()


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
        def fit(self, X, y, sample_weight=None):
            return super().fit(X, y)

    with pytest.raises(TypeError, match="estimator must have decision_function"):
        audit_labels(X, y, Unscored())


def test_an_estimator_that_doubts_labels_audits_better_where_many_are_wrong():
    X, y = load_wine(return_X_y=True)
    found = {"adversarial": 0, "random": 0}
    for seed in range(3):
        labels, wrong = corrupted(y, 45, seed)
        for label_noise in found:
            cost = 1.0 if label_noise == "random" else np.inf
            model = RobustLogisticRegression(0.05, cost, label_noise=label_noise)
            audit = audit_labels(X, labels, make_pipeline(StandardScaler(), model))
            found[label_noise] += np.isin(audit.row[:45], wrong).sum()
    assert found["random"] > found["adversarial"]
