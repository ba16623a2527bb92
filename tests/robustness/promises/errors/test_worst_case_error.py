"""The worst-case error against a linear program, attacks, and other ways to give rows."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, PolynomialFeatures, StandardScaler
from sklearn.svm import SVC

from wdrsvm import (
    RobustLinearSVC,
    RobustOneVsRestSVC,
    RobustSVC,
    WassersteinBall,
    certified_radius,
    error_curve,
    worst_case_error,
)
from wdrsvm.robustness.promises.errors.worst_case_error import (
    _check_confidence,
    wording_of,
)

from ..error_cases import (
    NORMS,
    error_by_program,
    error_case,
    is_wrong,
    label_costs,
    weights_of,
)

X, y = load_iris(return_X_y=True)
BALL = WassersteinBall(0.1, 0.7)
WEIGHT = np.arange(150.0) % 4
TRUST = np.random.default_rng(0).choice([0.1, 1.0, np.inf], 150)
ORDER = {"l1": 1, "l2": 2, "linf": np.inf}


@pytest.fixture(scope="module")
def plain():
    return LogisticRegression(max_iter=1000).fit(X, y)


@pytest.mark.parametrize("seed", range(240))
def test_equals_a_linear_program_over_atoms(seed):
    case = error_case(seed)
    found = worst_case_error(case.classifier, case.X, case.y, case.ball, **case.options)
    assert found == pytest.approx(error_by_program(case), abs=1e-9)


def test_the_cases_are_of_all_kinds():
    cases = [error_case(seed) for seed in range(240)]
    scores = [case.classifier.scores(case.X) for case in cases]
    tied = [(np.sort(s)[:, -1] == np.sort(s)[:, -2]).any() for s in scores]
    wrong = [
        (s.argmax(axis=1) != case.y).any() for s, case in zip(scores, cases, strict=True)
    ]
    assert min(sum(tied), sum(wrong)) > 40
    costs = [case.ball.label_cost for case in cases]
    for cost in (0.0, np.inf):
        assert sum(np.ndim(each) == 0 and each == cost for each in costs) > 20
    assert sum(np.ndim(each) == 2 for each in costs) > 20
    assert sum(len(case.classifier.coef_) == 1 for case in cases) > 10
    assert sum(case.ball.radius == 0 for case in cases) > 20


def direction(norm, slope, price, rng):
    """A random step, or the steepest one, of cost 1."""
    movable = np.isfinite(price)
    step, scaled = np.zeros(len(slope)), slope[movable] / price[movable]
    if not scaled.any() or rng.random() < 0.3:
        step[movable] = rng.normal(size=movable.sum())
    elif norm == "l1":
        step[np.flatnonzero(movable)[np.abs(scaled).argmax()]] = np.sign(
            scaled[np.abs(scaled).argmax()]
        )
    else:
        step[movable] = (np.sign(scaled) if norm == "linf" else scaled) / price[movable]
    length = np.linalg.norm(step[movable] * price[movable], ORDER[norm])
    return step / length if length > 0 else step


def attacked(case, rng):
    """Rows moved or relabelled in a random order while the budget lasts, one atom a row."""
    scores, slopes = case.classifier.scores(case.X), case.classifier.slopes()
    flips, weight = label_costs(case), weights_of(case)
    price = case.ball.feature_cost
    price = np.ones(case.X.shape[1]) if price is None else np.asarray(price)
    left, moved, labels = case.ball.radius, case.X.copy(), case.y.copy()
    for n in rng.permutation(np.flatnonzero(weight)):
        own, rival = case.y[n], rng.integers(len(slopes))
        step = direction(case.ball.norm, slopes[rival] - slopes[own], price, rng)
        gain = (slopes[rival] - slopes[own]) @ step
        gap = scores[n, own] - scores[n, rival]
        way = (1 + 1e-9) * gap / gain if gain > 0 else rng.exponential()
        if weight[n] * flips[n, rival] <= left and rng.random() < 0.4:
            labels[n], left = rival, left - weight[n] * flips[n, rival]
        elif 0 < way * weight[n] <= left:
            moved[n], left = moved[n] + way * step, left - way * weight[n]
    scores = case.classifier.scores(moved)
    return weight @ [is_wrong(scores[n], labels[n]) for n in range(len(labels))]


@pytest.mark.parametrize("seed", range(40))
def test_no_attack_within_the_budget_does_worse(seed):
    case, rng = error_case(seed), np.random.default_rng(seed)
    bound = worst_case_error(case.classifier, case.X, case.y, case.ball, **case.options)
    worst = max(attacked(case, rng) for _ in range(50))
    assert worst <= bound + 1e-12


def test_without_a_budget_it_is_the_plain_error_with_ties_as_errors(plain):
    ball = WassersteinBall(0.0)
    assert worst_case_error(plain, X, y, ball) == pytest.approx(1 - plain.score(X, y))
    constant = RidgeClassifier().fit(X, y)
    constant.coef_, constant.intercept_ = np.zeros((3, 4)), np.zeros(3)
    assert worst_case_error(constant, X, y, ball) == 1
    constant.intercept_ = np.array([0.0, 1.0, 1.0])
    assert worst_case_error(constant, X, y, ball) == 1
    constant.intercept_ = np.array([0.0, 2.0, 1.0])
    assert worst_case_error(constant, X, y, WassersteinBall(9.0)) == pytest.approx(2 / 3)


@pytest.mark.parametrize("norm", NORMS)
def test_it_follows_from_certified_radii(plain, norm):
    ball = WassersteinBall(0.1, norm=norm)
    radii = certified_radius(plain, X, norm)
    radii[plain.predict(X) != y] = 0.0
    radii.sort()
    whole = np.searchsorted(np.cumsum(radii) / 150, 0.1)
    part = (0.1 - radii[:whole].sum() / 150) / radii[whole]
    assert worst_case_error(plain, X, y, ball) == pytest.approx(whole / 150 + part)


def test_a_pipeline_is_judged_in_the_space_of_its_last_step():
    pipeline = make_pipeline(StandardScaler(), PolynomialFeatures(2), MinMaxScaler())
    last = LogisticRegression(max_iter=2000)
    model = make_pipeline(pipeline, last).fit(X, y)
    expected = worst_case_error(last, pipeline.transform(X), y, BALL)
    assert worst_case_error(model, X, y, BALL) == pytest.approx(expected, rel=1e-12)


def test_rows_of_any_kind_give_the_same(plain, tmp_path, monkeypatch):
    """Blocks are made small enough to matter."""
    pandas = pytest.importorskip("pandas")
    given = {"sample_weight": WEIGHT, "label_trust": TRUST}
    expected = worst_case_error(plain, X, y, BALL, **given)
    monkeypatch.setattr("wdrsvm.rows.blocks.BLOCK_ENTRIES", 28)
    np.save(tmp_path / "rows.npy", X)
    mapped = np.load(tmp_path / "rows.npy", mmap_mode="r")
    named = LogisticRegression(max_iter=1000).fit(
        pandas.DataFrame(X, columns=list("abcd")), y
    )
    kinds = [X, X.tolist(), np.asfortranarray(X), mapped, sparse.csr_array(X)]
    kinds += [sparse.coo_array(X), sparse.csc_matrix(X)]
    for rows in kinds:
        found = worst_case_error(plain, rows, y, BALL, **given)
        assert found == pytest.approx(expected, rel=1e-12)
    frame = pandas.DataFrame(X, columns=list("abcd"))
    assert worst_case_error(named, frame, y, BALL, **given) == pytest.approx(expected)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("radius", [0.0, 0.01, 0.1, 5.0])
def test_chunks_elsewhere_give_the_same(plain, weighted, radius):
    da = pytest.importorskip("dask.array")
    given = {"sample_weight": WEIGHT, "label_trust": TRUST} if weighted else {}
    for ball in (WassersteinBall(radius, 0.7), WassersteinBall(radius, norm="l1")):
        expected = worst_case_error(plain, X, y, ball, **given)
        rows = da.from_array(X, chunks=(40, 4))
        found = worst_case_error(plain, rows, y, ball, **given)
        assert found == pytest.approx(expected, abs=1e-12)
        curve = error_curve(plain, rows, y, ball, **given)
        assert curve.at(radius) == pytest.approx(expected, abs=1e-12)


def test_float32_rows_are_read_as_float64(plain):
    narrow = X.astype(np.float32)
    expected = worst_case_error(plain, narrow.astype(np.float64), y, BALL)
    assert worst_case_error(plain, narrow, y, BALL) == expected


def test_nothing_given_is_changed(plain):
    given = [X.copy(), y.copy(), WEIGHT.copy(), TRUST.copy()]
    error_curve(plain, *given[:2], BALL, sample_weight=given[2], label_trust=given[3])
    for before, after in zip([X, y, WEIGHT, TRUST], given, strict=True):
        np.testing.assert_array_equal(before, after)


def test_estimators_use_their_own_ball():
    for kind in (RobustLinearSVC, RobustOneVsRestSVC):
        model = kind(radius=0.07, label_cost=0.9, norm="l1").fit(X, y)
        ball = WassersteinBall(0.07, 0.9, "l1")
        given = {"sample_weight": WEIGHT, "label_trust": TRUST}
        expected = worst_case_error(model, X, y, ball, **given)
        assert model.worst_case_error(X, y, **given) == expected
        assert model.error_curve(X, y, **given).at(0.07) == expected


def test_a_kernel_model_is_judged_in_its_feature_space():
    model = RobustSVC(radius=0.05, label_cost=np.inf, gamma=0.3).fit(X, y)
    features, scores = model.linear_form(X)
    linear = RidgeClassifier().fit(features, y)
    linear.coef_, linear.intercept_ = scores.coef, scores.intercept
    expected = worst_case_error(linear, features, y, WassersteinBall(0.05))
    assert model.worst_case_error(X, y) == pytest.approx(expected)
    curve = error_curve(model, X, y, WassersteinBall(0.05))
    assert "in feature space" in curve.sentence()


@pytest.mark.parametrize("norm", NORMS)
def test_moving_inputs_of_a_kernel_model_has_an_upper_bound(norm):
    model = RobustSVC(radius=0.05, label_cost=np.inf, gamma=0.3).fit(X, y)
    ball = WassersteinBall(0.1, norm=norm)
    bound = worst_case_error(model, X, y, ball, space="inputs")
    radii = np.where(model.predict(X) == y, certified_radius(model, X, norm), 0.0)
    expected = np.interp(
        0.1, np.append(0, np.cumsum(np.sort(radii)) / 150), np.arange(151) / 150
    )
    assert bound == pytest.approx(expected, abs=1e-9)
    rng = np.random.default_rng(0)
    for _ in range(20):
        step = rng.normal(size=X.shape)
        length = np.linalg.norm(step, ORDER[norm], axis=1).mean()
        assert np.mean(model.predict(X + step * 0.1 / length) != y) <= bound
    assert "feature space" not in error_curve(model, X, y, ball, space="inputs").sentence()
    flips = WassersteinBall(0.1, 0.01, norm)
    assert worst_case_error(model, X, y, flips, space="inputs") > bound


def test_the_spaces_of_a_linear_model_are_one(plain):
    assert worst_case_error(plain, X, y, BALL, space="inputs") == worst_case_error(
        plain, X, y, BALL
    )


@pytest.mark.parametrize(
    ("call", "match"),
    [
        (
            lambda m: worst_case_error(m, X, y, BALL, space="nowhere"),
            "space must be one of",
        ),
        (lambda m: worst_case_error(m, X[:, :2], y, BALL), "X has 2 features"),
        (lambda m: worst_case_error(m, X, y + 1, BALL), "labels that the classifier does"),
        (lambda m: worst_case_error(m, X, y[1:], BALL), "inconsistent numbers"),
        (lambda m: worst_case_error(m, X[:0], y[:0], BALL), "minimum of 1"),
        (lambda m: error_curve(m, X, y, BALL, confidence=1.0), "confidence must be"),
        (lambda m: error_curve(m, X, y, BALL, confidence="0.9"), "confidence must be"),
        (
            lambda m: error_curve(m, X, y, BALL, confidence=0.9, sample_weight=WEIGHT),
            "sample_weight must be None",
        ),
        (lambda m: worst_case_error(m, X * np.nan, y, BALL), "NaN"),
    ],
)
def test_refusals_name_the_argument(plain, call, match):
    with pytest.raises(ValueError, match=match):
        call(plain)


def test_classifiers_that_are_not_linear_are_refused():
    with pytest.raises(TypeError, match="must be linear"):
        worst_case_error(KNeighborsClassifier().fit(X, y), X, y, BALL)
    machine = SVC(kernel="linear", decision_function_shape="ovo").fit(X, y)
    with pytest.raises(ValueError, match="must decide by the scores"):
        worst_case_error(machine, X, y, BALL)
    kernel = RobustSVC().fit(X, y)
    with pytest.raises(ValueError, match="norm must be 'l2'"):
        worst_case_error(kernel, X, y, WassersteinBall(0.1, norm="l1"))
    ball = WassersteinBall(0.1, feature_cost=np.ones(4))
    with pytest.raises(ValueError, match="feature_cost"):
        worst_case_error(kernel, X, y, ball, space="inputs")


def test_kernel_models_and_dask_do_not_meet():
    da = pytest.importorskip("dask.array")
    rows = da.from_array(X, chunks=(50, 4))
    with pytest.raises(TypeError, match="in memory for a kernel"):
        worst_case_error(RobustSVC().fit(X, y), rows, y, BALL)


@pytest.mark.parametrize(
    ("labels_stay", "confidence", "who", "how"),
    [
        (True, None, "these rows", "move by {radius:g}"),
        (
            False,
            0.9,
            "new rows from the same source",
            "move or change labels at a cost of {radius:g}",
        ),
    ],
)
def test_promises_in_words(plain, labels_stay, confidence, who, how):
    kernel = RobustSVC().fit(X[::10], y[::10])
    for model, space, where in (
        (plain, "features", ""),
        (kernel, "features", " in feature space"),
        (kernel, "inputs", ""),
    ):
        told = wording_of(model, labels_stay, confidence, space)
        assert (told.who, told.how) == (who, f"{how}{where} on average")


def test_a_confidence_is_at_least_one_half():
    for right in (None, 0.5, 0.9, np.float64(0.99)):
        _check_confidence(right)
    for wrong in (0.49, 1, 1.0, -0.5, "0.9", np.nan):
        with pytest.raises(
            ValueError, match=r"confidence must be None or a number in \[0.5"
        ):
            _check_confidence(wrong)
