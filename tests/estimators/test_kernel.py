"""RobustSVC as a citizen of scikit-learn, and on kernels that are hard."""

import inspect
import pickle

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_iris, load_wine, make_classification
from sklearn.exceptions import NotFittedError
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler, scale
from sklearn.utils.estimator_checks import parametrize_with_checks

from wdrsvm import RobustSVC, WassersteinBall, worst_case_risk
from wdrsvm.kernels import factor

X, y = load_iris(return_X_y=True)
X = scale(X)
NAMES = np.array(["setosa", "versicolor", "virginica"])


@pytest.fixture(scope="module")
def fitted():
    return RobustSVC(radius=0.02).fit(X, y)


@parametrize_with_checks(
    [
        RobustSVC(),
        RobustSVC(kernel="linear", lipschitz="triangle", label_cost=np.inf),
    ]
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def test_signature_is_the_contract():
    parameters = inspect.signature(RobustSVC).parameters
    expected = {
        "radius": 0.05,
        "label_cost": 2.0,
        "kernel": "rbf",
        "gamma": "scale",
        "degree": 3,
        "coef0": 1.0,
        "kernel_params": None,
        "lipschitz": "exact",
        "label_noise": "adversarial",
        "disbelief": "trim",
        "max_disbelief": 0.4,
        "n_components": None,
        "fit_intercept": True,
        "class_weight": None,
        "solver": "auto",
        "tol": 1e-6,
        "max_iter": None,
        "random_state": None,
        "verbose": 0,
        "loss": "hinge",
    }
    assert {name: p.default for name, p in parameters.items()} == expected


class TestScores:
    def test_they_are_kernel_values_times_dual_coefficients(self, fitted):
        gram = rbf_kernel(X, X, gamma=fitted.gamma_)
        scores = gram @ fitted.dual_coef_.T + fitted.intercept_
        np.testing.assert_allclose(fitted.decision_function(X), scores, atol=1e-9)
        assert fitted.dual_coef_.shape == (3, 150)
        outside = np.setdiff1d(np.arange(150), fitted.support_)
        assert not fitted.dual_coef_[:, outside].any()
        np.testing.assert_array_equal(fitted.support_vectors_, X[fitted.support_])

    def test_two_classes_have_one_row(self):
        model = RobustSVC().fit(X[:100], NAMES[y[:100]])
        assert model.dual_coef_.shape == (1, 100)
        assert model.decision_function(X[:100]).shape == (100,)
        assert model.score(X[:100], NAMES[y[:100]]) == 1.0
        risk = model.worst_case_risk(X[:100], NAMES[y[:100]])
        assert risk == pytest.approx(model.objective_, abs=1e-9)

    def test_blocks_of_rows_change_nothing(self, fitted, monkeypatch):
        whole = fitted.decision_function(X)
        monkeypatch.setattr("wdrsvm.estimators.kernel.BLOCK_ENTRIES", 1000)
        np.testing.assert_allclose(fitted.decision_function(X), whole, atol=1e-12)

    def test_the_linear_form_is_the_classifier(self, fitted):
        features, scores = fitted.linear_form(X)
        assert features.shape[1] <= 3
        linear = features @ scores.coef.T + scores.intercept
        np.testing.assert_allclose(linear, fitted.decision_function(X), atol=1e-9)
        gram = rbf_kernel(X, X, gamma=fitted.gamma_)
        inner = fitted.dual_coef_ @ gram @ fitted.dual_coef_.T
        np.testing.assert_allclose(scores.coef @ scores.coef.T, inner, atol=1e-7)


class TestWorstCaseRisk:
    @pytest.mark.parametrize("lipschitz", ["exact", "triangle"])
    @pytest.mark.parametrize("kernel", ["rbf", "laplacian", "poly"])
    def test_on_the_training_data_it_is_the_objective(self, kernel, lipschitz):
        model = RobustSVC(0.02, 0.7, kernel=kernel, lipschitz=lipschitz).fit(X, y)
        assert model.worst_case_risk(X, y) == pytest.approx(model.objective_, abs=1e-8)

    def test_the_function_takes_kernel_models_and_their_pipelines(self, fitted):
        ball = WassersteinBall(0.02, 2.0)
        assert worst_case_risk(fitted, X, y, ball) == fitted.worst_case_risk(X, y)
        pipeline = make_pipeline(StandardScaler(), RobustSVC(radius=0.02)).fit(X, y)
        risk = worst_case_risk(pipeline, X, y, ball)
        assert risk == pytest.approx(pipeline[-1].objective_, abs=1e-8)


class TestData:
    def test_string_labels_and_frames(self):
        frame = load_iris(as_frame=True).data
        model = RobustSVC(gamma=0.5, radius=0.01).fit(frame, NAMES[y])
        assert set(model.predict(frame)) == set(NAMES)
        assert model.feature_names_in_.tolist() == frame.columns.tolist()

    @pytest.mark.parametrize("kernel", ["linear", "rbf", "laplacian", "poly"])
    def test_sparse_rows(self, kernel):
        rows = np.where(X > 0.5, X, 0.0)
        dense = RobustSVC(0.02, kernel=kernel, tol=1e-8).fit(rows, y)
        thin = RobustSVC(0.02, kernel=kernel, tol=1e-8).fit(sparse.csr_array(rows), y)
        assert thin.objective_ == pytest.approx(dense.objective_, rel=2e-8)
        np.testing.assert_array_equal(
            thin.predict(sparse.csr_array(rows)), dense.predict(rows)
        )

    def test_precomputed_is_the_same_as_computed(self):
        gram = rbf_kernel(X, X, gamma=0.4)
        given = RobustSVC(0.02, kernel="precomputed", tol=1e-8).fit(gram, y)
        computed = RobustSVC(0.02, gamma=0.4, tol=1e-8).fit(X, y)
        assert given.objective_ == pytest.approx(computed.objective_, rel=2e-8)
        np.testing.assert_allclose(
            given.decision_function(gram), computed.decision_function(X), atol=1e-3
        )
        assert given.support_vectors_.shape == (0, 0)
        risk = given.worst_case_risk(gram, y)
        assert risk == pytest.approx(given.objective_, abs=1e-8)

    def test_precomputed_in_single_precision(self):
        gram = rbf_kernel(X, X, gamma=0.01)
        single = RobustSVC(0.02, kernel="precomputed").fit(gram.astype(np.float32), y)
        double = RobustSVC(0.02, kernel="precomputed").fit(gram, y)
        assert single.objective_ == pytest.approx(double.objective_, rel=1e-3)
        assert single.worst_case_risk(gram, y) == pytest.approx(single.objective_, rel=1e-2)

    def test_the_pairwise_tag(self):
        for kernel in ("precomputed", "rbf"):
            tags = RobustSVC(kernel=kernel).__sklearn_tags__()
            assert tags.input_tags.pairwise == (kernel == "precomputed")

    def test_precomputed_in_cross_validation(self):
        gram = rbf_kernel(X, X, gamma=0.4)
        model = RobustSVC(0.02, kernel="precomputed", tol=1e-4)
        given = cross_val_score(model, gram, y, cv=3)
        computed = cross_val_score(RobustSVC(0.02, gamma=0.4, tol=1e-4), X, y, cv=3)
        np.testing.assert_allclose(given, computed)

    def test_precomputed_with_weights_of_zero(self):
        kept = np.arange(150) % 3 > 0
        gram = rbf_kernel(X, X, gamma=0.4)
        model = RobustSVC(0.02, kernel="precomputed")
        whole = model.fit(gram, y, sample_weight=kept.astype(float)).objective_
        part = model.fit(gram[np.ix_(kept, kept)], y[kept]).objective_
        assert whole == pytest.approx(part, rel=2e-6)

    def test_a_callable_with_parameters(self):
        def wave(left, right, width):
            return rbf_kernel(left, right, gamma=width)

        own = RobustSVC(0.02, kernel=wave, kernel_params={"width": 0.4}).fit(X, y)
        named = RobustSVC(0.02, gamma=0.4).fit(X, y)
        assert own.objective_ == pytest.approx(named.objective_, rel=2e-6)
        assert own.gamma_ is None

    def test_weights_are_repetitions(self):
        times = np.arange(150) % 3
        weighted = RobustSVC(0.02).fit(X, y, sample_weight=times)
        repeated = RobustSVC(0.02).fit(X.repeat(times, axis=0), y.repeat(times))
        assert weighted.objective_ == pytest.approx(repeated.objective_, rel=1e-9)

    def test_matrix_label_costs_and_trust(self):
        cost = np.array([[0, 1, np.inf], [0.5, 0, 0.5], [np.inf, 1, 0]])
        plain = RobustSVC(0.05, cost).fit(X, y)
        trusted = RobustSVC(0.05, cost).fit(X, y, label_trust=np.full(150, np.inf))
        regularised = RobustSVC(0.05, np.inf).fit(X, y)
        assert trusted.objective_ == pytest.approx(regularised.objective_, rel=2e-6)
        assert plain.objective_ > trusted.objective_

    def test_pickle_and_grid_search(self, fitted):
        again = pickle.loads(pickle.dumps(fitted))
        np.testing.assert_array_equal(again.predict(X), fitted.predict(X))
        grid = {"radius": [0.005, 0.02], "gamma": [0.1, 1.0]}
        search = GridSearchCV(RobustSVC(tol=1e-3), grid, cv=3).fit(X, y)
        assert search.best_score_ > 0.9


class TestHardKernels:
    @pytest.mark.parametrize("lipschitz", ["exact", "triangle"])
    @pytest.mark.parametrize("gamma", [1e-6, 1e-3, 1.0, 30.0, 1e3])
    def test_every_width(self, gamma, lipschitz):
        wine, label = load_wine(return_X_y=True)
        model = RobustSVC(1e-3, gamma=gamma, lipschitz=lipschitz).fit(scale(wine), label)
        assert model.duality_gap_ <= 1e-6 * max(model.objective_, 1e-2)
        judged = model.worst_case_risk(scale(wine), label)
        assert judged == pytest.approx(model.objective_, rel=1e-6)

    def test_repeated_rows_with_other_labels(self):
        rows = np.vstack([X, X[:30]])
        label = np.r_[y, np.full(30, 2)]
        model = RobustSVC(1e-3).fit(rows, label)
        assert model.duality_gap_ <= 1e-6
        # Thirty points carry two labels: whatever is said of them is half wrong.
        assert model.objective_ >= 30 * 1.0 / 180

    def test_a_constant_kernel(self):
        model = RobustSVC(kernel=lambda a, b: np.ones((len(a), len(b)))).fit(X[:99], y[:99])
        assert (model.predict(X) == 0).all() or (model.predict(X) == 1).all()

    def test_the_default_tolerance_of_the_rank_is_below_the_gap(self, monkeypatch):
        """A smooth kernel, whose rank depends on what counts as nothing."""
        rows, label = make_classification(
            200, 2, n_informative=2, n_redundant=0, n_clusters_per_class=1,
            n_classes=3, class_sep=0.6, random_state=0,
        )  # fmt: skip
        model = RobustSVC(1e-3, gamma=0.5, tol=1e-7).fit(rows, label)
        monkeypatch.setattr(factor, "TOLERANCE", 0.0)
        whole = RobustSVC(1e-3, gamma=0.5, tol=1e-7).fit(rows, label)
        assert len(model.support_) <= len(whole.support_)
        assert model.objective_ == pytest.approx(whole.objective_, rel=2e-7)

    def test_two_thousand_rows(self):
        rows, label = make_classification(
            2000, 8, n_informative=8, n_redundant=0, n_classes=3, flip_y=0.05,
            random_state=0,
        )  # fmt: skip
        model = RobustSVC(0.02, tol=1e-4).fit(scale(rows), label)
        assert model.duality_gap_ <= 1e-4 * model.objective_
        assert len(model.support_) == 2000


class TestNystroem:
    rows, label = make_classification(
        600, 6, n_informative=6, n_redundant=0, n_classes=3, random_state=0
    )

    def test_more_landmarks_come_nearer(self):
        exact = RobustSVC(0.02, tol=1e-4).fit(self.rows, self.label)
        risks = [
            RobustSVC(0.02, n_components=n, tol=1e-4).fit(self.rows, self.label)
            for n in (20, 100, 400)
        ]
        objectives = [model.objective_ for model in risks]
        assert objectives == sorted(objectives, reverse=True)
        assert objectives[-1] >= exact.dual_bound_
        assert objectives[-1] <= 1.1 * exact.objective_
        dropped = [model.dropped_trace_ for model in risks]
        assert dropped == sorted(dropped, reverse=True)
        assert exact.dropped_trace_ <= 1e-12

    def test_it_follows_the_seed(self):
        shared = {"n_components": 50, "tol": 1e-3}
        one, same, other = (
            RobustSVC(random_state=s, **shared).fit(self.rows, self.label)
            for s in (0, 0, 1)
        )
        np.testing.assert_array_equal(one.dual_coef_, same.dual_coef_)
        assert not np.array_equal(one.support_, other.support_)

    def test_more_landmarks_than_rows_is_exact(self):
        many = RobustSVC(0.02, n_components=10_000).fit(X, y)
        assert many.objective_ == RobustSVC(0.02).fit(X, y).objective_


class TestRadius:
    def test_conversion(self, fitted):
        factor_of_inputs = max(1.0, np.sqrt(2 * fitted.gamma_))
        assert fitted.lifted_radius(0.1) == pytest.approx(0.1 * factor_of_inputs)

    def test_kernels_that_are_not_calm(self):
        model = RobustSVC(kernel="poly").fit(X, y)
        with pytest.raises(ValueError, match="kernel must be calm"):
            model.lifted_radius(0.1)

    def test_zero(self):
        model = RobustSVC(0.0, gamma=0.1).fit(X, y)
        assert model.objective_ <= 1e-6

    def test_beyond_the_largest(self):
        with pytest.warns(UserWarning, match="no classifier has a lower certified"):
            model = RobustSVC(10.0).fit(X, y)
        assert model.objective_ == pytest.approx(1.0)
        assert model.score(X, y) > 0.8


BAD_PARAMETERS = [
    ({"kernel": "sigmoid"}, "kernel must be a callable or one of"),
    ({"gamma": -1.0}, "gamma must be 'scale', 'auto' or a finite number > 0"),
    ({"kernel": "poly", "degree": 1.5}, "degree must be an integer >= 1"),
    ({"kernel": "poly", "coef0": "a"}, "coef0 must be a finite number"),
    ({"lipschitz": "paper"}, "lipschitz must be 'exact' or 'triangle', got 'paper'"),
    ({"n_components": 0}, "n_components must be None or an integer >= 1, got 0"),
    ({"n_components": 1.5}, "n_components must be None or an integer >= 1"),
    ({"radius": -1}, "radius must be a finite number >= 0"),
    ({"label_cost": 1 - np.eye(2)}, "label_cost has shape"),
    ({"solver": "highs"}, "solver 'highs' does not know norm='l2'"),
    (
        {"solver": "subgradient", "lipschitz": "triangle"},
        "does not know lipschitz",
    ),
    ({"kernel_params": {"gamma": 1}}, "kernel_params must be None unless"),
    ({"kernel": "precomputed"}, "X must be square for kernel='precomputed'"),
]


@pytest.mark.parametrize(("parameters", "message"), BAD_PARAMETERS)
def test_bad_parameters(parameters, message):
    with pytest.raises(ValueError, match=message):
        RobustSVC(**parameters).fit(X, y)


class TestBadKernelMatrices:
    gram = rbf_kernel(X, X, gamma=0.4)

    def test_not_symmetric(self):
        skewed = self.gram.copy()
        skewed[0, 1] += 0.1
        with pytest.raises(ValueError, match="must be symmetric"):
            RobustSVC(kernel="precomputed").fit(skewed, y)

    def test_not_positive(self):
        with pytest.raises(ValueError, match="must be positive semidefinite"):
            RobustSVC(kernel="precomputed").fit(-self.gram, y)

    def test_landmarks_of_a_precomputed_kernel(self):
        model = RobustSVC(kernel="precomputed", n_components=10)
        with pytest.raises(ValueError, match="n_components must be None for kernel='pre"):
            model.fit(self.gram, y)

    def test_wrong_shape_at_predict(self):
        model = RobustSVC(kernel="precomputed").fit(self.gram, y)
        with pytest.raises(ValueError, match="features"):
            model.predict(self.gram[:, :10])

    def test_not_fitted(self):
        for method in ("predict", "decision_function", "linear_form"):
            with pytest.raises(NotFittedError):
                getattr(RobustSVC(), method)(X)


def test_a_failed_fit_leaves_the_model_as_it_was(fitted):
    before = dict(vars(fitted))
    with pytest.raises(ValueError, match="NaN"):
        fitted.fit(np.full_like(X, np.nan), y)
    assert all(vars(fitted)[name] is value for name, value in before.items())
