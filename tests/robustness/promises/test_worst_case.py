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
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC

from wdrsvm import (
    RobustSVC,
    WassersteinBall,
    certified_radius,
    worst_case_error,
    worst_case_risk,
)
from wdrsvm.problem import LOSSES
from wdrsvm.robustness.promises.worst_case import (
    LinearFeatures,
    LinearScores,
    _check_scores,
    judged_classifier,
    judged_lazily,
    last_step,
    linear_scores,
)

from ..cases import CODES, FEATURES, FixedScores

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


def test_a_search_of_scikit_learn_stands_for_its_choice():
    steps = make_pipeline(StandardScaler(), LogisticRegression())
    searches = [
        GridSearchCV(steps, {"logisticregression__C": [0.1, 1.0]}, cv=2),
        make_pipeline(
            StandardScaler(), GridSearchCV(LogisticRegression(), {"C": [0.1, 1.0]}, cv=2)
        ),
    ]
    for search in searches:
        search.fit(FEATURES, CODES)
        last = search[-1] if hasattr(search, "steps") else search
        chosen = last.best_estimator_
        rows = search[0].transform(FEATURES) if last is not search else FEATURES
        ball = WassersteinBall(0.1, 1.0)
        for promise in (worst_case_risk, worst_case_error):
            told = promise(search, FEATURES, CODES, ball)
            assert told == promise(chosen, rows, CODES, ball)
        np.testing.assert_array_equal(
            certified_radius(search, FEATURES), certified_radius(chosen, rows)
        )


def test_a_search_without_a_choice_is_told_what_it_lacks():
    search = GridSearchCV(LogisticRegression(), {"C": [1.0]}, cv=2, refit=False)
    with pytest.raises(TypeError, match="; fit the search with refit=True"):
        worst_case_risk(search.fit(FEATURES, CODES), FEATURES, CODES, WassersteinBall(0.1))
    unfitted = GridSearchCV(LogisticRegression(), {"C": [1.0]})
    with pytest.raises(NotFittedError):
        worst_case_risk(unfitted, FEATURES, CODES, WassersteinBall(0.1))


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
        with pytest.raises(NotFittedError) as caught:
            worst_case_risk(LogisticRegression(), self.X, self.y, self.ball)
        assert "refit" not in str(caught.value)

    def test_not_linear(self):
        neighbours = KNeighborsClassifier().fit(self.X, self.y)
        with pytest.raises(TypeError, match="classifier must be linear") as caught:
            worst_case_risk(neighbours, self.X, self.y, self.ball)
        assert str(caught.value).endswith("has no coef_ and no intercept_.")

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


TOY_X = np.array([[1.0, 0.0], [0.0, 2.0], [3.0, 4.0], [1.0, 1.0]])
TOY_Y = np.array([0, 1, 2, 1])
TOY = FixedScores(np.array([[1.0, 0.0], [0.0, 1.0], [-1.0, -1.0]]), np.array([0.5, 0, 1]))
TOY_WEIGHT, TOY_TRUST = np.array([1.0, 2.0, 0.0, 1.0]), np.array([1.0, np.inf, 2.0, 0.5])


def lazy(values):
    da = pytest.importorskip("dask.array")
    return da.from_array(values, chunks=((1, 0, 3), *values.shape[1:]))


class Doubled(StandardScaler):
    """A step that doubles, whatever it was fitted to."""

    def transform(self, X):
        return 2 * X


def doubled(steps, last=TOY):
    pipeline = make_pipeline(*[Doubled() for _ in range(steps)], last)
    return pipeline.fit(TOY_X, TOY_Y)


@pytest.mark.parametrize("loss", ["crammer-singer", "logistic"])
def test_a_classifier_is_judged_by_the_problem_it_is_given(loss):
    ball = WassersteinBall(0.2, 0.5, "l1")
    columns = TOY_WEIGHT, TOY_TRUST
    scores, problem = judged_classifier(TOY, TOY_X, TOY_Y, ball, loss, *columns)
    assert problem.ball is ball
    assert problem.loss is LOSSES[loss]
    assert problem.label_trust.tolist() == TOY_TRUST.tolist()
    assert problem.weight.tolist() == [0.25, 0.5, 0.0, 0.25]
    assert (problem.n_classes, problem.lipschitz, scores.lipschitz) == (3, "exact", "exact")
    np.testing.assert_array_equal(problem.X, TOY_X)
    tight = LinearScores(*scores[:3], lipschitz="triangle")
    judged = judged_classifier(tight, TOY_X, TOY_Y, ball, loss, None, None)
    assert judged.problem.lipschitz == "triangle"


@pytest.mark.parametrize("with_trust", [True, False])
@pytest.mark.parametrize("steps", [0, 1, 2])
@pytest.mark.parametrize("loss", ["crammer-singer", "logistic"])
def test_lazy_rows_have_the_risk_of_rows_in_memory(loss, steps, with_trust):
    classifier = doubled(steps) if steps else TOY
    ball = WassersteinBall(0.2, 0.5)
    options = {"loss": loss, "sample_weight": TOY_WEIGHT}
    if with_trust:
        options["label_trust"] = TOY_TRUST
    expected = worst_case_risk(classifier, TOY_X, TOY_Y, ball, **options)
    found = worst_case_risk(classifier, lazy(TOY_X), lazy(TOY_Y), ball, **options)
    assert found == pytest.approx(expected, rel=1e-12)


def test_a_lazy_problem_knows_whether_there_is_trust():
    given = (TOY, lazy(TOY_X), TOY_Y, WassersteinBall(0.2, 0.5), "logistic", None)
    assert not judged_lazily(*given, None).problem.rows.with_trust
    problem = judged_lazily(*given, TOY_TRUST).problem
    assert problem.rows.with_trust
    assert problem.is_distributed
    assert problem.n_classes == 3
    assert problem.loss is LOSSES["logistic"]


class OfKernel(FixedScores):
    """A kernel model, as its interface goes."""

    def linear_form(self, X):
        return 2 * X, linear_scores(TOY)


def test_a_kernel_model_is_judged_in_its_own_space():
    model = OfKernel(TOY.coef_, TOY.intercept_)
    ball = WassersteinBall(0.2, 0.5)
    expected = worst_case_risk(TOY, 2 * TOY_X, TOY_Y, ball)
    assert worst_case_risk(model, TOY_X, TOY_Y, ball) == pytest.approx(expected)
    with pytest.raises(ValueError, match="norm must be 'l2'"):
        worst_case_risk(model, TOY_X, TOY_Y, WassersteinBall(0.2, 0.5, "l1"))
    for steps in (1, 2):
        with pytest.raises(TypeError, match="X must be in memory for a kernel model"):
            worst_case_risk(doubled(steps, model), lazy(TOY_X), TOY_Y, ball)


def test_features_of_no_rows_are_as_wide_as_the_others():
    check = LinearFeatures(doubled(1), linear_scores(TOY))
    assert check(TOY_X[:0]).shape == (0, 2)
    np.testing.assert_array_equal(check(TOY_X[:1]), 2 * TOY_X[:1])


def test_pipelines_in_pipelines_are_followed_to_their_last_step():
    nested = make_pipeline(Doubled(), doubled(2)).fit(TOY_X, TOY_Y)
    features, last = last_step(TOY_X, nested)
    np.testing.assert_array_equal(features, 8 * TOY_X)
    assert last is TOY


def test_scores_of_classifiers_of_all_forms():
    scores = linear_scores(TOY)
    assert linear_scores(scores) is scores
    two = FixedScores(np.array([[2.0, 4.0]]), np.array([1.0]))
    two.classes_ = ["no", "yes"]
    found = linear_scores(two)
    assert found.coef.tolist() == [[-1.0, -2.0], [1.0, 2.0]]
    assert found.intercept.tolist() == [-0.5, 0.5]
    assert found.classes.tolist() == ["no", "yes"]
    two.coef_ = sparse.csr_matrix([[2, 4]])
    assert linear_scores(two).coef.tolist() == found.coef.tolist()
    one = FixedScores([1, 2], 3)
    one.classes_ = np.array([7])
    found = linear_scores(one)
    assert found.coef.tolist() == [[1.0, 2.0]]
    assert found.coef.dtype == found.intercept.dtype == np.float64
    assert found.intercept.tolist() == [3.0]
    pair = FixedScores(np.eye(2), 0.0)
    assert linear_scores(pair).coef.tolist() == [[1.0, 0.0], [0.0, 1.0]]
    assert linear_scores(pair).intercept.tolist() == [0.0, 0.0]


class Decided:
    def __init__(self, decision):
        self.decision = np.asarray(decision)

    def decision_function(self, X):
        return self.decision


def test_decisions_may_differ_from_scores_by_rounding_alone():
    scores = np.array([[100.0, 0.0, 1.0], [-5.0, 2.0, 3.0]])
    _check_scores(object(), TOY_X, scores)
    _check_scores(Decided(scores * (1 + 0.9e-4)), TOY_X, scores)
    _check_scores(Decided(scores + 0.9e-4), TOY_X, scores)
    _check_scores(Decided(scores[:, 1] - scores[:, 0]), TOY_X, scores[:, :2])
    for wrong in (
        scores * (1 + 2.1e-4),
        scores + np.array([0, 3e-4, 0]),
        scores[:, :2],
        scores[:, 0],
    ):
        with pytest.raises(ValueError, match="decision_function of Decided differs"):
            _check_scores(Decided(wrong), TOY_X, scores)


def test_balls_of_kernels_have_no_shape():
    model = RobustSVC().fit(FEATURES, CODES)
    with pytest.raises(ValueError, match="norm must be 'l2', and feature_cost, support"):
        worst_case_risk(model, FEATURES, CODES, WassersteinBall(0.1, norm="l1"))


def test_two_classes_are_judged_by_one_decision():
    """Scores -d/2 and d/2 of a decision d: one that differs from it is refused."""
    model = LogisticRegression().fit(FEATURES, CODES > 0)
    assert worst_case_risk(model, FEATURES, CODES > 0, WassersteinBall(0.0)) > 0
    model.intercept_ = model.intercept_ + 1.0
    moved = worst_case_risk(model, FEATURES, CODES > 0, WassersteinBall(0.0))
    assert moved == pytest.approx(hinge(model))


def hinge(model):
    sign = np.where(CODES > 0, 1.0, -1.0)
    return np.maximum(0.0, 1.0 - sign * model.decision_function(FEATURES)).mean()
