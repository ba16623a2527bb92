"""Streams through partial_fit: scikit-learn's conventions, and where they lead."""

import pickle
from copy import deepcopy

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import make_classification
from sklearn.utils.estimator_checks import (
    check_estimators_partial_fit_n_features,
    check_n_features_in_after_fitting,
)

from wdrsvm import RobustLinearSVC, WassersteinBall, worst_case_risk

from ..cases import IRIS, SPECIES

NAMES = np.array(["a", "b", "c"])


def rows(n_rows, seed=0):
    """Rows of three overlapping clusters, columns in different units."""
    X, y = make_classification(
        n_rows,
        n_features=6,
        n_informative=6,
        n_redundant=0,
        n_classes=3,
        n_clusters_per_class=1,
        class_sep=1.2,
        random_state=seed,
    )
    return X * [1.0, 1.0, 1.0, 1.0, 2.0, 0.5] + 1.0, y


X, y = rows(9000)
X, y, HELD_OUT = X[:6000], y[:6000], (X[6000:], y[6000:])


def streamed(model, X, y, chunk=1000, **kwargs):
    for start in range(0, len(y), chunk):
        part = slice(start, start + chunk)
        own = {name: values[part] for name, values in kwargs.items()}
        model.partial_fit(X[part], y[part], classes=np.unique(y), **own)
    return model


@pytest.fixture(scope="module")
def model():
    return streamed(RobustLinearSVC(), X, y)


@pytest.mark.parametrize("norm", ["l1", "l2", "linf"])
def test_a_stream_comes_near_fit(norm):
    stream = streamed(RobustLinearSVC(norm=norm), X, y)
    exact = RobustLinearSVC(norm=norm).fit(X, y)
    ball = WassersteinBall(exact.radius, exact.label_cost, norm)
    least = worst_case_risk(exact, *HELD_OUT, ball)
    assert worst_case_risk(stream, *HELD_OUT, ball) <= 1.05 * least


class TestAttributes:
    def test_they_are_those_of_fit(self, model):
        fitted = RobustLinearSVC().fit(X, y)
        names = {name for name in vars(fitted) if name.endswith("_")}
        assert names <= set(vars(model))
        assert model.coef_.shape == fitted.coef_.shape
        assert model.solver_ == "stochastic"
        assert model.n_iter_ == 6 * (1 + 1000 // 32)

    def test_the_objective_is_that_of_the_last_chunk(self, model):
        expected = model.worst_case_risk(X[5000:], y[5000:])
        assert model.objective_ == pytest.approx(expected)
        assert model.dual_bound_ == -np.inf
        assert model.duality_gap_ == np.inf

    def test_two_classes(self):
        binary = streamed(RobustLinearSVC(), X, y > 0)
        assert binary.coef_.shape == (1, 6)
        assert binary.score(X, y > 0) > 0.6

    def test_names_of_labels(self, model):
        named = streamed(RobustLinearSVC(), X, NAMES[y])
        np.testing.assert_array_equal(named.predict(X), NAMES[model.predict(X)])

    def test_no_intercept(self):
        plain = streamed(RobustLinearSVC(fit_intercept=False), X, y)
        np.testing.assert_array_equal(plain.intercept_, 0.0)


class TestDeterminism:
    def test_the_same_stream_gives_the_same_model(self, model):
        again = streamed(RobustLinearSVC(), X, y)
        np.testing.assert_array_equal(again.coef_, model.coef_)
        np.testing.assert_array_equal(again.intercept_, model.intercept_)

    def test_the_seed_matters_and_repeats(self, model):
        first = streamed(RobustLinearSVC(random_state=1), X, y)
        second = streamed(RobustLinearSVC(random_state=1), X, y)
        np.testing.assert_array_equal(first.coef_, second.coef_)
        assert not np.array_equal(first.coef_, model.coef_)

    def test_a_copied_stream_goes_on(self):
        stream = streamed(RobustLinearSVC(), X[:3000], y[:3000])
        other = deepcopy(stream)
        streamed(stream, X[3000:], y[3000:])
        streamed(other, X[3000:], y[3000:])
        np.testing.assert_array_equal(stream.coef_, other.coef_)

    def test_sparse_rows_are_the_same_rows(self, model):
        stream = streamed(RobustLinearSVC(), sparse.csr_array(X), y)
        np.testing.assert_allclose(stream.coef_, model.coef_, rtol=1e-9)

    def test_memory_does_not_grow(self):
        few = streamed(RobustLinearSVC(), X[:1000], y[:1000], chunk=100)
        many = streamed(RobustLinearSVC(), X, y, chunk=100)
        sizes = [len(pickle.dumps(m._stream)) for m in (few, many)]
        assert sizes[1] <= sizes[0] + 64


class TestWeights:
    def test_zero_weights_are_absent_rows(self, model):
        extra, labels = np.vstack([X[:1000], 100 + X[:50]]), np.append(y[:1000], y[:50])
        weight = np.append(np.ones(1000), np.zeros(50))
        with_zeros = RobustLinearSVC().partial_fit(extra, labels, [0, 1, 2], weight)
        without = RobustLinearSVC().partial_fit(X[:1000], y[:1000], [0, 1, 2])
        np.testing.assert_array_equal(with_zeros.coef_, without.coef_)

    def test_the_unit_of_weights_does_not_matter(self, model):
        weighted = streamed(RobustLinearSVC(), X, y, sample_weight=np.full(6000, 8.0))
        np.testing.assert_allclose(weighted.coef_, model.coef_, rtol=1e-6, atol=1e-9)

    def test_a_weighted_class_is_found_more_often(self, model):
        weighted = streamed(RobustLinearSVC(class_weight={0: 1, 1: 1, 2: 10}), X, y)
        assert (weighted.predict(X) == 2).sum() > (model.predict(X) == 2).sum()

    def test_verified_labels_lower_the_risk(self, model):
        trust = np.full(6000, np.inf)
        trusted = streamed(RobustLinearSVC(), X, y, label_trust=trust)
        assert trusted.objective_ < model.objective_


class TestBeginning:
    def test_a_stream_begins_at_a_fit(self):
        fitted = RobustLinearSVC().fit(X[:500], y[:500])
        before = fitted.worst_case_risk(X, y)
        fitted.partial_fit(X[500:600], y[500:600])
        assert fitted.worst_case_risk(X, y) < 1.2 * before

    def test_fit_forgets_the_stream(self, model):
        stream = deepcopy(model)
        stream.fit(X[:500], y[:500])
        alone = RobustLinearSVC().fit(X[:500], y[:500])
        for estimator in (stream, alone):
            estimator.partial_fit(X[:100], y[:100])
        np.testing.assert_array_equal(stream.coef_, alone.coef_)

    def test_a_chunk_may_lack_classes(self):
        order = np.argsort(y, kind="stable")
        sorted_stream = RobustLinearSVC()
        for part in np.array_split(order, 12):
            sorted_stream.partial_fit(X[part], y[part], classes=[0, 1, 2])
        np.testing.assert_array_equal(sorted_stream.classes_, [0, 1, 2])

    def test_rows_one_at_a_time(self):
        stream = RobustLinearSVC()
        for n in range(40):
            stream.partial_fit(X[n : n + 1], y[n : n + 1], classes=[0, 1, 2])
        assert np.isfinite(stream.coef_).all()
        assert stream.n_iter_ == 40


class TestErrors:
    def test_classes_are_needed_first(self):
        with pytest.raises(ValueError, match="classes must be passed on the first call"):
            RobustLinearSVC().partial_fit(X, y)

    def test_other_classes_later(self):
        stream = RobustLinearSVC().partial_fit(X, y, classes=[0, 1, 2])
        with pytest.raises(ValueError, match="classes must be those of the first call"):
            stream.partial_fit(X, y, classes=[0, 1])

    def test_a_single_class(self):
        with pytest.raises(ValueError, match="classes must have at least 2 labels"):
            RobustLinearSVC().partial_fit(X, y, classes=[0])

    def test_an_unknown_label(self):
        with pytest.raises(ValueError, match="y contains labels"):
            RobustLinearSVC().partial_fit(X, y, classes=[0, 1])

    def test_balanced_weights(self):
        with pytest.raises(ValueError, match="class_weight='balanced'"):
            RobustLinearSVC(class_weight="balanced").partial_fit(X, y, classes=[0, 1, 2])

    def test_a_failed_call_changes_nothing(self):
        stream = RobustLinearSVC().partial_fit(X[:100], y[:100], classes=[0, 1, 2])
        before = dict(vars(stream))
        with pytest.raises(ValueError, match="features"):
            stream.partial_fit(X[:, :3], y)
        assert all(vars(stream)[name] is value for name, value in before.items())

    def test_scikit_learn_checks(self):
        check_estimators_partial_fit_n_features("RobustLinearSVC", RobustLinearSVC())
        check_n_features_in_after_fitting("RobustLinearSVC", RobustLinearSVC())


def test_a_stream_needs_a_row_with_weight():
    model = RobustLinearSVC(class_weight={0: 0.0, 1: 1.0, 2: 1.0})
    with pytest.raises(ValueError, match="leave no row any weight"):
        model.partial_fit(IRIS[SPECIES == 0], SPECIES[SPECIES == 0], classes=[0, 1, 2])
