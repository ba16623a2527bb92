"""Estimators with ``label_noise="random"``: limits, invariances, guards, refusals."""

import runpy
import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_iris, load_wine
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV
from sklearn.preprocessing import scale
from sklearn.utils.estimator_checks import parametrize_with_checks

from wdrsvm import (
    DisbeliefWarning,
    RobustLinearSVC,
    RobustLinearSVCCV,
    RobustLogisticRegression,
    RobustSVC,
    audit_labels,
)
from wdrsvm.problem import LOSSES, RobustProblem, WassersteinBall
from wdrsvm.problem.label_noise import DoubtedProblem
from wdrsvm.solvers.descent_settings import DESCENT

X, TRUTH = load_iris(return_X_y=True)
X, TRUTH = scale(X)[::2], TRUTH[::2]
N = len(TRUTH)
rng = np.random.default_rng(0)
WRONG = rng.choice(N, 15, replace=False)
y = TRUTH.copy()
y[WRONG] = (y[WRONG] + rng.integers(1, 3, 15)) % 3
NAMES = np.array(["setosa", "versicolor", "virginica"])
EXAMPLES = Path(__file__).parents[3] / "examples" / "labels"
CLASSES = [RobustLinearSVC, RobustLogisticRegression, RobustSVC]
LINEAR = [RobustLinearSVC, RobustLogisticRegression]
every_estimator = pytest.mark.parametrize("estimator", CLASSES)
both_readings = pytest.mark.parametrize("disbelief", ["trim", "repair"])


def doubting(estimator, label_cost=1.0, **parameters):
    return estimator(label_cost=label_cost, label_noise="random", **parameters)


# Some checks fit noise, or weigh a class next to nothing: both deserve their warnings.
@pytest.mark.filterwarnings(
    "ignore::wdrsvm.DisbeliefWarning", "ignore::wdrsvm.RadiusWarning"
)
@parametrize_with_checks(
    [
        doubting(RobustLinearSVC, 2.0, tol=1e-4),
        doubting(RobustLogisticRegression, 2.0, disbelief="repair", tol=1e-4),
        doubting(RobustSVC, 2.0, tol=1e-4),
    ]
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@every_estimator
@both_readings
def test_most_wrong_labels_are_found(estimator, disbelief):
    model = doubting(estimator, disbelief=disbelief).fit(X, y)
    disbelieved = np.flatnonzero(model.label_belief_ < 1)
    assert len(np.intersect1d(disbelieved, WRONG)) >= 10
    assert len(np.setdiff1d(disbelieved, WRONG)) <= 5
    assert (model.suggested_labels_ == TRUTH).mean() > (y == TRUTH).mean() + 0.1
    believed = model.label_belief_ == 1
    np.testing.assert_array_equal(model.suggested_labels_[believed], y[believed])
    assert model.score(X, TRUTH) > 0.85


@every_estimator
@both_readings
def test_infinite_costs_are_the_ordinary_fit(estimator, disbelief):
    plain = estimator(label_cost=np.inf).fit(X, y)
    model = doubting(estimator, np.inf, disbelief=disbelief).fit(X, y)
    np.testing.assert_array_equal(model.decision_function(X), plain.decision_function(X))
    assert model.objective_ == plain.objective_
    assert model.dual_bound_ == plain.dual_bound_
    assert (model.label_belief_ == 1).all()
    np.testing.assert_array_equal(model.suggested_labels_, y)


@pytest.mark.parametrize("estimator", LINEAR)
@both_readings
def test_the_objective_is_the_formula(estimator, disbelief):
    model = doubting(estimator, disbelief=disbelief).fit(X, y)
    loss = LOSSES["logistic" if estimator is RobustLogisticRegression else "crammer-singer"]
    problem = RobustProblem.of(
        X, y, np.full(N, 1 / N), WassersteinBall(0.05, 1.0), 3, loss=loss
    )
    doubted = DoubtedProblem(problem, disbelief == "repair", 0.4)
    value = doubted.value(model.coef_, model.intercept_)
    assert model.objective_ == pytest.approx(value, rel=1e-6)
    assert model.dual_bound_ <= model.objective_
    assert model.duality_gap_ <= 2e-6
    assert model.objective_ < estimator(label_cost=np.inf).fit(X, y).objective_


@every_estimator
@both_readings
def test_row_order_leaves_no_trace(estimator, disbelief):
    order = rng.permutation(N)
    model = doubting(estimator, disbelief=disbelief).fit(X, y)
    mixed = clone(model).fit(X[order], y[order])
    np.testing.assert_allclose(mixed.decision_function(X), model.decision_function(X))
    np.testing.assert_array_equal(mixed.label_belief_, model.label_belief_[order])
    np.testing.assert_array_equal(mixed.suggested_labels_, model.suggested_labels_[order])


@every_estimator
@both_readings
def test_weights_are_repeated_rows(estimator, disbelief):
    times = rng.integers(0, 3, N)
    model = doubting(estimator, disbelief=disbelief)
    weighted = clone(model).fit(X, y, sample_weight=times)
    repeated = clone(model).fit(X.repeat(times, 0), y.repeat(times))
    scores = weighted.decision_function(X)
    np.testing.assert_allclose(scores, repeated.decision_function(X), atol=1e-9)
    belief = weighted.label_belief_.repeat(times)
    np.testing.assert_allclose(belief, repeated.label_belief_, atol=1e-9)
    assert (weighted.label_belief_[times == 0] == 1).all()


@pytest.mark.parametrize("estimator", LINEAR)
@both_readings
def test_a_shift_of_the_features_only_moves_the_intercept(estimator, disbelief):
    model = doubting(estimator, disbelief=disbelief).fit(X, y)
    moved = clone(model).fit(X + 3.0, y)
    np.testing.assert_allclose(moved.coef_, model.coef_, atol=2e-3)
    np.testing.assert_array_equal(moved.label_belief_, model.label_belief_)


@pytest.mark.parametrize("estimator", LINEAR)
@both_readings
def test_units_of_features_and_radius_are_the_same(estimator, disbelief):
    model = doubting(estimator, disbelief=disbelief).fit(X, y)
    scaled = doubting(estimator, radius=0.5, disbelief=disbelief).fit(10 * X, y)
    np.testing.assert_allclose(10 * scaled.coef_, model.coef_, atol=2e-3)
    assert scaled.objective_ == pytest.approx(model.objective_, rel=1e-5)


@every_estimator
def test_verified_labels_stay_believed(estimator):
    trust = np.ones(N)
    trust[WRONG[:5]] = np.inf
    model = doubting(estimator, 1.5).fit(X, y, label_trust=trust)
    assert (model.label_belief_[WRONG[:5]] == 1).all()
    assert (model.label_belief_ < 1).any()


def test_names_two_classes_and_sparse_rows():
    rows = TRUTH < 2
    labels = NAMES[np.where(rng.random(rows.sum()) < 0.1, 1 - TRUTH[rows], TRUTH[rows])]
    model = doubting(RobustLogisticRegression).fit(sparse.csr_array(X[rows]), labels)
    assert model.coef_.shape == (1, 4)
    np.testing.assert_array_equal(model.suggested_labels_, NAMES[TRUTH[rows]])


def test_a_matrix_of_costs_rules_out_confusions():
    cost = np.full((3, 3), np.inf)
    np.fill_diagonal(cost, 0.0)
    cost[1, 2] = 0.5
    model = doubting(RobustLinearSVC, cost, disbelief="repair").fit(X, y)
    disbelieved = model.label_belief_ < 1
    assert disbelieved.any()
    assert (y[disbelieved] == 1).all()
    assert (model.suggested_labels_[disbelieved] == 2).all()


class TestGuards:
    @both_readings
    def test_no_more_weight_is_disbelieved_than_allowed(self, disbelief):
        model = doubting(RobustLinearSVC, 1e-3, disbelief=disbelief, max_disbelief=0.1)
        with pytest.warns(DisbeliefWarning, match=r"max_disbelief=0.1 of the weight"):
            model.fit(X, y)
        assert (1 - model.label_belief_).mean() == pytest.approx(0.1)
        assert len(np.unique(y[model.label_belief_ == 1])) == 3

    def test_no_class_loses_all_its_rows(self):
        few = np.r_[np.flatnonzero(TRUTH == 0), 25, 26, np.flatnonzero(TRUTH == 2)]
        labels = TRUTH[few].copy()
        model = doubting(RobustLogisticRegression, 0.05, radius=2.0, max_disbelief=0.9)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model.fit(X[few], labels)
        for c in range(3):
            assert (model.label_belief_[labels == c] == 1).any()

    def test_nothing_is_disbelieved_at_zero(self):
        model = doubting(RobustLinearSVC, max_disbelief=0.0)
        with pytest.warns(DisbeliefWarning):
            model.fit(X, y)
        assert (model.label_belief_ == 1).all()

    def test_the_warning_points_at_the_call(self):
        model = doubting(RobustLinearSVC, 1e-3, max_disbelief=0.1)
        with pytest.warns(DisbeliefWarning) as caught:
            model.fit(X, y)
        assert caught[0].filename == __file__


class TestRefusals:
    @pytest.mark.parametrize(
        ("parameters", "message"),
        [
            ({"label_noise": "malice"}, "label_noise must be 'adversarial' or 'random'"),
            ({"disbelief": "ignore"}, "disbelief must be 'trim' or 'repair', got 'ignore'"),
            ({"max_disbelief": 1.0}, "max_disbelief must be a number >= 0 and < 1"),
            ({"max_disbelief": -0.1}, "max_disbelief must be a number >= 0 and < 1"),
            ({"max_disbelief": "all"}, "max_disbelief must be a number >= 0 and < 1"),
        ],
    )
    @every_estimator
    def test_bad_parameters(self, estimator, parameters, message):
        with pytest.raises(ValueError, match=message):
            estimator(**parameters).fit(X, y)

    def test_a_far_box_changes_nothing_and_a_close_one_helps(self):
        free, far, close = (
            doubting(RobustLinearSVC, norm="l1", support=box).fit(X, y).objective_
            for box in (None, (-9e3, 9e3), (X.min(axis=0), X.max(axis=0)))
        )
        assert far == pytest.approx(free, rel=1e-4)
        assert close <= free * (1 + 1e-4)

    @pytest.mark.parametrize("estimator", LINEAR)
    def test_streams(self, estimator):
        model = doubting(estimator)
        assert not hasattr(model, "partial_fit")
        assert hasattr(model.set_params(label_noise="adversarial"), "partial_fit")
        with pytest.raises(AttributeError, match="has no attribute 'partial_fit'") as info:
            _ = doubting(estimator).partial_fit
        assert "label_noise='random'" in str(info.value.__cause__)


def test_beliefs_do_not_outlive_their_fit():
    model = doubting(RobustLinearSVC).fit(X, y)
    model.set_params(label_noise="adversarial").fit(X, y)
    assert not hasattr(model, "label_belief_")
    assert not hasattr(model, "suggested_labels_")


def test_a_fit_cut_short_says_so():
    model = doubting(RobustLogisticRegression, max_iter=2)
    with pytest.warns(ConvergenceWarning, match="relative duality gap"):
        model.fit(X, y)


def test_rounds_that_have_not_settled_say_so(monkeypatch):
    monkeypatch.setattr(
        "wdrsvm.solvers.label_noise.DESCENT", replace(DESCENT, max_rounds=0)
    )
    with pytest.warns(ConvergenceWarning, match="a change of beliefs would still lower"):
        doubting(RobustLogisticRegression).fit(X, y)


def test_a_warm_start_ends_no_higher():
    model = doubting(RobustLogisticRegression, warm_start=True).fit(X, y)
    first = model.objective_
    assert model.fit(X, y).objective_ <= first * (1 + 1e-6)


def test_a_search_over_prices_takes_trust_along():
    model = doubting(RobustLogisticRegression, tol=1e-2)
    search = GridSearchCV(model, {"label_cost": [np.inf, 1.0]}, cv=3)
    search.fit(X, y, label_trust=np.ones(N))
    assert search.best_params_["label_cost"] in (np.inf, 1.0)
    assert search.best_estimator_.label_belief_.shape == (N,)


def test_the_search_along_paths_knows_prices_too():
    search = RobustLinearSVCCV([0.02, 0.1], (0.5, np.inf), cv=3, label_noise="random")
    search.set_params(tol=1e-2).fit(X, y, label_trust=np.ones(N))
    best = search.best_estimator_
    assert best.label_noise == "random"
    np.testing.assert_array_equal(search.label_belief_, best.label_belief_)


def test_audits_can_use_it():
    model = doubting(RobustLogisticRegression, tol=1e-3)
    found = audit_labels(X, y, model, n_repeats=1).row[:15]
    assert len(np.intersect1d(found, WRONG)) >= 11


def run_example(name):
    """Names that an example leaves behind."""
    pytest.importorskip("matplotlib").use("agg")
    return runpy.run_path(str(EXAMPLES / name))


def test_the_example_disbelieves_what_is_wrong():
    example = run_example("disbelieve_labels.py")
    X, truth = example["X"], example["truth"]
    assert example["doubting"].score(X, truth) >= example["believing"].score(X, truth)
    disbelieved, wrong = example["disbelieved"], example["wrong"]
    assert (disbelieved & wrong).sum() >= 0.8 * max(disbelieved.sum(), wrong.sum())


def test_the_example_of_the_recipe_is_ahead_of_logistic_regression():
    example = run_example("untrusted_labels.py")
    X, truth = example["X"], example["truth"]
    model, logistic = example["model"], example["logistic"]
    assert model.score(X, truth) >= np.mean(logistic.predict(X) == truth)
    wrong, suspects = example["wrong"], example["suspects"]
    assert len(example["found"]) >= 0.7 * len(wrong)
    assert suspects.n_suspects - len(example["found"]) <= 0.2 * len(wrong)


@pytest.mark.filterwarnings("ignore::wdrsvm.DisbeliefWarning")
@pytest.mark.parametrize(("radius", "seed"), [(0.01, 2), (0.02, 0), (0.02, 2), (0.05, 9)])
def test_more_disbelief_never_ends_higher(radius, seed):
    X, y = load_wine(return_X_y=True)
    draw = np.random.default_rng(seed)
    wrong = draw.choice(len(y), len(y) // 4, replace=False)
    y[wrong] = (y[wrong] + draw.integers(1, 3, len(wrong))) % 3
    ends = [
        RobustLinearSVC(radius, 0.5, label_noise="random", max_disbelief=limit)
        .fit(scale(X), y)
        .objective_
        for limit in (0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.6, 0.9)
    ]
    assert (np.diff(ends) <= 0).all()
