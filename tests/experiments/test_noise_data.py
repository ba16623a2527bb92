"""Conditions spoil what they say."""

import numpy as np
import pytest

from wdrsvm.experiments.noise_data import conditions, noisy_split


def test_conditions_spoil_what_they_say():
    clean = noisy_split("iris", "clean", 0)
    flipped = noisy_split("iris", "flips 20%", 0)
    np.testing.assert_array_equal(clean.X, flipped.X)
    assert np.mean(clean.y != flipped.y) == pytest.approx(0.2, abs=0.01)
    np.testing.assert_array_equal(clean.y_test, flipped.y_test)
    noisy = noisy_split("iris", "feature noise", 0)
    np.testing.assert_array_equal(clean.X, noisy.X)
    assert not np.allclose(clean.X_test, noisy.X_test)
    rare = np.bincount(noisy_split("iris", "rare classes", 0).y)
    assert rare.max() >= 5 * rare.min()
    assert "crowd random" in conditions("music_genre")


def test_wide_tables_are_reduced_by_their_training_rows():
    split = noisy_split("digits", "clean", 0)
    assert split.X.shape == (200, 20)
    np.testing.assert_allclose(split.X.mean(axis=0), 0.0, atol=1e-9)
