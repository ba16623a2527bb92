"""Corruptions do what they say, and the same for the same seed."""

import numpy as np
import pytest

from wdrsvm.datasets import (
    add_feature_noise,
    flip_labels,
    flip_labels_by_class,
    make_imbalanced,
    make_simulation,
)

y = np.repeat(["a", "b", "c"], [40, 30, 20])


@pytest.mark.parametrize("share", [0.0, 0.1, 0.5, 1.0])
def test_the_share_of_labels_is_wrong_and_still_a_label(share):
    flipped = flip_labels(y, share, 3)
    assert np.sum(flipped != y) == round(share * len(y))
    assert set(flipped) <= set(y)
    np.testing.assert_array_equal(flipped, flip_labels(y, share, 3))


def test_every_other_label_is_as_likely():
    labels = np.zeros(9000, dtype=int)
    labels[:2] = 1, 2
    counts = np.bincount(flip_labels(labels, 1.0))
    np.testing.assert_allclose(counts[1:], 4500, rtol=0.05)


def test_shares_by_class():
    flipped = flip_labels_by_class(y, (0.5, 0.0, 0.1), 1)
    wrong = [np.sum(flipped[y == label] != label) for label in "abc"]
    assert wrong == [20, 0, 2]


def test_imbalance_leaves_a_random_order_of_falling_counts():
    kept = make_imbalanced(np.repeat([0, 1, 2], 100), 0.25, random_state=0)
    counts = np.bincount(np.repeat([0, 1, 2], 100)[kept])
    assert sorted(counts.tolist()) == [25, 50, 100]
    assert (np.diff(kept) > 0).all()


def test_a_rare_class_keeps_what_it_has():
    labels = np.repeat([0, 1], [50, 3])
    kept = make_imbalanced(labels, 0.1, min_count=5)
    assert np.bincount(labels[kept])[1] == 3


def test_classes_that_are_rare_already_stay_and_the_largest_is_whole():
    labels = np.repeat([0, 1, 2, 3], [6, 278, 5, 200])
    counts = np.bincount(labels[make_imbalanced(labels, 0.1, random_state=3)])
    assert counts.tolist() == [6, 278, 5, 129]


def test_noise_is_in_units_of_the_feature_and_zero_is_nothing():
    X = np.random.default_rng(0).normal(size=(500, 2)) * [1.0, 50.0]
    np.testing.assert_array_equal(add_feature_noise(X, 0.0), X)
    noise = add_feature_noise(X, 0.3, 1) - X
    np.testing.assert_allclose(noise.std(axis=0) / X.std(axis=0), 0.3, rtol=0.1)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: flip_labels(y, 1.5), "share must be"),
        (lambda: flip_labels(["a", "a"], 0.5), "two classes"),
        (lambda: flip_labels_by_class(y, (0.1,)), "shares must be 3"),
        (lambda: make_imbalanced(y, 0.0), "ratio must be"),
        (lambda: add_feature_noise(np.eye(2), -1.0), "scale must be"),
        (lambda: make_simulation(n_classes=4, shares=(0.5, 0.5)), "shares must be 4"),
        (lambda: make_simulation(n_classes=2, shares=(2, -1)), "shares must be 2"),
        (lambda: make_simulation(n_train=-5), "n_train must be"),
        (lambda: make_simulation(n_test=2.5), "n_test must be"),
        (lambda: make_simulation(n_features=1), "n_classes must be at most"),
        (lambda: flip_labels(y, "0.2"), "share must be"),
        (lambda: flip_labels_by_class(y, 0.2), "shares must be 3"),
        (lambda: make_imbalanced([], 0.5), "y must have at least one label"),
        (lambda: make_imbalanced(y, 0.5, min_count="a"), "min_count must be"),
        (lambda: add_feature_noise(np.eye(2), "a"), "scale must be"),
    ],
)
def test_bad_arguments_are_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_simulated_rows_are_seeded_and_do_not_overlap():
    first = make_simulation(40, 60, 3, 4, random_state=5)
    again = make_simulation(40, 60, 3, 4, random_state=5)
    np.testing.assert_array_equal(first.X_train, again.X_train)
    rows = np.vstack([first.X_train, first.X_test])
    assert len(np.unique(rows, axis=0)) == 100
