"""Estimators with ``loss="ramp"``: what they promise, refuse, and leave behind."""

import pickle
import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris, load_wine
from sklearn.preprocessing import scale
from sklearn.utils.estimator_checks import parametrize_with_checks

from wdrsvm import (
    RadiusWarning,
    RobustLinearSVC,
    RobustLinearSVCCV,
    RobustLogisticRegression,
    RobustSVC,
    RobustSVCCV,
    load_model,
    save_model,
    worst_case_error,
)

X, y = load_iris(return_X_y=True)
X, y = scale(X)[::2], y[::2]
N = len(y)
rng = np.random.default_rng(0)
WEIGHT = rng.exponential(size=N)
TRUST = rng.choice([0.3, 1.0, np.inf], N)
COSTS = np.array([[0.0, 1.0, np.inf], [0.5, 0.0, 2.0], [4.0, 0.7, 0.0]])
both = pytest.mark.parametrize("estimator", [RobustLinearSVC, RobustSVC])


# Some checks fit noise, where a constant classifier is best.
@pytest.mark.filterwarnings("ignore::wdrsvm.RadiusWarning")
@parametrize_with_checks(
    [
        RobustLinearSVC(loss="ramp"),
        RobustLinearSVC(label_cost=np.inf, norm="l1", loss="ramp"),
        RobustSVC(loss="ramp"),
    ]
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.mark.parametrize("trust", [None, TRUST], ids=["equal trust", "trust"])
@pytest.mark.parametrize("weight", [None, WEIGHT], ids=["equal rows", "weights"])
@pytest.mark.parametrize("cost", [np.inf, 0.7, COSTS], ids=["trusted", "number", "matrix"])
@pytest.mark.parametrize(
    ("estimator", "options"),
    [
        *(
            (RobustLinearSVC, {"norm": norm, "radius": 0.1})
            for norm in ("l1", "l2", "linf")
        ),
        (RobustLinearSVC, {"feature_cost": [1.0, 2.0, np.inf, 0.5], "radius": 0.1}),
        (RobustLinearSVC, {"class_weight": {0: 1, 1: 3, 2: 0.5}, "fit_intercept": False}),
        (RobustSVC, {"radius": 0.03}),
        (RobustSVC, {"lipschitz": "triangle", "n_components": 20, "radius": 0.03}),
    ],
)
def test_the_objective_bounds_the_exact_error(estimator, options, cost, weight, trust):
    model = estimator(label_cost=cost, loss="ramp", **options)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RadiusWarning)
        model.fit(X, y, weight, trust)
    assert model.dual_bound_ <= model.objective_
    assert model.objective_ >= model.worst_case_error_
    weight = np.ones(N) if weight is None else weight
    if "class_weight" in options:
        weight = weight * np.array([1, 3, 0.5])[y]
    error = worst_case_error(
        model, X, y, model._ball(), sample_weight=weight, label_trust=trust
    )
    assert model.worst_case_error_ == pytest.approx(error, abs=1e-9)


@both
@pytest.mark.parametrize("cost", [np.inf, 1.0])
def test_two_classes_have_the_bound_exactly(estimator, cost):
    rows = y > 0
    model = estimator(0.1, cost, loss="ramp").fit(X[rows], y[rows])
    assert model.objective_ == pytest.approx(model.worst_case_error_, abs=1e-12)
    assert model.objective_ < 0.52


def test_it_withstands_more_than_the_hinge():
    """On average: where rows left out speak for the convex fit, that is the result."""
    X, y = load_wine(return_X_y=True)
    X, gains = scale(X)[:, :5], []
    for seed in range(4):
        labels = y.copy()
        wrong = np.random.default_rng(seed).choice(len(y), 15, replace=False)
        labels[wrong] = (y[wrong] + 1) % 3
        ramp = RobustLinearSVC(0.1, loss="ramp").fit(X, labels)
        hinge = RobustLinearSVC(0.1).fit(X, labels)
        gains.append(hinge.worst_case_error(X, labels) - ramp.worst_case_error_)
    assert min(gains) > -1e-9
    assert np.mean(gains) > 0.01


@both
def test_without_a_budget_it_is_the_ramp_loss(estimator):
    model = estimator(0.0, loss="ramp").fit(X, y)
    lead = np.sort(model.decision_function(X), axis=1)
    lead = np.where(model.predict(X) == y, lead[:, -1] - lead[:, -2], -1.0)
    assert model.objective_ == pytest.approx(np.clip(1 - lead, 0, 1).mean(), abs=1e-6)
    assert model.worst_case_error_ == pytest.approx((model.predict(X) != y).mean())


@both
def test_the_same_rows_give_the_same_model(estimator):
    model = estimator(0.05, loss="ramp").fit(X, y)
    order = rng.permutation(N)
    again = clone(model).fit(X[order], y[order])
    np.testing.assert_array_equal(again.decision_function(X), model.decision_function(X))
    assert again.objective_ == model.objective_


@both
def test_hinge_and_crammer_singer_are_one_loss(estimator):
    one, other = (estimator(loss=loss).fit(X, y) for loss in ("hinge", "crammer-singer"))
    np.testing.assert_array_equal(one.decision_function(X), other.decision_function(X))
    assert not hasattr(one, "worst_case_error_")


@both
def test_pickles_and_files_keep_it(estimator, tmp_path):
    pytest.importorskip("skops")
    model = estimator(loss="ramp").fit(X, y)
    copies = [
        pickle.loads(pickle.dumps(model)),
        load_model(save_model(model, tmp_path / "m")),
    ]
    for copy in copies:
        assert copy.loss == "ramp"
        assert copy.worst_case_error_ == model.worst_case_error_
        np.testing.assert_array_equal(copy.predict(X), model.predict(X))


@both
def test_models_from_before_there_was_a_choice_have_the_hinge(estimator):
    state = estimator().fit(X, y).__getstate__()
    del state["loss"]
    old = estimator.__new__(estimator)
    old.__setstate__(state)
    assert clone(old).loss == "hinge"


@pytest.mark.parametrize("search", [RobustLinearSVCCV, RobustSVCCV])
def test_searches_choose_among_such_fits(search):
    found = search([0.02, 0.1], (np.inf,), cv=3, loss="ramp").fit(X, y)
    assert found.best_estimator_.loss == "ramp"
    assert found.worst_case_error_ <= found.objective_
    assert not found.cv_results_["constant"].all()


def test_an_error_does_not_outlive_its_fit():
    model = RobustLinearSVC(loss="ramp").fit(X, y)
    assert not hasattr(model.set_params(loss="hinge").fit(X, y), "worst_case_error_")
    model.set_params(loss="ramp").fit(X, y)
    model.set_params(loss="hinge").partial_fit(X, y)
    assert not hasattr(model, "worst_case_error_")


def test_a_constant_classifier_is_told():
    with pytest.warns(RadiusWarning, match="more than a constant one") as caught:
        model = RobustLinearSVC(50.0, np.inf, loss="ramp").fit(X, y)
    assert caught[0].filename == __file__
    assert not model.coef_.any()
    assert model.objective_ == pytest.approx(2 / 3)
    assert model.dual_bound_ == pytest.approx(2 / 3)


def test_a_fit_cut_short_says_so():
    with pytest.warns(UserWarning, match="relative duality gap") as caught:
        RobustLinearSVC(loss="ramp", max_iter=1).fit(X, y)
    assert caught[0].filename == __file__


class TestRefusals:
    @both
    @pytest.mark.parametrize("loss", ["logistic", None, 1])
    def test_other_losses(self, estimator, loss):
        message = "loss must be one of 'hinge', 'crammer-singer', 'ramp', got"
        with pytest.raises(ValueError, match=message):
            estimator(loss=loss).fit(X, y)

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            ({"smoothing": 0.1}, r"loss='ramp' knows no smoothing, got smoothing=0.1"),
            ({"label_noise": "random"}, "loss='ramp' knows no label_noise='random'"),
        ],
    )
    def test_combinations(self, options, message):
        with pytest.raises(ValueError, match=message):
            RobustLinearSVC(loss="ramp", norm="l1", **options).fit(X, y)

    def test_dask(self):
        da = pytest.importorskip("dask.array")
        with pytest.raises(ValueError, match="loss='ramp' needs all rows in memory"):
            RobustLinearSVC(loss="ramp").fit(da.from_array(X), da.from_array(y))

    def test_streams(self):
        model = RobustLinearSVC(loss="ramp")
        assert not hasattr(model, "partial_fit")
        with pytest.raises(AttributeError) as info:
            _ = model.partial_fit
        assert "partial_fit knows no loss='ramp'" in str(info.value.__cause__)
        assert hasattr(model.set_params(loss="hinge"), "partial_fit")
        assert hasattr(RobustLogisticRegression(), "partial_fit")
