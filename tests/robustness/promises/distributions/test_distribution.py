"""Worst-case distributions against the definitions of cost, loss and ball."""

import sys

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from scipy.optimize import linprog
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from wdrsvm import (
    RobustLinearSVC,
    RobustLogisticRegression,
    RobustSVC,
    WassersteinBall,
    worst_case_distribution,
    worst_case_risk,
)
from wdrsvm.robustness.promises.worst_case import LinearScores, linear_scores

from ...cases import CALM_KERNELS, IRIS, ORDER, SPECIES, FixedScores, random_case


def loss_by_hand(classifier, X, y, loss):
    scores = X @ classifier.coef_.T + classifier.intercept_
    own = scores[np.arange(len(y)), y]
    if loss == "logistic":
        return np.log(np.exp(scores - scores.max(1, keepdims=True)).sum(1)) + (
            scores.max(1) - own
        )
    rivals = scores + 1.0
    rivals[np.arange(len(y)), y] -= 1.0
    return rivals.max(axis=1) - own


def distance_by_hand(ball, moved):
    """Transport cost of a movement; infinite where it touches what it must not."""
    price = np.where(moved == 0, 0.0, ball.feature_cost)
    return np.linalg.norm(np.where(moved == 0, 0.0, moved) * price, ORDER[ball.norm])


def label_price(case, n, label):
    """Cost of giving row n a label; an impossible confusion stays impossible."""
    y, trust = case.y[n], case.options["label_trust"][n]
    if label == y:
        return 0.0
    price = case.ball.label_cost[y, label]
    return np.inf if np.isinf(trust) or np.isinf(price) else trust * price


def cost_by_hand(case, worst):
    """Sum of mass times (norm of movement + trust times label cost)."""
    atoms = zip(worst.X, worst.y, worst.weight, worst.source, strict=True)
    return sum(
        weight * (distance_by_hand(case.ball, x - case.X[n]) + label_price(case, n, label))
        for x, label, weight, n in atoms
    )


@pytest.mark.parametrize("seed", range(240))
def test_in_the_ball_and_nearly_the_supremum(seed):
    case = random_case(seed)
    worst = worst_case_distribution(
        case.classifier,
        case.X,
        case.y,
        case.ball,
        tail_mass=1e-7,
        loss=case.loss,
        **case.options,
    )
    supremum = worst_case_risk(
        case.classifier, case.X, case.y, case.ball, loss=case.loss, **case.options
    )
    weight = case.options["sample_weight"]
    by_source = np.bincount(worst.source, worst.weight, len(case.y))
    np.testing.assert_allclose(by_source, weight / weight.sum(), rtol=0, atol=1e-15)
    assert (worst.weight > 0).all()
    cost = cost_by_hand(case, worst)
    assert cost == pytest.approx(worst.transport_cost, rel=1e-12)
    assert cost <= case.ball.radius * (1 + 1e-9)
    losses = loss_by_hand(case.classifier, worst.X, worst.y, case.loss)
    risk = worst.weight @ losses
    assert risk == pytest.approx(worst.risk, rel=1e-12)
    assert supremum * (1 - 1e-3) <= risk <= supremum * (1 + 1e-12)
    assert worst.supremum == supremum


@pytest.mark.parametrize("seed", range(12))
def test_a_linear_program_over_a_grid_of_atoms_agrees(seed):
    """All plans from few rows to many places, near and far, with every label."""
    case = random_case(seed)
    case.X, case.y = case.X[:4], case.y[:4]
    case.options = {name: column[:4] for name, column in case.options.items()}
    worst = worst_case_distribution(
        case.classifier, case.X, case.y, case.ball, tail_mass=1e-6, **case.options
    )
    rng = np.random.default_rng(seed)
    touchable = np.isfinite(case.ball.feature_cost)
    steps = np.where(touchable, rng.normal(size=(20, case.X.shape[1])), 0.0)
    places = np.vstack([case.X, worst.X, *(case.X + step for step in steps)])
    value = largest_expected_loss(case, places)
    assert value >= worst.risk * (1 - 1e-9)
    assert value <= worst.supremum * (1 + 1e-9)


def largest_expected_loss(case, places):
    """max of sum pi loss over plans pi >= 0 from the rows to (place, label)."""
    n_classes = len(case.classifier.coef_)
    labels = np.tile(np.arange(n_classes), len(places))
    losses = loss_by_hand(
        case.classifier, places.repeat(n_classes, 0), labels, "crammer-singer"
    )
    cost = [
        [
            distance_by_hand(case.ball, place - x) + label_price(case, n, label)
            for place in places
            for label in range(n_classes)
        ]
        for n, x in enumerate(case.X)
    ]
    row, target = np.nonzero(np.isfinite(cost))
    weight = case.options["sample_weight"]
    plan = linprog(
        -losses[target],
        A_ub=np.array(cost)[row, target][None],
        b_ub=[case.ball.radius],
        A_eq=(row == np.arange(len(case.X))[:, None]).astype(float),
        b_eq=weight / weight.sum(),
    )
    assert plan.status == 0, plan.message
    return -plan.fun


def iris_like(n_classes=3, n_rows=60, seed=0):
    rng = np.random.default_rng(seed)
    y = np.arange(n_rows) % n_classes
    return rng.normal(size=(n_rows, 3)) + y[:, None], y


def test_the_estimators_method_uses_its_own_ball():
    X, y = iris_like()
    classifier = RobustLinearSVC(0.05, norm="l1").fit(X, y)
    worst = classifier.worst_case_distribution(X, y, tail_mass=1e-8)
    assert worst.supremum == pytest.approx(classifier.objective_)
    assert worst.risk == pytest.approx(classifier.objective_, rel=1e-6)
    assert worst.transport_cost <= 0.05 * (1 + 1e-9)


@pytest.mark.parametrize(
    "classifier",
    [RobustLogisticRegression(0.05, 1.0), RobustLinearSVC(0.05, 1.0, smoothing=0.5)],
)
def test_the_estimators_method_uses_its_own_loss(classifier):
    X, y = iris_like()
    classifier.fit(X, y)
    worst = classifier.worst_case_distribution(X, y, tail_mass=1e-8)
    risk = classifier.worst_case_risk(X, y)
    assert worst.supremum == pytest.approx(risk, rel=1e-12)
    assert (1 - 1e-3) * risk <= worst.risk <= risk * (1 + 1e-9)
    scores = worst.X @ classifier.coef_.T + classifier.intercept_
    losses = classifier._loss().of_labels(scores)[np.arange(len(worst.y)), worst.y]
    assert worst.risk == pytest.approx(worst.weight @ losses)


def test_a_smaller_tail_comes_closer():
    X, y = iris_like()
    classifier = LogisticRegression().fit(X, y)
    ball = WassersteinBall(0.3)
    risks = [
        worst_case_distribution(classifier, X, y, ball, tail_mass=q).risk
        for q in (0.3, 1e-2, 1e-4, 1e-8)
    ]
    assert (np.diff(risks) >= 0).all()


def test_trusted_labels_and_no_budget_leave_the_data_alone():
    X, y = iris_like()
    classifier = LogisticRegression().fit(X, y)
    worst = worst_case_distribution(classifier, X, y, WassersteinBall(0.0))
    np.testing.assert_array_equal(worst.X, X)
    np.testing.assert_array_equal(worst.y, y)
    assert set(worst.kind) == {"kept"}
    assert worst.transport_cost == 0


def test_at_most_two_atoms_more_than_rows():
    X, y = iris_like()
    classifier = LogisticRegression().fit(X, y)
    for radius in (0.01, 0.1, 1.0, 10.0):
        worst = worst_case_distribution(classifier, X, y, WassersteinBall(radius, 0.3))
        assert len(worst.y) <= len(y) + 2


def test_a_constant_classifier_gains_nothing_from_movement():
    X, y = iris_like()
    classifier = FixedScores(np.zeros((3, 3)), np.zeros(3))
    worst = worst_case_distribution(classifier, X, y, WassersteinBall(1.0, 0.5))
    assert worst.risk == worst.supremum == pytest.approx(1)


def test_sparse_data_stay_sparse():
    X, y = iris_like()
    X[X < 0.5] = 0.0
    classifier = LogisticRegression().fit(X, y)
    ball = WassersteinBall(0.3)
    dense = worst_case_distribution(classifier, X, y, ball)
    thin = worst_case_distribution(classifier, sparse.csr_array(X), y, ball)
    assert sparse.issparse(thin.X)
    np.testing.assert_allclose(thin.X.toarray(), dense.X)
    assert thin.risk == pytest.approx(dense.risk)
    assert thin.transport_cost == pytest.approx(dense.transport_cost)


def test_a_frame_names_features_and_labels():
    X, y = iris_like()
    names = np.array(["ash", "birch", "cedar"])[y]
    frame = pd.DataFrame(X, columns=["length", "width", "age"])
    pipeline = make_pipeline(StandardScaler(), LogisticRegression()).fit(frame, names)
    worst = worst_case_distribution(pipeline, frame, names, WassersteinBall(0.3, 2.0))
    table = worst.to_frame()
    assert table.columns.tolist() == [
        "source",
        "kind",
        "weight",
        "label",
        "length",
        "width",
        "age",
    ]
    assert set(table["label"]) <= set(names)
    assert table["weight"].sum() == pytest.approx(1)
    kept = table[table["kind"] == "kept"]
    scaled = pipeline[0].transform(frame)[kept["source"]]
    np.testing.assert_array_equal(kept[["length", "width", "age"]], scaled)


def test_a_frame_without_pandas_is_a_clear_error(monkeypatch):
    X, y = iris_like()
    worst = worst_case_distribution(
        LogisticRegression().fit(X, y), X, y, WassersteinBall(0.3)
    )
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match="to_frame needs pandas"):
        worst.to_frame()


@pytest.mark.parametrize("tail_mass", [0.0, -1.0, 1.5, 2.0, np.nan, "small"])
def test_bad_tail_mass(tail_mass):
    X, y = iris_like()
    classifier = LogisticRegression().fit(X, y)
    with pytest.raises(ValueError, match=r"tail_mass must be a number in \(0, 1\]"):
        worst_case_distribution(classifier, X, y, WassersteinBall(0.3), tail_mass=tail_mass)


def test_atoms_say_what_became_of_them():
    X, y = iris_like(n_rows=12)
    classifier = FixedScores(np.eye(3), np.zeros(3))
    for ball in (WassersteinBall(0.1, 0.1), WassersteinBall(0.3)):
        worst = worst_case_distribution(classifier, X, y, ball)
        moved = (worst.X != X[worst.source]).any(axis=1)
        flipped = ~moved & (worst.y != y[worst.source])
        expected = np.where(moved, "moved", np.where(flipped, "flipped", "kept"))
        assert worst.kind.tolist() == expected.tolist()
        assert moved.any() or flipped.any()
        assert (np.diff(worst.source) >= 0).all()


def test_a_switched_category_costs_what_switching_does():
    X, y = np.array([[1.0, 0.0, 0.5], [0.0, 1.0, -0.5]]), np.array([0, 1])
    classifier = FixedScores(np.array([[2.0, 0.0, 1.0], [0.0, 2.0, -1.0]]), np.zeros(2))
    ball = WassersteinBall(0.4, categorical=[([0, 1], 0.6)], support=(-1.0, 1.0))
    worst = worst_case_distribution(classifier, X, y, ball)
    step = worst.X - X[worst.source]
    cost = 0.6 * (step[:, :2] != 0).any(axis=1) + np.abs(step[:, 2])
    assert (step[:, :2] != 0).any()
    assert worst.transport_cost == pytest.approx(worst.weight @ cost)
    assert worst.transport_cost <= 0.4 * (1 + 1e-9)
    assert worst.risk == pytest.approx(worst.supremum, rel=1e-3)


def test_no_distribution_attains_the_triangle_bound():
    X, y = iris_like(n_rows=12)
    scores = linear_scores(FixedScores(np.eye(3), np.zeros(3)))
    tight = LinearScores(*scores[:3], lipschitz="triangle")
    exact, bound = (
        worst_case_distribution(each, X, y, WassersteinBall(0.3))
        for each in (scores, tight)
    )
    assert bound.supremum == exact.supremum
    assert bound.risk == exact.risk


def crammer_singer(scores, codes):
    n = np.arange(len(codes))
    raised = scores + 1.0
    raised[n, codes] -= 1.0
    return raised.max(axis=1) - scores[n, codes]


@pytest.mark.parametrize("radius", [0.02, 0.3])
@pytest.mark.parametrize("parameters", CALM_KERNELS)
def test_the_distribution_is_in_the_ball_and_nearly_the_worst(parameters, radius):
    model = RobustSVC(radius, 2.0, tol=1e-4, **parameters).fit(IRIS, SPECIES)
    features, scores = model.linear_form(IRIS)
    worst = model.worst_case_distribution(IRIS, SPECIES, tail_mass=1e-7)
    risk = model.worst_case_risk(IRIS, SPECIES)
    losses = crammer_singer(worst.X @ scores.coef.T + scores.intercept, worst.y)
    moved = np.linalg.norm(worst.X - features[worst.source], axis=1)
    cost = worst.weight @ (moved + 2.0 * (worst.y != SPECIES[worst.source]))
    assert worst.risk == pytest.approx(worst.weight @ losses)
    assert worst.transport_cost == pytest.approx(cost)
    assert cost <= radius * (1 + 1e-9)
    assert worst.risk <= risk * (1 + 1e-9)
    assert worst.risk >= (1 - 1e-3) * worst.supremum
    if model.lipschitz == "exact":
        assert worst.supremum == pytest.approx(risk)
    np.testing.assert_allclose(np.bincount(worst.source, worst.weight), 1 / len(SPECIES))


def test_flips_are_those_of_the_largest_gain_of_decisions():
    model = RobustSVC(0.1, 0.5, tol=1e-4).fit(IRIS, SPECIES)
    worst = model.worst_case_distribution(IRIS, SPECIES)
    flipped = np.unique(worst.source[worst.kind == "flipped"])
    scores = model.decision_function(IRIS)
    gain = [crammer_singer(scores, np.full(len(SPECIES), c)) for c in range(3)]
    gain = np.max(gain, axis=0) - crammer_singer(scores, SPECIES)
    assert set(flipped) == set(np.argsort(-gain, kind="stable")[: len(flipped)])


def test_directions_of_a_kernel_do_not_bear_the_names_of_inputs():
    frame = pd.DataFrame(IRIS[:, :3], columns=["length", "width", "height"])
    model = RobustSVC(0.02, tol=1e-4).fit(frame, SPECIES)
    worst = model.worst_case_distribution(frame, SPECIES).to_frame()
    assert worst.columns[4:].tolist() == ["direction0", "direction1", "direction2"]
    pipeline = make_pipeline(StandardScaler(), model).fit(frame, SPECIES)
    worst = worst_case_distribution(pipeline, frame, SPECIES, model._ball())
    assert worst.feature_names.tolist() == ["direction0", "direction1", "direction2"]
