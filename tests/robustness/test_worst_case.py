"""The closed form of the worst-case risk against definitions and brute force."""

import itertools

import numpy as np
import pytest
from scipy import sparse
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import (
    LogisticRegression,
    Perceptron,
    RidgeClassifier,
    SGDClassifier,
)
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC

from wdrsvm import WassersteinBall, worst_case_risk

DUAL_ORDER = {"l1": np.inf, "l2": 2, "linf": 1}
CLASSIFIERS = [
    LinearDiscriminantAnalysis(),
    LinearSVC(),
    LinearSVC(fit_intercept=False),
    LogisticRegression(),
    Perceptron(),
    RidgeClassifier(),
    SGDClassifier(random_state=0),
]


def data_of(n_classes, n_rows=40, n_features=3, seed=0):
    rng = np.random.default_rng(seed)
    y = np.arange(n_rows) % n_classes
    return rng.normal(size=(n_rows, n_features)) + y[:, None], y


def losses_by_hand(scores):
    """Crammer-Singer loss of every label, from its definition."""
    n_classes = scores.shape[1]
    off = 1.0 - np.eye(n_classes)
    return np.stack(
        [(scores + off[c]).max(axis=1) - scores[:, c] for c in range(n_classes)], axis=1
    )


def risk_by_hand(scores, y, cost, modulus, radius, weight):
    """min over lam of F, which is piecewise linear: try every kink."""
    losses = losses_by_hand(scores)
    rows = np.arange(len(y))
    finite = np.isfinite(cost) & (cost > 0)
    kinks = [
        (losses[n, a] - losses[n, b]) / (cost[n, a] - cost[n, b])
        for n, a, b in itertools.product(rows, *[range(scores.shape[1])] * 2)
        if np.isfinite(cost[n, [a, b]]).all() and cost[n, a] > cost[n, b]
    ]
    priced = np.where(finite, cost, 0.0)
    impossible = np.isinf(cost)

    def value(lam):
        pieces = np.where(impossible, -np.inf, losses - lam * priced)
        return radius * lam + weight @ pieces.max(axis=1)

    return min(value(lam) for lam in [modulus, *(k for k in kinks if k > modulus)])


def modulus_of(coef, norm):
    pairs = itertools.combinations(range(len(coef)), 2)
    return max(np.linalg.norm(coef[i] - coef[j], DUAL_ORDER[norm]) for i, j in pairs)


@pytest.mark.parametrize("classifier", CLASSIFIERS, ids=lambda c: type(c).__name__)
@pytest.mark.parametrize("norm", ["l1", "l2", "linf"])
def test_equals_brute_force_for_scikit_learns_classifiers(classifier, norm):
    X, y = data_of(3)
    classifier.fit(X, y)
    scores = X @ classifier.coef_.T + classifier.intercept_
    label_cost = np.array([[0.0, 0.5, np.inf], [1.0, 0.0, 2.0], [0.0, 0.1, 0.0]])
    expected = risk_by_hand(
        scores,
        y,
        label_cost[y],
        modulus_of(classifier.coef_, norm),
        0.3,
        np.full(len(y), 1 / len(y)),
    )
    found = worst_case_risk(classifier, X, y, WassersteinBall(0.3, label_cost, norm))
    assert found == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("norm", ["l1", "l2", "linf"])
def test_two_classes_are_the_regularised_hinge(norm):
    X, y = data_of(2)
    classifier = LinearSVC().fit(X, y)
    hinge = np.maximum(0, 1 - (2 * y - 1) * classifier.decision_function(X)).mean()
    slope = np.linalg.norm(classifier.coef_[0], DUAL_ORDER[norm])
    found = worst_case_risk(classifier, X, y, WassersteinBall(0.2, norm=norm))
    assert found == pytest.approx(hinge + 0.2 * slope)


def test_two_classes_of_the_logistic_loss():
    X, y = data_of(2)
    classifier = LogisticRegression().fit(X, y)
    margins = (2 * y - 1) * classifier.decision_function(X)
    found = worst_case_risk(classifier, X, y, WassersteinBall(0.0), loss="logistic")
    assert found == pytest.approx(np.log1p(np.exp(-margins)).mean())


@pytest.mark.parametrize("seed", range(5))
def test_no_distribution_in_the_ball_is_worse(seed):
    rng = np.random.default_rng(seed)
    X, y = data_of(3, seed=seed)
    classifier = LogisticRegression().fit(X, y)
    moved = X + rng.normal(scale=0.3, size=X.shape)
    flipped = np.where(rng.random(len(y)) < 0.2, rng.integers(0, 3, len(y)), y)
    cost = np.linalg.norm(moved - X, axis=1) + 0.7 * (flipped != y)
    losses = losses_by_hand(moved @ classifier.coef_.T + classifier.intercept_)
    bound = worst_case_risk(classifier, X, y, WassersteinBall(cost.mean(), 0.7))
    assert losses[np.arange(len(y)), flipped].mean() <= bound


def test_grows_with_the_radius_and_falls_with_the_label_cost():
    X, y = data_of(4)
    classifier = LogisticRegression().fit(X, y)
    by_radius = [
        worst_case_risk(classifier, X, y, WassersteinBall(r, 1.0)) for r in (0, 0.1, 1, 10)
    ]
    by_cost = [
        worst_case_risk(classifier, X, y, WassersteinBall(0.1, k))
        for k in (0, 0.1, 1, np.inf)
    ]
    assert (np.diff(by_radius) > 0).all()
    assert (np.diff(by_cost) <= 0).all()
    assert by_cost[0] > by_cost[-1]


def test_weights_are_repeated_rows():
    X, y = data_of(3)
    classifier = LogisticRegression().fit(X, y)
    ball = WassersteinBall(0.2, 0.5)
    times = np.random.default_rng(0).integers(0, 4, len(y))
    weighted = worst_case_risk(classifier, X, y, ball, sample_weight=times)
    repeated = worst_case_risk(classifier, X.repeat(times, 0), y.repeat(times), ball)
    assert weighted == pytest.approx(repeated)


def test_infinite_trust_is_an_infinite_label_cost():
    X, y = data_of(3)
    classifier = LogisticRegression().fit(X, y)
    trusted = worst_case_risk(
        classifier, X, y, WassersteinBall(0.2, 0.5), label_trust=np.full(len(y), np.inf)
    )
    assert trusted == worst_case_risk(classifier, X, y, WassersteinBall(0.2))


def test_sparse_and_dense_agree():
    X, y = data_of(3)
    classifier = LogisticRegression().fit(X, y)
    ball = WassersteinBall(0.2, 0.5)
    dense = worst_case_risk(classifier, X, y, ball)
    for convert in (sparse.csr_array, sparse.csc_matrix, sparse.coo_array):
        assert worst_case_risk(classifier, convert(X), y, ball) == pytest.approx(dense)


def test_a_pipeline_is_its_last_step_on_what_the_others_give():
    X, y = data_of(3)
    pipeline = make_pipeline(StandardScaler(), LogisticRegression()).fit(X, y)
    ball = WassersteinBall(0.2, 0.5)
    inner = worst_case_risk(pipeline[-1], pipeline[:-1].transform(X), y, ball)
    assert worst_case_risk(pipeline, X, y, ball) == inner


def test_a_sparse_coefficient_matrix_is_read():
    X, y = data_of(3)
    classifier = LogisticRegression().fit(X, y)
    ball = WassersteinBall(0.2, 0.5)
    dense = worst_case_risk(classifier, X, y, ball)
    assert worst_case_risk(classifier.sparsify(), X, y, ball) == pytest.approx(dense)


def test_string_labels_that_lack_a_class():
    X, y = data_of(3)
    names = np.array(["ash", "birch", "cedar"])[y]
    classifier = LogisticRegression().fit(X, names)
    ball = WassersteinBall(0.2)
    named = worst_case_risk(classifier, X[y > 0], names[y > 0], ball)
    coded = worst_case_risk(LogisticRegression().fit(X, y), X[y > 0], y[y > 0], ball)
    assert named == pytest.approx(coded)


def test_the_answer_is_a_plain_float():
    X, y = data_of(2)
    assert type(worst_case_risk(LinearSVC().fit(X, y), X, y, WassersteinBall(0.1))) is float


class TestErrors:
    X, y = data_of(3)
    ball = WassersteinBall(0.1)
    classifier = LogisticRegression().fit(X, y)

    def test_unknown_label(self):
        with pytest.raises(ValueError, match=r"does not know: \[7\]; its classes are"):
            worst_case_risk(self.classifier, self.X, np.where(self.y, self.y, 7), self.ball)

    def test_unfitted(self):
        with pytest.raises(NotFittedError):
            worst_case_risk(LogisticRegression(), self.X, self.y, self.ball)

    def test_not_linear(self):
        neighbours = KNeighborsClassifier().fit(self.X, self.y)
        with pytest.raises(TypeError, match="classifier must be linear"):
            worst_case_risk(neighbours, self.X, self.y, self.ball)

    def test_one_vs_one(self):
        machine = SVC(kernel="linear").fit(self.X, self.y)
        with pytest.raises(ValueError, match="decision_function of SVC differs"):
            worst_case_risk(machine, self.X, self.y, self.ball)

    def test_one_vs_one_with_more_rows_than_classes(self):
        X, y = data_of(4)
        machine = SVC(kernel="linear").fit(X, y)
        with pytest.raises(ValueError, match="one row of coef_ for each of its 4 classes"):
            worst_case_risk(machine, X, y, self.ball)

    def test_wrong_number_of_features(self):
        with pytest.raises(
            ValueError, match="X has 2 features, but the classifier expects 3"
        ):
            worst_case_risk(self.classifier, self.X[:, :2], self.y, self.ball)

    def test_lengths_differ(self):
        with pytest.raises(ValueError, match="inconsistent numbers of samples"):
            worst_case_risk(self.classifier, self.X, self.y[:-1], self.ball)

    def test_unknown_loss(self):
        with pytest.raises(ValueError, match="loss must be one of 'crammer-singer'"):
            worst_case_risk(self.classifier, self.X, self.y, self.ball, loss="hinge")

    @pytest.mark.parametrize(
        ("name", "value", "message"),
        [
            ("sample_weight", np.ones(3), "sample_weight must have shape"),
            ("sample_weight", np.full(40, -1.0), "sample_weight must be >= 0"),
            ("sample_weight", np.zeros(40), "sample_weight must not be zero"),
            ("sample_weight", np.full(40, np.nan), "sample_weight contains NaN"),
            ("label_trust", np.ones(3), "label_trust must have shape"),
            ("label_trust", np.full(40, -1.0), "label_trust must be >= 0"),
            ("label_trust", np.full(40, np.nan), "label_trust must be >= 0"),
        ],
    )
    def test_bad_column(self, name, value, message):
        with pytest.raises(ValueError, match=message):
            worst_case_risk(self.classifier, self.X, self.y, self.ball, **{name: value})
