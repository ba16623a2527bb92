"""Sets of labels: what they promise is kept, whoever makes them and whatever moves."""

import pickle
import warnings

import numpy as np
import pytest
import sklearn
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.model_selection import GridSearchCV, GroupKFold, ShuffleSplit, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks

from wdrsvm import (
    RobustConformalClassifier,
    RobustLinearSVC,
    RobustSVC,
    WassersteinBall,
    worst_case_error,
)
from wdrsvm.estimators.sets.rows import splitter_of

MEANS = np.array([[0.0, 2.2], [2.0, -1.2], [-2.0, -1.2]])
BALL = WassersteinBall(0.05)
EQUAL_WEIGHTS_ONLY = {
    name: "weights that differ are refused: the promise is about rows drawn alike"
    for name in (
        "check_sample_weights_not_overwritten",
        "check_sample_weight_equivalence_on_dense_data",
        "check_sample_weight_equivalence_on_sparse_data",
    )
}


def draw(rng, n, share=None):
    y = rng.choice(3, n, p=share)
    return MEANS[y] + rng.normal(size=(n, 2)), y


@pytest.fixture(scope="module")
def fitted():
    return LogisticRegression().fit(*draw(np.random.default_rng(0), 300))


@pytest.fixture(scope="module")
def fresh():
    return draw(np.random.default_rng(1), 5000)


@pytest.fixture(scope="module")
def iris():
    return load_iris(return_X_y=True)


@pytest.mark.filterwarnings("ignore:No threshold keeps:UserWarning")
@parametrize_with_checks(
    [
        RobustConformalClassifier(
            LogisticRegression(max_iter=1000), 0.8, BALL, random_state=0
        ),
        RobustConformalClassifier(RidgeClassifier(), 0.8, BALL, cv=3, random_state=0),
    ],
    expected_failed_checks=lambda estimator: EQUAL_WEIGHTS_ONLY,
)
def test_scikit_learn_conventions(estimator, check):
    check(estimator)


@pytest.mark.parametrize(
    "ball", [BALL, WassersteinBall(0.05, 0.5), WassersteinBall(0.05, norm="linf")]
)
def test_the_promise_is_kept_in_the_worst_case_and_without_shift(ball, fitted, fresh):
    """Averages over calibrations; the worst case is that of the knapsack."""
    rng, worst, calm = np.random.default_rng(2), [], []
    for seed in range(40):
        sets = RobustConformalClassifier(
            fitted, 0.85, ball, cv="prefit", random_state=seed
        ).fit(*draw(rng, 200))
        worst.append(sets.worst_case_coverage(*fresh))
        calm.append(sets.predict_set(fresh[0])[np.arange(5000), fresh[1]].mean())
    error = np.std(worst) / np.sqrt(len(worst))
    assert np.mean(worst) >= 0.85 - 2 * error
    assert np.mean(worst) <= 0.85 + 0.03
    assert np.mean(calm) > np.mean(worst) + 0.05


def test_ordinary_split_conformal_loses_the_promise_under_shift(fitted, fresh):
    X, y = draw(np.random.default_rng(3), 500)
    plain = RobustConformalClassifier(fitted, 0.95, WassersteinBall(0.0), cv="prefit")
    plain.fit(X, y).set_params(ball=BALL)
    plain.ball_ = BALL
    assert plain.worst_case_coverage(*fresh) < 0.9


def test_the_promise_by_class_is_kept_within_each_class(fitted):
    rng, worst = np.random.default_rng(4), []
    fresh = draw(rng, 6000)
    for seed in range(30):
        rows = draw(rng, 400, [0.5, 0.35, 0.15])
        sets = RobustConformalClassifier(
            fitted, 0.85, BALL, by_class=True, cv="prefit", random_state=seed
        ).fit(*rows)
        worst.append(sets.worst_case_coverage(*fresh, by_class=True))
    worst = np.array(worst)
    assert (worst.mean(axis=0) >= 0.85 - 2 * worst.std(axis=0) / np.sqrt(30)).all()
    assert sets.threshold_.shape == sets.lambda_.shape == (3,)
    assert len(set(sets.threshold_)) == 3
    assert "if new rows of any one class from the same source move by 0.05" in (
        sets.sentence()
    )


def test_several_splits_keep_the_lesser_promise(fresh):
    rng, lost = np.random.default_rng(5), []
    X_new, y_new = fresh[0][:1000], fresh[1][:1000]
    for seed in range(20):
        sets = RobustConformalClassifier(
            RidgeClassifier(), 0.9, WassersteinBall(0.0), cv=5, random_state=seed
        ).fit(*draw(rng, 100))
        lost.append(1 - sets.predict_set(X_new)[np.arange(1000), y_new].mean())
    assert sets.promised_coverage_ == pytest.approx(1 - 0.1 * 5 / 3)
    assert np.mean(lost) <= 0.1 * 5 / 3
    assert "at most 16.7 %" in sets.sentence()
    assert sets.threshold_.shape == sets.lambda_.shape == sets.n_calibration_.shape == (5,)


@pytest.mark.parametrize(("n_splits", "share"), [(2, 0.9), (3, 0.85), (4, 1 - 0.4 / 3)])
def test_a_label_is_in_the_set_if_half_of_the_sets_hold_it(n_splits, share, iris):
    X, y = iris
    cv = ShuffleSplit(n_splits, random_state=0, test_size=0.4)
    sets = RobustConformalClassifier(LogisticRegression(max_iter=500), 0.9, BALL, cv=cv)
    sets.fit(X, y)
    assert sets.promised_coverage_ == pytest.approx(share)
    held = []
    for each, threshold in zip(sets.estimators_, sets.threshold_, strict=True):
        scores = each.decision_function(X)
        held.append(scores.max(axis=1, keepdims=True) - scores <= threshold)
    expected = np.mean(held, axis=0) >= 0.5
    predicted = sets.predict(X)
    expected[np.arange(len(X)), predicted] = True
    np.testing.assert_array_equal(sets.predict_set(X), expected)
    with pytest.raises(ValueError, match="worst_case_coverage needs cv=None"):
        sets.worst_case_coverage(X, y)
    assert not hasattr(sets, "estimator_")


def test_radius_zero_is_split_conformal_by_hand(fitted):
    X, y = draw(np.random.default_rng(6), 99)
    calm = WassersteinBall(0.0)
    sets = RobustConformalClassifier(fitted, 0.98, calm, cv="prefit").fit(X, y)
    scores = fitted.decision_function(X)
    gaps = np.sort(scores.max(axis=1) - scores[np.arange(99), y])
    assert sets.threshold_ == pytest.approx(gaps[97])
    assert gaps[96] < gaps[97]
    assert sets.n_calibration_ == 99
    assert sets.predict_set(X)[np.arange(99), y].sum() == 98
    assert sets.worst_case_coverage(X, y) == pytest.approx(98 / 99)
    assert sets.sentence() == (
        "On average over calibrations: the sets lack the label of at most 2 % of new rows "
        "from the same source."
    )


def test_thresholds_grow_with_coverage_and_radius(fitted):
    X, y = draw(np.random.default_rng(7), 300)

    def threshold(coverage, radius):
        sets = RobustConformalClassifier(
            fitted, coverage, WassersteinBall(radius), cv="prefit", multiplier=1.0
        )
        return sets.fit(X, y).threshold_

    by_coverage = [threshold(coverage, 0.05) for coverage in (0.8, 0.85, 0.9, 0.94)]
    by_radius = [threshold(0.85, radius) for radius in (0.01, 0.03, 0.06, 0.1)]
    for found in (by_coverage, by_radius):
        assert (np.diff(found) >= 0).all()
        assert found[-1] > found[0]


def test_the_worst_case_at_threshold_zero_is_that_of_errors(fitted, fresh):
    easy = RobustConformalClassifier(fitted, 0.01, BALL, cv="prefit", multiplier=1.0)
    easy.fit(*draw(np.random.default_rng(8), 200))
    assert easy.threshold_ == 0
    expected = 1 - worst_case_error(fitted, *fresh, BALL)
    assert easy.worst_case_coverage(*fresh) == pytest.approx(expected)
    np.testing.assert_array_equal(
        easy.classes_[easy.predict_set(fresh[0]).argmax(axis=1)], easy.predict(fresh[0])
    )


def test_the_multiplier_is_chosen_on_rows_that_do_not_calibrate(fitted):
    X, y = draw(np.random.default_rng(9), 100)
    sets = RobustConformalClassifier(fitted, 0.85, BALL, cv="prefit", random_state=0)
    assert sets.fit(X, y).n_calibration_ == 80
    assert sets.set_params(test_size=30).fit(X, y).n_calibration_ == 30
    assert sets.set_params(multiplier=1.2).fit(X, y).n_calibration_ == 100
    assert sets.lambda_ == 1.2
    split = RobustConformalClassifier(fitted, 0.85, BALL, random_state=0).fit(X, y)
    assert split.n_calibration_ == 50
    assert split.estimator_ is not fitted


def test_the_estimator_sees_no_calibration_row(iris):
    X, y = iris
    sets = RobustConformalClassifier(LogisticRegression(max_iter=500), 0.9, BALL)
    sets.set_params(cv=[(np.arange(0, 150, 2), np.arange(1, 150, 2))]).fit(X, y)
    alone = LogisticRegression(max_iter=500).fit(X[::2], y[::2])
    np.testing.assert_array_equal(sets.estimator_.coef_, alone.coef_)
    given = RobustConformalClassifier(
        alone, 0.9, BALL, cv="prefit", multiplier=sets.lambda_
    ).fit(X[1::2], y[1::2])
    assert given.threshold_ == sets.threshold_


def test_no_threshold_means_all_labels_and_says_so(fitted, fresh):
    X, y = draw(np.random.default_rng(10), 8)
    sets = RobustConformalClassifier(fitted, 0.9, WassersteinBall(0.0), cv="prefit")
    with pytest.warns(UserWarning, match="coverage of 0.9.*every set holds all labels"):
        sets.fit(X, y)
    assert sets.threshold_ == np.inf
    assert sets.predict_set(fresh[0]).all()
    assert sets.worst_case_coverage(*fresh) == 1
    sets.set_params(ball=BALL, multiplier=1000.0)
    with pytest.warns(UserWarning, match="so large a multiplier"):
        sets.fit(*draw(np.random.default_rng(10), 200))
    assert sets.worst_case_coverage(*fresh) == 1


def test_a_rare_class_is_in_every_set_by_class(fitted):
    X, y = draw(np.random.default_rng(11), 200)
    kept = np.append(np.flatnonzero(y != 2), np.flatnonzero(y == 2)[:1])
    sets = RobustConformalClassifier(fitted, 0.9, BALL, by_class=True, cv="prefit")
    sets.set_params(random_state=0)
    with pytest.warns(UserWarning, match=r"every set holds the labels \[2\]"):
        sets.fit(X[kept], y[kept])
    assert np.isinf(sets.threshold_).tolist() == [False, False, True]
    assert sets.predict_set(X)[:, 2].all()


def test_labels_may_be_strings_and_rows_sparse_or_in_pipelines(iris):
    X, y = iris[0], np.array(["a", "b", "c"])[iris[1]]
    model = make_pipeline(StandardScaler(with_mean=False), RidgeClassifier())
    given = {"coverage": 0.9, "ball": BALL, "random_state": 0}
    dense = RobustConformalClassifier(model, **given).fit(X, y)
    assert dense.classes_.tolist() == ["a", "b", "c"]
    rows = RobustConformalClassifier(model, **given).fit(sparse.coo_matrix(X), y)
    assert rows.threshold_ == pytest.approx(dense.threshold_)
    expected = dense.predict_set(X)
    np.testing.assert_array_equal(rows.predict_set(sparse.csr_array(X)), expected)
    assert expected[np.arange(150), dense.predict(X).astype("U1").view("i4") - 97].all()
    assert dense.n_features_in_ == 4
    assert dense.score(X, y) > 0.8


def test_kernel_models_have_their_ball_in_feature_space(iris):
    X, y = iris
    sets = RobustConformalClassifier(RobustSVC(0.02, np.inf), 0.9, random_state=0)
    sets.fit(X, y)
    assert "move by 0.02 in feature space on average" in sets.sentence()
    scores = sets.estimator_.decision_function(X)
    gaps = scores.max(axis=1, keepdims=True) - scores
    np.testing.assert_array_equal(sets.predict_set(X), gaps <= sets.threshold_)
    with pytest.raises(ValueError, match="norm must be 'l2'"):
        sets.set_params(ball=WassersteinBall(0.02, norm="l1")).fit(X, y)


def test_the_own_ball_of_an_estimator_is_the_default(iris):
    X, y = iris
    sets = RobustConformalClassifier(RobustLinearSVC(0.03, 1.5), 0.8, random_state=0)
    sets.fit(X, y)
    assert (sets.ball_.radius, sets.ball_.label_cost) == (0.03, 1.5)
    assert "move or change labels at a cost of 0.03 on average" in sets.sentence()
    with pytest.raises(TypeError, match="ball must be a WassersteinBall, or None"):
        RobustConformalClassifier(LogisticRegression(max_iter=500)).fit(X, y)
    with pytest.raises(TypeError, match=r"got 0\.1 for LogisticRegression"):
        RobustConformalClassifier(LogisticRegression(max_iter=500), ball=0.1).fit(X, y)


def test_trust_scales_label_costs_and_reaches_the_estimator(iris):
    X, y = iris
    ball = WassersteinBall(0.05, 0.3)
    given = {"cv": "prefit", "multiplier": 1.0}
    model = RobustLinearSVC(0.05).fit(X, y)
    doubted = RobustConformalClassifier(model, 0.8, ball, **given).fit(X, y)
    verified = RobustConformalClassifier(model, 0.8, ball, **given)
    verified.fit(X, y, label_trust=np.full(150, np.inf))
    trusting = RobustConformalClassifier(model, 0.8, WassersteinBall(0.05), **given)
    assert verified.threshold_ == trusting.fit(X, y).threshold_ < doubted.threshold_
    split = [(np.arange(0, 150, 2), np.arange(1, 150, 2))]
    trust = np.random.default_rng(0).uniform(0, 3, 150)
    sets = RobustConformalClassifier(RobustLinearSVC(0.05), 0.8, cv=split)
    sets.fit(X, y, label_trust=trust)
    alone = RobustLinearSVC(0.05).fit(X[::2], y[::2], label_trust=trust[::2])
    np.testing.assert_array_equal(sets.estimator_.coef_, alone.coef_)


def test_weights_must_be_zero_or_equal(fitted):
    X, y = draw(np.random.default_rng(12), 100)
    sets = RobustConformalClassifier(fitted, 0.85, BALL, cv="prefit", multiplier=1.0)
    with pytest.raises(ValueError, match="sample_weight must be 0 or the same number"):
        sets.fit(X, y, np.arange(1.0, 101.0))
    some = np.repeat([0.0, 2.0], 50)
    trust = np.linspace(0.5, 2, 100)
    sets.set_params(ball=WassersteinBall(0.05, 0.5))
    weighted = sets.fit(X, y, some, trust).threshold_
    assert sets.n_calibration_ == 50
    assert weighted == sets.fit(X[50:], y[50:], label_trust=trust[50:]).threshold_


@pytest.mark.parametrize(
    ("params", "error", "message"),
    [
        ({"coverage": 1.0}, ValueError, r"coverage must be a number in \(0, 1\), got 1.0"),
        ({"coverage": "0.9"}, ValueError, "coverage must be a number"),
        ({"by_class": "yes"}, ValueError, "by_class must be True or False"),
        ({"multiplier": -1.0}, ValueError, "multiplier must be None or a finite number"),
        ({"cv": "postfit"}, ValueError, "cv must be None, 'prefit', a number of folds"),
        ({"cv": []}, ValueError, "cv must make one split at least"),
        ({"cv": "prefit"}, NotFittedError, "not fitted"),
        ({"estimator": DecisionTreeClassifier()}, TypeError, "classifier must be linear"),
        ({"estimator": SVC(kernel="linear")}, ValueError, "decide by the scores"),
        (
            {"by_class": True, "ball": WassersteinBall(0.1, 2.0)},
            ValueError,
            "by_class=True needs a ball with label_cost=inf",
        ),
    ],
)
def test_what_has_no_meaning_is_refused(params, error, message, iris):
    sets = RobustConformalClassifier(LogisticRegression(max_iter=500), 0.9, BALL)
    with pytest.raises(error, match=message):
        sets.set_params(**params).fit(*iris)
    assert not hasattr(sets, "classes_")


def test_classes_that_a_split_hides_are_refused(iris):
    X, y = iris
    hidden = [(np.arange(100), np.arange(100, 150))]
    sets = RobustConformalClassifier(LogisticRegression(max_iter=500), 0.9, BALL, cv=hidden)
    with pytest.raises(ValueError, match="the split leaves it none of class 2"):
        sets.fit(X, y)
    uneven = [(np.arange(100), np.arange(50)), (np.arange(150), np.arange(50))]
    with pytest.raises(ValueError, match="cv must leave rows of the same classes"):
        sets.set_params(cv=uneven).fit(X, y)
    with pytest.raises(TypeError, match=r"unexpected arguments \['speed'\]"):
        sets.fit(X, y, speed=3)


def test_splits_are_random_and_by_class_stratified(iris):
    X, y = iris
    sets = RobustConformalClassifier(
        LogisticRegression(max_iter=500), 0.8, BALL, by_class=True, random_state=0
    ).fit(X, y)
    again = clone(sets).fit(X, y)
    np.testing.assert_array_equal(sets.threshold_, again.threshold_)
    other = clone(sets).set_params(random_state=1).fit(X, y)
    assert (sets.threshold_ != other.threshold_).any()
    _, calibrating = next(splitter_of(sets, y).split(X, y))
    assert np.bincount(y[calibrating]).tolist() == [25, 25, 25]
    alike = clone(sets).set_params(by_class=False)
    _, calibrating = next(splitter_of(alike, y).split(X, y))
    assert np.bincount(y[calibrating]).tolist() != [25, 25, 25]
    folds = clone(sets).set_params(cv=3, coverage=0.7).fit(X, y)
    assert folds.threshold_.shape == (3, 3)
    same = clone(folds).set_params(cv=StratifiedKFold(3, shuffle=True, random_state=0))
    np.testing.assert_array_equal(same.fit(X, y).threshold_, folds.threshold_)


def test_groups_and_routed_metadata_reach_splitter_and_estimator(iris):
    X, y = iris
    groups, trust = np.arange(150) % 5, np.random.default_rng(0).uniform(0, 3, 150)
    sets = RobustConformalClassifier(RobustLinearSVC(), 0.8, BALL, cv=GroupKFold(5))
    thresholds = sets.fit(X, y, groups=groups).threshold_
    assert thresholds.shape == (5,)
    with sklearn.config_context(enable_metadata_routing=True):
        asking = RobustLinearSVC().set_fit_request(label_trust=True)
        routed = clone(sets).set_params(estimator=asking)
        routed.fit(X, y, label_trust=trust, groups=groups)
    plain = clone(sets).fit(X, y, label_trust=trust, groups=groups)
    np.testing.assert_array_equal(routed.threshold_, plain.threshold_)
    assert (plain.threshold_ != thresholds).any()


def test_frozen_searched_and_pickled(fitted, fresh, iris):
    X, y = draw(np.random.default_rng(13), 200)
    frozen = RobustConformalClassifier(FrozenEstimator(fitted), 0.85, BALL, random_state=0)
    sets = clone(frozen).fit(X, y)
    np.testing.assert_array_equal(sets.predict(X), fitted.predict(X))
    again = pickle.loads(pickle.dumps(sets))
    np.testing.assert_array_equal(again.predict_set(X), sets.predict_set(X))
    assert b"conformal" not in pickle.dumps(sets).lower().replace(
        b"robustconformalclassifier", b""
    )
    search = GridSearchCV(
        RobustConformalClassifier(LogisticRegression(), 0.8, BALL, random_state=0),
        {"estimator__C": [0.1, 1.0]},
        cv=2,
    ).fit(X, y)
    assert search.best_estimator_.predict_set(X).shape == (200, 3)


def test_nothing_given_is_changed(iris):
    X, y = iris[0].copy(), iris[1].copy()
    estimator, trust = LogisticRegression(max_iter=500), np.ones(150)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        RobustConformalClassifier(estimator, 0.9, BALL).fit(X, y, label_trust=trust)
    assert not hasattr(estimator, "coef_")
    np.testing.assert_array_equal(X, iris[0])
    np.testing.assert_array_equal(y, iris[1])
    np.testing.assert_array_equal(trust, np.ones(150))
