"""Factors reproduce Gram matrices, and say what they leave out."""

import numpy as np
import pytest
from sklearn.metrics.pairwise import rbf_kernel

from wdrsvm.kernels import factorise, kernel_of, nystroem

rng = np.random.default_rng(0)
X = rng.normal(size=(80, 3))
X[50:55] = X[0]


@pytest.mark.parametrize("gamma", [1e-6, 1e-2, 1.0, 1e3])
def test_features_reproduce_the_gram_matrix(gamma):
    gram = rbf_kernel(X, gamma=gamma)
    factor = factorise(gram.copy())
    np.testing.assert_allclose(factor.features @ factor.features.T, gram, atol=1e-11)
    assert factor.dropped <= 1e-12
    rank = factor.features.shape[1]
    assert len(factor.landmarks) == rank
    assert rank < 20 or gamma > 1e-6
    assert rank <= 76 or gamma > 1.0  # where rounding tells repeated rows apart


@pytest.mark.parametrize("gamma", [1e-3, 0.3, 10.0])
@pytest.mark.parametrize("exact", [True, False])
def test_dual_coefficients_give_the_features_scores(gamma, exact):
    kernel = kernel_of("rbf", gamma=gamma)
    gram = kernel(X, X)
    factor = factorise(gram.copy()) if exact else nystroem(kernel, X, 30, seed=0)
    combination = rng.normal(size=(factor.features.shape[1], 4))
    scores = gram[:, factor.landmarks] @ factor.whitened(combination)
    np.testing.assert_allclose(scores, factor.features @ combination, atol=1e-7)


def test_a_zero_kernel_has_a_zero_feature():
    factor = factorise(np.zeros((4, 4)))
    np.testing.assert_array_equal(factor.features, np.zeros((4, 1)))


def test_low_rank_is_found():
    features = rng.normal(size=(60, 4))
    assert factorise(features @ features.T).features.shape == (60, 4)


class TestNystroem:
    def test_it_never_exceeds_the_kernel(self):
        kernel = kernel_of("rbf", gamma=0.5)
        gram, factor = kernel(X, X), nystroem(kernel, X, 20, seed=0)
        left = gram - factor.features @ factor.features.T
        assert np.linalg.eigvalsh(left)[0] >= -1e-10
        assert factor.dropped == pytest.approx(np.trace(left) / np.trace(gram))
        on_landmarks = left[np.ix_(factor.landmarks, factor.landmarks)]
        np.testing.assert_allclose(on_landmarks, 0.0, atol=1e-10)

    def test_landmarks_are_distinct_and_follow_the_seed(self):
        kernel = kernel_of("rbf", gamma=0.5)
        first, again, other = (nystroem(kernel, X, 20, seed) for seed in (0, 0, 1))
        assert len(set(first.landmarks.tolist())) == 20
        np.testing.assert_array_equal(first.landmarks, again.landmarks)
        assert not np.array_equal(first.landmarks, other.landmarks)

    def test_it_is_near_the_best_of_its_rank(self):
        """The trace left out, against the eigenvalues that no features of this rank see."""
        rows = np.random.default_rng(1).normal(size=(400, 2))
        kernel = kernel_of("rbf", gamma=0.5)
        values = np.linalg.eigvalsh(kernel(rows, rows))[::-1]
        for rank in (10, 30):
            dropped = nystroem(kernel, rows, rank, seed=0).dropped
            assert dropped <= 10 * values[rank:].sum() / values.sum()

    def test_it_stops_when_nothing_is_left(self):
        features = np.random.default_rng(2).normal(size=(300, 5))
        factor = nystroem(kernel_of("linear"), features, 100, seed=0)
        assert factor.features.shape == (300, 5)
        assert factor.dropped <= 1e-12


class TestRefusals:
    def test_an_asymmetric_matrix(self):
        with pytest.raises(ValueError, match="must be symmetric, but it differs"):
            factorise(np.array([[1.0, 0.5], [0.4, 1.0]]), known_positive=False)

    @pytest.mark.parametrize(
        "gram", [[[0.0, 1.0], [1.0, 0.0]], [[1.0, 2.0], [2.0, 1.0]], [[1.0, 0], [0, -1e-3]]]
    )
    def test_an_indefinite_matrix(self, gram):
        with pytest.raises(ValueError, match="positive semidefinite, but its least eigen"):
            factorise(np.array(gram), known_positive=False)
