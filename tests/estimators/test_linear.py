"""RobustLinearSVC as a scikit-learn citizen."""

import inspect
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn import config_context
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_validate
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler, scale
from sklearn.utils.estimator_checks import parametrize_with_checks

from wdrsvm import RobustLinearSVC, WassersteinBall, worst_case_risk

X, y = load_iris(return_X_y=True)
X = scale(X)
NAMES = np.array(["setosa", "versicolor", "virginica"])


@pytest.fixture(scope="module")
def fitted():
    return RobustLinearSVC().fit(X, y)


def assert_same_model(first, second, rtol=1e-9):
    np.testing.assert_allclose(first.coef_, second.coef_, rtol, 1e-9)
    np.testing.assert_allclose(first.intercept_, second.intercept_, rtol, 1e-9)


@parametrize_with_checks(
    [
        RobustLinearSVC(),
        RobustLinearSVC(label_cost=np.inf, norm="l1"),
        RobustLinearSVC(smoothing=0.1),
    ]
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def test_signature_is_the_contract():
    parameters = inspect.signature(RobustLinearSVC).parameters
    expected = {
        "radius": 0.05,
        "label_cost": 2.0,
        "norm": "l2",
        "smoothing": 0.0,
        "label_noise": "adversarial",
        "disbelief": "trim",
        "max_disbelief": 0.4,
        "feature_cost": None,
        "support": None,
        "categorical": None,
        "fit_intercept": True,
        "class_weight": None,
        "solver": "auto",
        "tol": 1e-6,
        "max_iter": None,
        "warm_start": False,
        "random_state": None,
        "verbose": 0,
        "loss": "hinge",
    }
    assert {name: p.default for name, p in parameters.items()} == expected
    positional = [n for n, p in parameters.items() if p.kind is p.POSITIONAL_OR_KEYWORD]
    assert positional == ["radius", "label_cost"]


class TestFittedAttributes:
    def test_three_classes(self, fitted):
        assert fitted.coef_.shape == (3, 4)
        assert fitted.intercept_.shape == (3,)
        assert fitted.decision_function(X).shape == (150, 3)
        np.testing.assert_array_equal(fitted.classes_, [0, 1, 2])

    def test_two_classes(self):
        model = RobustLinearSVC().fit(X, y > 0)
        assert model.coef_.shape == (1, 4)
        assert model.intercept_.shape == (1,)
        decision = model.decision_function(X)
        assert decision.shape == (150,)
        np.testing.assert_allclose(decision, X @ model.coef_[0] + model.intercept_)
        np.testing.assert_array_equal(model.predict(X), decision > 0)

    def test_the_certificate(self, fitted):
        assert fitted.dual_bound_ <= fitted.objective_
        assert fitted.duality_gap_ == fitted.objective_ - fitted.dual_bound_
        assert fitted.duality_gap_ <= 1e-6 * max(fitted.objective_, 1e-2)
        assert fitted.lambda_ > 0
        assert fitted.n_iter_ >= 1
        assert fitted.solver_ == "interior-point"

    def test_the_objective_is_the_worst_case_risk_on_the_training_data(self, fitted):
        assert fitted.worst_case_risk(X, y) == pytest.approx(fitted.objective_, rel=1e-12)

    def test_no_intercept(self):
        model = RobustLinearSVC(fit_intercept=False).fit(X, y)
        np.testing.assert_array_equal(model.intercept_, 0.0)

    def test_the_gauge_is_centred(self, fitted):
        np.testing.assert_allclose(fitted.coef_.sum(axis=0), 0.0, atol=1e-12)
        assert fitted.intercept_.sum() == pytest.approx(0.0, abs=1e-12)

    def test_it_beats_others_at_its_own_game(self, fitted):
        other = LogisticRegression().fit(X, y)
        ball = WassersteinBall(fitted.radius, fitted.label_cost)
        assert fitted.objective_ < worst_case_risk(other, X, y, ball)


class TestContainers:
    @pytest.mark.parametrize(
        "convert",
        [
            sparse.csr_array,
            sparse.csc_array,
            sparse.coo_array,
            sparse.csr_matrix,
            sparse.csc_matrix,
            np.asfortranarray,
            np.ndarray.tolist,
            lambda X: np.repeat(X, 2, axis=1)[:, ::2],
        ],
    )
    def test_equal_data_in_another_container(self, fitted, convert):
        model = RobustLinearSVC().fit(convert(X), y)
        assert_same_model(model, fitted)
        np.testing.assert_array_equal(model.predict(convert(X)), fitted.predict(X))

    def test_read_only(self, fitted):
        frozen, labels = X.copy(), y.copy()
        frozen.setflags(write=False)
        labels.setflags(write=False)
        assert_same_model(RobustLinearSVC().fit(frozen, labels), fitted)

    def test_inputs_are_not_changed(self):
        features, labels, weight, trust = X.copy(), y.copy(), np.ones(150), np.ones(150)
        RobustLinearSVC(class_weight="balanced").fit(features, labels, weight, trust)
        np.testing.assert_array_equal(features, X)
        np.testing.assert_array_equal(labels, y)
        np.testing.assert_array_equal([weight, trust], 1.0)

    def test_float32_is_solved_in_double(self):
        single = RobustLinearSVC().fit(X.astype(np.float32), y)
        double = RobustLinearSVC().fit(X.astype(np.float32).astype(np.float64), y)
        assert single.coef_.dtype == np.float64
        assert_same_model(single, double, rtol=0)

    @pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
    def test_frames(self, fitted, frame):
        table = frame(dict(zip("abcd", X.T, strict=True)))
        model = RobustLinearSVC().fit(table, y)
        assert_same_model(model, fitted)
        assert list(model.feature_names_in_) == list("abcd")
        np.testing.assert_array_equal(model.predict(table), fitted.predict(X))
        assert model.worst_case_risk(table, y) == pytest.approx(model.objective_)
        with pytest.raises(ValueError, match="feature names should match"):
            model.predict(table[["b", "a", "c", "d"]])

    def test_string_labels(self, fitted):
        model = RobustLinearSVC().fit(X, NAMES[y])
        assert_same_model(model, fitted, rtol=0)
        np.testing.assert_array_equal(model.classes_, NAMES)
        np.testing.assert_array_equal(model.predict(X), NAMES[fitted.predict(X)])
        assert model.score(X, NAMES[y]) == fitted.score(X, y)

    def test_series_of_categories(self, fitted):
        labels = pd.Series(NAMES[y], dtype="category")
        assert_same_model(RobustLinearSVC().fit(X, labels), fitted, rtol=0)


class TestToolbox:
    def test_pipeline_and_grid_search(self):
        pipeline = make_pipeline(StandardScaler(), RobustLinearSVC())
        grid = {
            "robustlinearsvc__radius": [0.01, 0.1],
            "robustlinearsvc__norm": ["l1", "l2"],
        }
        search = GridSearchCV(pipeline, grid, cv=3).fit(X, NAMES[y])
        assert search.best_score_ > 0.85

    def test_one_vs_rest(self):
        assert OneVsRestClassifier(RobustLinearSVC()).fit(X, y).score(X, y) > 0.6

    def test_clone(self):
        cost = 1.0 - np.eye(3)
        model = RobustLinearSVC(0.1, cost, norm="l1", random_state=3)
        copy = clone(model)
        assert not hasattr(copy, "coef_")
        np.testing.assert_array_equal(copy.label_cost, cost)
        assert copy.get_params()["norm"] == "l1"

    def test_pickle(self, fitted):
        copy = pickle.loads(pickle.dumps(fitted))
        np.testing.assert_array_equal(
            copy.decision_function(X), fitted.decision_function(X)
        )
        assert copy.objective_ == fitted.objective_

    def test_deterministic(self, fitted):
        assert_same_model(RobustLinearSVC(random_state=0).fit(X, y), fitted, rtol=0)

    def test_metadata_routing_of_weight_and_trust(self, fitted):
        trust = np.where(np.arange(150) % 2, 1.0, np.inf)
        weight = np.linspace(1.0, 2.0, 150)
        with config_context(enable_metadata_routing=True):
            model = RobustLinearSVC().set_fit_request(sample_weight=True, label_trust=True)
            pipeline = make_pipeline(FunctionTransformer(), model)
            pipeline.fit(X, y, sample_weight=weight, label_trust=trust)
        expected = RobustLinearSVC().fit(X, y, weight, trust)
        assert_same_model(pipeline[-1], expected, rtol=0)
        assert not np.allclose(expected.coef_, fitted.coef_)

    def test_cross_validation_routes_trust(self):
        with config_context(enable_metadata_routing=True):
            model = RobustLinearSVC().set_fit_request(label_trust=True)
            result = cross_validate(model, X, y, params={"label_trust": np.ones(150)})
        assert len(result["test_score"]) == 5

    def test_cross_validation_without_routing(self):
        result = cross_validate(
            RobustLinearSVC(), X, y, params={"sample_weight": np.ones(150)}, cv=3
        )
        assert len(result["test_score"]) == 3


class TestWeightsAndTrust:
    def test_weights_are_repeated_rows(self):
        times = np.random.default_rng(0).integers(0, 4, 150)
        weighted = RobustLinearSVC().fit(X, y, sample_weight=times)
        repeated = RobustLinearSVC().fit(X.repeat(times, 0), y.repeat(times))
        np.testing.assert_allclose(
            weighted.decision_function(X), repeated.decision_function(X), atol=1e-7
        )

    def test_balanced_equals_the_weights_it_stands_for(self):
        rows = np.r_[0:50, 50:70, 100:110]
        counts = np.bincount(y[rows])
        balanced = RobustLinearSVC(class_weight="balanced").fit(X[rows], y[rows])
        named = RobustLinearSVC(class_weight=dict(enumerate(80 / (3 * counts))))
        weighted = RobustLinearSVC().fit(X[rows], y[rows], 1.0 / counts[y[rows]])
        assert_same_model(balanced, named.fit(X[rows], y[rows]), rtol=1e-6)
        assert_same_model(balanced, weighted, rtol=1e-6)

    def test_infinite_trust_is_an_infinite_label_cost(self):
        trusted = RobustLinearSVC().fit(X, y, label_trust=np.full(150, np.inf))
        infinite = RobustLinearSVC(label_cost=np.inf).fit(X, y)
        assert trusted.objective_ == pytest.approx(infinite.objective_, rel=1e-6)

    def test_trust_scales_the_label_cost(self):
        trusting = RobustLinearSVC(label_cost=1.0).fit(X, y, label_trust=np.full(150, 2.0))
        assert trusting.objective_ == pytest.approx(
            RobustLinearSVC(label_cost=2.0).fit(X, y).objective_, rel=1e-6
        )

    def test_verified_labels_lower_the_certified_risk(self, fitted):
        trust = np.where(np.arange(150) % 2, 1.0, np.inf)
        assert RobustLinearSVC().fit(X, y, label_trust=trust).objective_ < fitted.objective_

    def test_an_untouchable_feature_lowers_the_certified_risk(self):
        free = RobustLinearSVC(label_cost=np.inf).fit(X, y)
        cost = [1.0, np.inf, 1.0, 1.0]
        held = RobustLinearSVC(label_cost=np.inf, feature_cost=cost).fit(X, y)
        assert held.objective_ < free.objective_
        assert held.worst_case_risk(X, y) == pytest.approx(held.objective_)


@pytest.mark.parametrize("label_cost", [2.0, np.inf])
def test_objective_falls_to_that_of_the_plain_loss(label_cost):
    """The softened maximum is at most smoothing * log(n_classes) too large."""
    plain = RobustLinearSVC(0.02, label_cost).fit(X, y).objective_
    found = [
        RobustLinearSVC(0.02, label_cost, smoothing=smoothing).fit(X, y).objective_
        for smoothing in (0.3, 0.1, 0.01, 1e-3)
    ]
    assert found == sorted(found, reverse=True)
    for objective, smoothing in zip(found, (0.3, 0.1, 0.01, 1e-3), strict=True):
        assert plain - 1e-6 <= objective <= plain + smoothing * np.log(3) + 1e-6


@pytest.mark.parametrize("smoothing", [0.0, 0.1])
@pytest.mark.parametrize("norm", ["l1", "l2", "linf"])
def test_with_trusted_labels_it_is_the_regularised_problem(norm, smoothing):
    """The multiplier drops out: objective = mean loss + radius * largest distance."""
    fitted = RobustLinearSVC(0.05, np.inf, norm=norm, smoothing=smoothing).fit(X, y)
    losses = fitted._loss().of_labels(fitted.decision_function(X))
    dual = {"l1": np.inf, "l2": 2, "linf": 1}[norm]
    gaps = fitted.coef_[:, None] - fitted.coef_[None]
    distance = np.linalg.norm(gaps, dual, axis=2).max()
    mean = losses[np.arange(len(y)), y].mean()
    assert fitted.objective_ == pytest.approx(mean + 0.05 * distance, rel=1e-9)
    dear = RobustLinearSVC(0.05, 1e4, norm=norm, smoothing=smoothing).fit(X, y)
    assert dear.objective_ == pytest.approx(fitted.objective_, rel=2e-6)


def test_objective_is_its_own_worst_case_risk():
    fitted = RobustLinearSVC(0.02, 2.0, smoothing=0.2).fit(X, y)
    assert fitted.worst_case_risk(X, y) == pytest.approx(fitted.objective_)
    assert fitted.solver_ == "newton"


def test_smoothing_ranks_classes_where_the_plain_loss_gives_up():
    """Where no class has half of the probability the plain optimum is constant."""
    rng = np.random.default_rng(0)
    x = rng.uniform(-1, 1, 3000)
    chance = np.column_stack([0.36 + 0.1 * x, 0.34 - 0 * x, 0.30 - 0.1 * x])
    labels = (rng.random(3000)[:, None] > chance.cumsum(axis=1)).sum(axis=1)
    smooth = RobustLinearSVC(1e-3, np.inf, smoothing=1.0).fit(x[:, None], labels)
    assert smooth.coef_[0, 0] - smooth.coef_[2, 0] > 0.1
    assert smooth.objective_ < smooth._loss().of_equal_scores(3) - 1e-3


def test_a_stream_follows_the_smooth_loss():
    stream = RobustLinearSVC(0.02, 2.0, smoothing=0.2, random_state=0)
    for _ in range(60):
        stream.partial_fit(X, y, classes=[0, 1, 2])
    fit = RobustLinearSVC(0.02, 2.0, smoothing=0.2).fit(X, y)
    assert fit.dual_bound_ <= stream.objective_ <= 1.2 * fit.objective_
