"""Wrong labels: how they come about, and the methods that meet them."""

import numpy as np
import pytest

from wdrsvm.experiments.claims import wrong_labels
from wdrsvm.experiments.claims.wrong_labels import NOISES, by_row, spoiled_split

SHARES = {"clean": 0.0, "10 %": 0.1, "20 %": 0.2, "30 %": 0.3, "by row": 0.2}


@pytest.mark.parametrize("noise", SHARES)
def test_the_share_of_wrong_labels(noise, small_tables):
    truth = spoiled_split("osuleaf", "clean", 3)
    split = spoiled_split("osuleaf", noise, 3)
    np.testing.assert_array_equal(split.X, truth.X)
    assert np.mean(split.y != truth.y) == pytest.approx(SHARES[noise], abs=0.01)


def test_labels_by_class_move_to_the_next_class():
    y = np.repeat([0, 1, 2], 1000)
    labels = wrong_labels.by_class(None, y, np.random.default_rng(0))
    assert set(labels[:1000]) == {0, 1}
    assert np.mean(labels[:2000] != y[:2000]) == pytest.approx(0.3, abs=0.03)
    assert (labels[2000:] == 2).all()


def test_labels_by_row_are_wrong_near_the_boundary():
    X = np.linspace(-3, 3, 200)[:, None]
    y = (X[:, 0] > 0).astype(int)
    labels = by_row(X, y, np.random.default_rng(0))
    assert np.abs(X[labels != y]).mean() < 0.75 * np.abs(X).mean()


def test_a_crowd_has_verified_test_rows(small_tables):
    split = spoiled_split("music_genre", "crowd, majority", 0)
    assert split.X.shape == (200, 20)
    assert len(split.y_test) > 200


@pytest.mark.parametrize("method", ["logistic, accuracy", "k-NN", "doubting"])
def test_a_method_on_a_spoiled_split(method, small_tables):
    task = {"table": "osuleaf", "noise": "20 %", "method": method, "repetition": 0}
    (record,) = wrong_labels.run(task)
    assert record["accuracy"] > 0.8
    assert record["seconds"] > 0


def test_cleanlab_takes_part_where_it_is_installed(small_tables):
    pytest.importorskip("cleanlab")
    task = {"table": "osuleaf", "noise": "clean", "method": "CleanLearning"}
    (record,) = wrong_labels.run(task | {"repetition": 0})
    assert record["accuracy"] > 0.8


def test_tasks_cover_all_noises_and_the_crowd(monkeypatch):
    full = wrong_labels.tasks("full")
    assert {task["noise"] for task in full} == {*NOISES, *wrong_labels.CROWDS}
    assert {t["table"] for t in full if t["method"] == "k-NN"} == {"banking77", "clinc150"}
    monkeypatch.setattr(wrong_labels.importlib.util, "find_spec", lambda name: None)
    assert "CleanLearning" not in {task["method"] for task in wrong_labels.tasks("quick")}
