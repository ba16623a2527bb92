"""What must hold of every fitted estimator, whatever the data and the parameters."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone

from wdrsvm import (
    RobustLinearSVC,
    RobustLinearSVCCV,
    RobustLogisticRegression,
    RobustOneVsRestSVC,
    RobustSVC,
    RobustSVCCV,
    audit_labels,
    robust_path,
    worst_case_risk,
)
from wdrsvm.problem import WassersteinBall

from .drawn import (
    ORDER,
    Data,
    balls,
    converged,
    data_sets,
    examples,
    linear_form,
    losses,
    norms,
    quiet,
    worst_case,
)

CLOSE = 1e-9
LOSSES = {
    RobustLinearSVC: {},
    RobustLogisticRegression: {"temperature": 1.0, "margin": 0.0},
}


def close(value, rel=1e-7, **options):
    return pytest.approx(value, rel=rel, abs=CLOSE, **options)


def fitted(model, data):
    with quiet() as caught:
        model.fit(data.X, data.y, **data.fit_options)
    assert_certified(model, caught)
    return model


def assert_certified(model, caught):
    """A gap within the tolerance, or a warning that names it."""
    gap = model.objective_ - model.dual_bound_
    assert gap == model.duality_gap_
    assert gap >= -CLOSE * max(1.0, model.objective_)
    assert gap <= model.tol * max(model.objective_, 1e-2) + CLOSE or not converged(caught)
    assert np.isfinite(model.objective_)


def assert_same_optimum(one, other):
    """Two brackets of one number meet."""
    slack = CLOSE * max(1.0, one.objective_)
    assert one.dual_bound_ <= other.objective_ + slack
    assert other.dual_bound_ <= one.objective_ + slack


@examples(20)
@given(st.data(), data_sets(), st.sampled_from(list(LOSSES)), st.booleans())
def test_the_certificate_is_true(drawn, data, kind, fit_intercept):
    ball = drawn.draw(balls(data))
    model = fitted(kind(**ball, fit_intercept=fit_intercept), data)
    coef, intercept = linear_form(model)
    if ball["feature_cost"] is None or np.isfinite(ball["feature_cost"]).all():
        assert (np.abs(intercept) <= (np.inf if fit_intercept else 0.0)).all()
    risk = worst_case(coef, intercept, data, ball, **LOSSES[kind])
    assert model.objective_ == close(risk)
    assert model.worst_case_risk(data.X, data.y, **data.fit_options) == close(risk)
    # No classifier, near or far, has a lower risk than the bound.
    for size in (1e-3, 0.1, 1.0):
        other = coef + size * data.rng.normal(size=coef.shape)
        shift = size * data.rng.normal(size=intercept.shape) * fit_intercept
        risk = worst_case(other, intercept + shift, data, ball, **LOSSES[kind])
        assert model.dual_bound_ <= risk + CLOSE * max(1.0, risk)


@examples(14)
@given(st.data(), data_sets(), st.sampled_from(list(LOSSES)))
def test_the_worst_case_distribution_is_in_the_ball_and_attains_the_risk(drawn, data, kind):
    ball = drawn.draw(balls(data))
    model = fitted(kind(**ball), data)
    tail = drawn.draw(st.sampled_from([1e-3, 1e-6]))
    worst = model.worst_case_distribution(
        data.X, data.y, tail_mass=tail, **data.fit_options
    )
    assert (worst.weight >= 0).all()
    sums = np.bincount(worst.source, worst.weight, len(data.y))
    np.testing.assert_allclose(sums, data.shares, atol=1e-12)
    assert transport_cost(worst, data, ball) <= ball["radius"] * (1 + 1e-9) + 1e-12
    table = losses(
        worst.X @ linear_form(model)[0].T + linear_form(model)[1], **LOSSES[kind]
    )
    codes = np.searchsorted(model.classes_, worst.y)
    risk = worst.weight @ table[np.arange(len(codes)), codes]
    assert worst.risk == close(risk)
    assert worst.supremum == close(model.objective_)
    assert risk <= model.objective_ * (1 + 1e-7) + CLOSE
    # What a tail of this mass can be short of: its own losses, and flips that it pays for.
    scale = 1 + np.abs(table).max() + float(np.max(np.abs(model.lambda_))) * 60
    assert risk >= model.objective_ - 10 * tail * scale - 1e-7


def transport_cost(worst, data, ball):
    moved = worst.X - data.X[worst.source]
    cost = 1.0 if ball["feature_cost"] is None else ball["feature_cost"]
    with np.errstate(invalid="ignore"):
        scaled = np.where(moved == 0, 0.0, np.abs(moved) * cost)
    way = np.linalg.norm(scaled, ORDER[ball["norm"]], axis=1)
    given_label = data.y[worst.source]
    label_cost = np.asarray(ball["label_cost"], dtype=float)
    price = label_cost[given_label, worst.y] if label_cost.ndim else label_cost
    price = np.broadcast_to(price, way.shape)
    if data.trust is not None:
        with np.errstate(invalid="ignore"):
            price = price * data.trust[worst.source]
    price = np.where(worst.y == given_label, 0.0, price)
    held = worst.weight > 0
    return float(worst.weight[held] @ (way + price)[held])


@examples(14)
@given(st.data(), data_sets(weighted=False))
def test_predictions_follow_from_scores_and_hold_within_the_certified_radius(drawn, data):
    ball = drawn.draw(balls(data))
    model = fitted(RobustLinearSVC(**ball), data)
    scores = model.decision_function(data.X)
    codes = (scores > 0).astype(int) if scores.ndim == 1 else scores.argmax(axis=1)
    np.testing.assert_array_equal(model.predict(data.X), model.classes_[codes])
    np.testing.assert_array_equal(np.unique(data.y), model.classes_)
    radius = model.certified_radius(data.X)
    assert (radius >= 0).all()
    cost = (
        np.ones(data.X.shape[1]) if ball["feature_cost"] is None else ball["feature_cost"]
    )
    way = np.where(np.isinf(cost), 0.0, data.rng.normal(size=data.X.shape))
    length, direction = np.linalg.norm(way, ORDER[ball["norm"]], axis=1), way / cost
    step = 0.999 * np.minimum(radius, 1e6) / np.where(length > 0, length, 1.0)
    far = data.X + step[:, None] * direction
    # What is left of the lead must be more than the rounding of scores.
    least = 1e-12 * (1.0 + np.abs(model.decision_function(far)).max())
    sure = (radius > 1e-9) & (1e-3 * lead_of(scores) > least)
    np.testing.assert_array_equal(model.predict(far)[sure], model.predict(data.X)[sure])


def lead_of(scores):
    """By how much the highest score is ahead of the next."""
    if scores.ndim == 1:
        return np.abs(scores)
    highest = np.sort(scores, axis=1)
    return highest[:, -1] - highest[:, -2]


@examples(9)
@given(st.data(), data_sets())
def test_orders_and_names_do_not_matter(drawn, data):
    ball = drawn.draw(balls(data, matrices=False))
    model = fitted(RobustLinearSVC(**ball), data)
    rows = data.rng.permutation(len(data.y))
    columns = data.rng.permutation(data.X.shape[1])
    names = data.rng.permutation(["ash", "birch", "elm", "oak"])
    other = data.taken(rows)
    other.X, other.y = other.X[:, columns], names[other.y]
    cost = ball["feature_cost"]
    renamed = ball | {"feature_cost": None if cost is None else cost[columns]}
    assert_same_optimum(model, fitted(RobustLinearSVC(**renamed), other))


@examples(9)
@given(st.data(), data_sets(), st.sampled_from([1e-3, 0.5, 40.0, 1e4]))
def test_units_do_not_matter(drawn, data, factor):
    ball = drawn.draw(balls(data))
    model = fitted(RobustLinearSVC(**ball), data)
    scaled = Data(factor * data.X, data.y, data.weight, data.trust, data.rng)
    units = {name: factor * ball[name] for name in ("radius", "label_cost")}
    assert_same_optimum(model, fitted(RobustLinearSVC(**ball | units), scaled))


@examples(9)
@given(st.data(), data_sets(), st.sampled_from(list(LOSSES)))
def test_weights_are_repetitions(drawn, data, kind):
    ball = drawn.draw(balls(data))
    if data.weight is None:
        data.weight = data.rng.integers(1, 3, len(data.y)).astype(float)
    model = fitted(kind(**ball), data)
    repeated = data.taken(np.repeat(np.arange(len(data.y)), data.weight.astype(int)))
    repeated.weight = None
    other = fitted(kind(**ball), repeated)
    assert_same_optimum(model, other)
    scores = model.decision_function(data.X), other.decision_function(data.X)
    np.testing.assert_allclose(*scores, rtol=1e-7, atol=1e-7)


@examples(9)
@given(st.data(), data_sets(), st.floats(1.0, 5.0))
def test_more_budget_or_cheaper_labels_never_lower_the_risk(drawn, data, factor):
    ball = drawn.draw(balls(data, matrices=False))
    model = fitted(RobustLinearSVC(**ball), data)
    for harder in (
        ball | {"radius": ball["radius"] * factor},
        ball | {"label_cost": ball["label_cost"] / factor},
    ):
        other = fitted(RobustLinearSVC(**harder), data)
        assert model.dual_bound_ <= other.objective_ + CLOSE


@examples(6)
@given(
    st.data(), data_sets(), norms, st.lists(st.floats(1e-4, 2.0), min_size=1, max_size=3)
)
def test_paths_agree_with_fits(drawn, data, norm, radii):
    costs = drawn.draw(
        st.lists(st.sampled_from([0.5, 2.0, np.inf]), min_size=1, unique=True)
    )
    with quiet() as caught:
        path = robust_path(data.X, data.y, radii, costs, norm=norm, **data.fit_options)
    assert path.objective.shape == (len(radii), len(costs))
    for i, radius in enumerate(radii):
        for j, cost in enumerate(costs):
            model = fitted(RobustLinearSVC(radius, cost, norm=norm), data)
            ball = {
                "radius": radius,
                "label_cost": cost,
                "norm": norm,
                "feature_cost": None,
            }
            risk = worst_case(path.coef[i, j], path.intercept[i, j], data, ball)
            assert path.objective[i, j] == close(risk)
            slack = CLOSE * max(1.0, risk)
            assert path.dual_bound[i, j] <= model.objective_ + slack
            assert model.dual_bound_ <= path.objective[i, j] + slack
            gap = path.objective[i, j] - path.dual_bound[i, j]
            assert gap <= 1e-6 * max(risk, 1e-2) + CLOSE or not converged(caught)


@examples(6)
@given(
    st.data(), data_sets(weighted=False), st.sampled_from(["rbf", "laplacian", "linear"])
)
def test_kernel_machines(drawn, data, kernel):
    ball = drawn.draw(balls(data, feature_costs=False)) | {"norm": "l2"}
    # Without a budget, functions may be so steep that rounding decides: a fit warns.
    ball["radius"] = max(ball["radius"], 1e-2)
    given_ball = {name: ball[name] for name in ("radius", "label_cost")}
    model = fitted(RobustSVC(**given_ball, kernel=kernel), data)
    scores = model.decision_function(data.X)
    codes = (scores > 0).astype(int) if scores.ndim == 1 else scores.argmax(axis=1)
    np.testing.assert_array_equal(model.predict(data.X), codes)
    assert model.worst_case_risk(data.X, data.y) == close(model.objective_, rel=1e-5)
    assert (model.certified_radius(data.X) >= 0).all()
    if kernel == "linear":
        assert_same_optimum(model, fitted(RobustLinearSVC(**ball), data))
    else:
        paper = fitted(RobustSVC(**given_ball, kernel=kernel, lipschitz="triangle"), data)
        assert paper.objective_ >= model.dual_bound_ - CLOSE


@examples(6)
@given(st.data(), data_sets())
def test_probabilities(drawn, data):
    ball = drawn.draw(balls(data))
    model = fitted(RobustLogisticRegression(**ball), data)
    shares = model.predict_proba(data.X)
    np.testing.assert_allclose(shares.sum(axis=1), 1.0)
    assert (shares >= 0).all()
    best = shares.max(axis=1) > np.sort(shares, axis=1)[:, -2] + 1e-9
    predicted = model.classes_[shares.argmax(axis=1)]
    np.testing.assert_array_equal(predicted[best], model.predict(data.X)[best])


@examples(6)
@given(st.data(), data_sets(), st.sampled_from(["trim", "repair"]))
def test_doubted_labels(drawn, data, disbelief):
    ball = drawn.draw(balls(data, feature_costs=False))
    share = drawn.draw(st.sampled_from([0.0, 0.2, 0.4]))
    model = RobustLinearSVC(
        **ball, label_noise="random", disbelief=disbelief, max_disbelief=share
    )
    with quiet():
        model.fit(data.X, data.y, **data.fit_options)
    belief = model.label_belief_
    assert ((belief >= 0) & (belief <= 1)).all()
    assert data.shares @ (1 - belief) <= share + 1e-9
    changed = model.suggested_labels_ != data.y
    assert (belief[changed] < 1).all()
    assert np.isin(model.suggested_labels_, model.classes_).all()
    assert model.objective_ >= 0


@examples(6)
@given(st.data(), data_sets(weighted=False), st.sampled_from(["linear", "rbf"]))
def test_one_against_the_rest(drawn, data, kernel):
    ball = drawn.draw(balls(data, matrices=False, feature_costs=False))
    norm = ball["norm"] if kernel == "linear" else "l2"
    model = RobustOneVsRestSVC(**ball | {"norm": norm}, kernel=kernel)
    with quiet():
        model.fit(data.X, data.y)
    scores = model.decision_function(data.X)
    codes = (scores > 0).astype(int) if scores.ndim == 1 else scores.argmax(axis=1)
    np.testing.assert_array_equal(model.predict(data.X), model.classes_[codes])


@examples(5)
@given(data_sets(n_classes=2), st.sampled_from([RobustLinearSVCCV, RobustSVCCV]))
def test_searches_refit_what_they_chose(data, kind):
    data = data.taken(np.tile(np.arange(len(data.y)), 2))
    options = {} if kind is RobustSVCCV else {"norm": "l1"}
    search = kind(radii=[0.3, 0.01], label_costs=[1.0, np.inf], cv=2, **options)
    with quiet():
        search.fit(data.X, data.y, **data.fit_options)
        chosen = clone(search.best_estimator_).fit(data.X, data.y, **data.fit_options)
    assert search.radius_ in (0.3, 0.01)
    assert search.label_cost_ in (1.0, np.inf)
    assert len(search.cv_results_["mean_test_score"]) == 4
    assert search.best_score_ == search.cv_results_["mean_test_score"].max()
    assert_same_optimum(search.best_estimator_, chosen)
    np.testing.assert_array_equal(
        search.predict(data.X), search.best_estimator_.predict(data.X)
    )


@examples(5)
@given(data_sets(weighted=False, n_classes=2))
def test_audits_are_sorted_and_name_every_row_once(data):
    data = data.taken(np.tile(np.arange(len(data.y)), 3))
    with quiet():
        audit = audit_labels(data.X, data.y)
    np.testing.assert_array_equal(np.sort(audit.row), np.arange(len(data.y)))
    np.testing.assert_array_equal(audit.given, data.y[audit.row])
    assert (np.diff(audit.gain) <= 0).all()


@examples(9)
@given(st.data(), data_sets())
def test_any_linear_classifier_can_be_judged(drawn, data):
    from ..robustness.cases import FixedScores

    ball = drawn.draw(balls(data))
    n_classes = len(np.unique(data.y))
    coef = data.rng.normal(size=(n_classes, data.X.shape[1]))
    intercept = data.rng.normal(size=n_classes)
    classifier = FixedScores(coef, intercept)
    if n_classes == 2:
        classifier.coef_, classifier.intercept_ = np.diff(coef, axis=0), np.diff(intercept)
    found = worst_case_risk(
        classifier, data.X, data.y, WassersteinBall(**ball), **data.fit_options
    )
    assert found == close(worst_case(coef, intercept, data, ball))
