"""Votes become labels: reliable annotators count for more, few votes shrink to the mean."""

import sys
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from wdrsvm import trust_from_votes
from wdrsvm.robustness.labels.votes import (
    SETTINGS,
    _confusions,
    _estimated,
    _posterior,
    _trust,
    _Votes,
)


def crowd(seed=0, n_rows=200, n_classes=4, accuracies=(0.95, 0.9, 0.9, 0.3, 0.25)):
    """Every annotator votes on every row; the last two guess, all in the same way."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(n_classes, size=n_rows)
    row = np.repeat(np.arange(n_rows), len(accuracies))
    annotator = np.tile(np.arange(len(accuracies)), n_rows)
    is_right = rng.random(len(row)) < np.array(accuracies)[annotator]
    label = np.where(is_right, truth[row], (truth[row] + 1) % n_classes)
    return truth, row, annotator, label


def majority(row, label):
    counts = np.zeros((row.max() + 1, label.max() + 1))
    np.add.at(counts, (row, label), 1)
    return counts.argmax(axis=1)


def test_reliable_annotators_outvote_the_others():
    truth, row, annotator, label = crowd(accuracies=(0.95, 0.9, 0.3, 0.3, 0.3))
    votes = trust_from_votes(row, annotator, label)
    ours, theirs = (votes.label == truth).mean(), (majority(row, label) == truth).mean()
    assert theirs < 0.75
    assert ours > 0.9
    assert votes.reliability.argmax() in (0, 1)
    np.testing.assert_allclose(votes.reliability[:2], (0.95, 0.9), atol=0.06)
    assert votes.reliability[2:].max() < 0.5


def test_estimated_confusions_are_those_of_the_votes():
    """An annotator who takes one class for another does no harm to the labels."""
    rng = np.random.default_rng(1)
    truth = rng.integers(3, size=400)
    swapped = np.array([1, 0, 2])
    votes = trust_from_votes(
        np.tile(np.arange(400), 4),
        np.repeat(list("abcd"), 400),
        np.concatenate([truth, truth, truth, swapped[truth]]),
    )
    np.testing.assert_array_equal(votes.label, truth)
    odd = votes.confusion[votes.annotator == "d"][0]
    assert odd[0, 1] > 0.9
    assert odd[1, 0] > 0.9
    assert odd[2, 2] > 0.9
    np.testing.assert_allclose(votes.confusion.sum(axis=2), 1.0)


def test_annotators_with_few_votes_shrink_to_the_mean():
    truth, row, annotator, label = crowd(accuracies=(0.9, 0.9, 0.9))
    new = ([0, 1], ["new", "new"], [(truth[0] + 1) % 4, (truth[1] + 1) % 4])
    names = np.array(["a", "b", "c"])[annotator]
    votes = trust_from_votes(np.r_[row, new[0]], np.r_[names, new[1]], np.r_[label, new[2]])
    newcomer = votes.reliability[votes.annotator == "new"][0]
    assert 0.5 < newcomer < votes.reliability[:3].min()
    assert votes.n_given.tolist() == [200, 200, 200, 2]


def test_probabilities_are_calibrated_and_trust_follows_them():
    truth, row, annotator, label = crowd(n_rows=600, accuracies=(0.8, 0.7, 0.6))
    votes = trust_from_votes(row, annotator, label)
    right = votes.label == truth
    assert abs(votes.probability.mean() - right.mean()) < 0.05
    assert votes.trust.mean() == pytest.approx(1.0)
    assert votes.trust[right].mean() > 1.5 * votes.trust[~right].mean()
    np.testing.assert_allclose(votes.posterior.max(axis=1), votes.probability)
    np.testing.assert_allclose(votes.posterior.sum(axis=1), 1.0)


def test_a_tie_between_equals_has_no_trust():
    votes = trust_from_votes([0, 0, 1, 1], ["a", "b"] * 2, ["x", "y", "y", "x"])
    np.testing.assert_allclose(votes.probability, 0.5, atol=1e-6)
    np.testing.assert_allclose(votes.trust, 1.0)
    more = trust_from_votes(
        [0, 0, 1, 1, 2, 2, 3, 3],
        ["a", "b"] * 4,
        ["x", "y", "y", "x"] + ["x"] * 2 + ["y"] * 2,
    )
    assert more.trust[:2].max() < 1e-3
    np.testing.assert_allclose(more.trust[2:], 2.0, rtol=1e-3)


def test_missing_votes_are_left_out_and_rows_without_votes_are_not_listed():
    full = trust_from_votes(["p", "p", "q"], [1, 2, 1], ["x", "x", "y"])
    gaps = trust_from_votes(
        ["p", "p", "q", "q", "r", None],
        [1, 2, 1, 2, 3, 3],
        ["x", "x", "y", None, np.nan, None],
    )
    for name, value in vars(full).items():
        np.testing.assert_array_equal(getattr(gaps, name), value)
    series = pd.Series(["x", "x", "y", pd.NA])
    again = trust_from_votes(pd.Series(["p", "p", "q", "q"]), [1, 2, 1, 2], series)
    np.testing.assert_array_equal(again.label, full.label)
    numbers = trust_from_votes([0, 0, 1], [1, 2, 1], [3.0, 3.0, np.nan])
    assert numbers.row.tolist() == [0]


def test_one_voted_class_is_certain():
    votes = trust_from_votes([0, 1], ["a", "a"], ["x", "x"])
    assert votes.probability.tolist() == [1.0, 1.0]
    assert votes.trust.tolist() == [1.0, 1.0]
    assert votes.reliability.tolist() == [1.0]


def test_the_order_of_votes_and_the_names_do_not_matter():
    _, row, annotator, label = crowd(n_rows=50)
    order = np.random.default_rng(2).permutation(len(row))
    first = trust_from_votes(row, annotator, label)
    other = trust_from_votes(row[order], annotator[order], label[order])
    np.testing.assert_allclose(first.posterior, other.posterior, atol=1e-9)
    named = trust_from_votes(row, annotator, np.array(list("abcd"))[label])
    np.testing.assert_array_equal(named.posterior, first.posterior)
    assert named.label.tolist() == [list("abcd")[k] for k in first.label]


def test_pseudo_votes_are_the_only_answers_of_an_annotator_without_evidence():
    """By hand: one vote for a row that is of class 0 with certainty."""
    votes = _Votes.of([0, 1], ["a", "b"], ["x", "y"])
    posterior = np.array([[1.0, 0.0], [0.0, 1.0]])
    found = _confusions(votes, posterior, SETTINGS)
    accuracy = (1 + 4 * (2 + 1) / (2 + 2)) / (1 + 4)
    right = (1 + 10 * accuracy) / 11
    np.testing.assert_allclose(found[0, 0], [right, 1 - right])
    np.testing.assert_allclose(found[0, 1], [1 - accuracy, accuracy])


def test_frames_have_one_line_per_row_and_per_annotator():
    votes = trust_from_votes([0, 0, 1], ["a", "b", "a"], ["x", "x", "y"])
    assert votes.to_frame()["row"].tolist() == [0, 1]
    assert votes.annotators_to_frame()["annotator"].tolist() == ["a", "b"]


@pytest.mark.parametrize("method", ["to_frame", "annotators_to_frame"])
def test_frames_need_pandas(monkeypatch, method):
    votes = trust_from_votes([0, 1], ["a", "a"], ["x", "y"])
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match=f"{method} needs pandas"):
        getattr(votes, method)()


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (([0, 1], ["a"], ["x", "y"]), "annotator must have one entry per vote, got 1"),
        (([0], ["a"], [None]), "label must have at least one vote"),
        (([None], ["a"], ["x"]), "row must be known for every vote, got 1 missing"),
        (([0], [np.nan], ["x"]), "annotator must be known for every vote"),
        (([[0]], ["a"], ["x"]), "row must have one axis"),
    ],
)
def test_bad_votes_are_refused(given, message):
    with pytest.raises(ValueError, match=message):
        trust_from_votes(*given)


def test_texts_and_numbers_are_not_mixed():
    with pytest.raises(TypeError, match="label must have numbers only or texts only"):
        trust_from_votes([0, 1], ["a", "b"], ["x", 1])


def test_the_first_opinion_is_the_share_of_the_votes():
    votes = _Votes.of([0, 0, 0, 1, 1], ["a", "b", "c", "a", "b"], ["x", "x", "y", "y", "x"])
    shares = np.array([[2 / 3, 1 / 3], [0.5, 0.5]])
    np.testing.assert_array_equal(votes.counts, [[2, 1], [1, 1]])
    once = replace(SETTINGS, max_iter=1)
    posterior, confusion = _estimated(votes, once)
    np.testing.assert_allclose(confusion, _confusions(votes, shares, once))
    expected = _posterior(votes, shares, confusion, once)
    np.testing.assert_allclose(posterior, expected)


def test_probabilities_are_those_of_bayes():
    """Shares of the classes, with pseudo-votes, times what each annotator would say."""
    votes = _Votes.of([0, 0, 1], ["a", "b", "a"], ["x", "y", "y"])
    before = np.array([[0.5, 0.5], [0.0, 1.0]])
    says = np.array([[[0.9, 0.1], [0.2, 0.8]], [[0.7, 0.3], [0.4, 0.6]]])
    prior = np.array([0.5, 1.5]) + SETTINGS.common_votes
    likely = np.array([[0.9 * 0.3, 0.2 * 0.6], [0.1, 0.8]]) * prior
    expected = likely / likely.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(_posterior(votes, before, says, SETTINGS), expected)


def test_trust_is_the_lead_of_the_best_label_in_units_of_the_mean():
    found = _trust(np.array([[0.2, 0.75, 0.05], [0.45, 0.1, 0.45]]))
    np.testing.assert_allclose(found, [2.0, 0.0], atol=1e-12)
    certain = _trust(np.array([[1.0, 0.0], [0.5, 0.5]]))
    assert np.isfinite(certain).all()


def test_tables_have_the_columns_of_rows_and_of_annotators():
    votes = trust_from_votes([0, 0, 1], ["a", "b", "a"], ["x", "x", "y"])
    table = votes.to_frame()
    assert list(table) == ["row", "label", "probability", "trust", "n_votes"]
    assert table["n_votes"].tolist() == [2, 1]
    assert table["label"].tolist() == ["x", "y"]
    np.testing.assert_array_equal(table["trust"], votes.trust)
    others = votes.annotators_to_frame()
    assert list(others) == ["annotator", "reliability", "n_given"]
    assert others["n_given"].tolist() == [2, 1]
    np.testing.assert_array_equal(others["reliability"], votes.reliability)
