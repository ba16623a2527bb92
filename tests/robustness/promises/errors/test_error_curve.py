"""The curve over radii: its shape, its inverse, its classes, its words."""

import math
import pickle

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression

from wdrsvm import WassersteinBall, error_curve, worst_case_error
from wdrsvm.robustness.promises.errors.curve_points import (
    breakpoints,
    error_at,
    sampling_margin,
)
from wdrsvm.robustness.promises.errors.error_curve import curve_of, percent
from wdrsvm.robustness.promises.errors.row_costs import RowCosts

from ..error_cases import error_by_program, error_case, is_wrong, label_costs, weights_of

X, y = load_iris(return_X_y=True)
MODEL = LogisticRegression(max_iter=1000).fit(X, y)
WEIGHT = 1.0 + np.arange(150) % 3


def curve_of_case(case):
    return error_curve(case.classifier, case.X, case.y, case.ball, **case.options)


def costs_of(cost, weight=None, code=None):
    cost = np.asarray(cost, dtype=float)
    weight = np.ones(len(cost)) if weight is None else np.asarray(weight, dtype=float)
    return RowCosts(cost, weight, np.zeros(len(cost), int) if code is None else code)


@pytest.mark.parametrize("seed", range(60))
def test_it_is_concave_and_does_not_fall(seed):
    curve = curve_of_case(error_case(seed))
    assert curve.radii[0] == 0
    steps, rises = np.diff(curve.radii), np.diff(curve.errors)
    assert (steps > 0).all()
    assert (rises > 0).all()
    assert (np.diff(rises / steps) <= 1e-9 * (rises / steps)[:-1]).all()
    assert 0 <= curve.errors[0]
    assert curve.errors[-1] <= 1


@pytest.mark.parametrize("seed", range(60))
def test_it_begins_at_the_plain_error_with_ties_as_errors(seed):
    case = error_case(seed)
    scores = case.classifier.scores(case.X)
    free = [
        is_wrong(scores[n], label) or (np.delete(costs, label) == 0).any()
        for n, (label, costs) in enumerate(zip(case.y, label_costs(case), strict=True))
    ]
    assert curve_of_case(case).errors[0] == pytest.approx(weights_of(case) @ free)


@pytest.mark.parametrize("seed", range(60))
def test_it_is_the_worst_case_error_at_every_radius(seed):
    case = error_case(seed)
    curve = curve_of_case(case)
    for radius in (0.0, 0.01, 0.2, 3.0):
        assert curve(radius) == pytest.approx(error_by_program(case, radius), abs=1e-9)


@pytest.mark.parametrize("seed", range(6))
def test_one_radius_needs_no_curve(seed):
    """Free rows, rows that nothing makes wrong, equal costs, more rows than are sorted."""
    draw = np.random.default_rng(seed)
    cost = np.concatenate([draw.exponential(size=7000).round(seed), np.full(3000, np.inf)])
    cost[draw.random(10_000) < seed / 9] = 0.0
    for weight in (np.ones(10_000), draw.random(10_000) + 0.1):
        curve = curve_of(costs_of(cost, weight), 0.0)
        for radius in (0.0, 1e-4, 0.01, 0.3, curve.radii[-1], 100.0):
            assert error_at(cost, weight, radius) == pytest.approx(
                curve.at(radius), rel=1e-12
            )


@pytest.mark.parametrize("seed", range(60))
def test_the_inverse_is_consistent(seed):
    curve = curve_of_case(error_case(seed))
    levels = np.linspace(curve.errors[0], curve.errors[-1], 17)
    np.testing.assert_allclose(curve.at(curve.budget_for(levels)), levels, atol=1e-12)
    assert curve.budget_for(curve.errors[0] / 2) == 0
    assert curve.budget_for(curve.errors[-1] + 0.01) == np.inf


def test_one_and_zero_are_reached_exactly():
    curve = curve_of(costs_of(np.full(7, 0.1), np.full(7, 0.1)), 0.0)
    assert curve.errors[-1] == 1
    assert curve.budget_for(1.0) == pytest.approx(0.1)
    assert curve.budget_for(0.0) == 0
    weights = np.random.default_rng(0).random(1000)
    assert curve_of(costs_of(np.arange(1000), weights), 0.0).errors[-1] == 1


def test_rows_that_nothing_makes_wrong_never_count():
    radii, errors = breakpoints(np.array([np.inf, 2.0, 0.0, np.inf]), np.ones(4))
    np.testing.assert_allclose(radii, [0, 0.5])
    np.testing.assert_allclose(errors, [0.25, 0.5])
    curve = curve_of(costs_of([np.inf, np.inf]), 1.0)
    assert curve.at(1e9) == 0
    assert curve.budget_for(1e-9) == np.inf


def test_arrays_give_arrays_and_numbers_floats():
    curve = error_curve(MODEL, X, y, WassersteinBall(0.1))
    assert type(curve.at(0.1)) is float
    assert type(curve.budget_for(0.1)) is float
    assert curve.at([[0.1, 0.2]]).shape == (1, 2)
    assert curve.budget_for([0.1, 0.2]).shape == (2,)
    for call in (curve.at, curve, curve.budget_for):
        with pytest.raises(ValueError, match=">= 0"):
            call(-0.1)
    with pytest.raises(ValueError, match="radius must be"):
        curve.at([0.1, np.nan])


@pytest.mark.parametrize("weight", [None, WEIGHT])
def test_joint_and_within_are_two_direct_computations(weight):
    ball = WassersteinBall(0.05, norm="l1")
    given = np.ones(150) if weight is None else weight
    by_class = error_curve(MODEL, X, y, ball, sample_weight=weight).by_class
    for label in (0, 1, 2):
        own = y == label
        share = given[own].sum() / given.sum()
        assert by_class.share[label] == pytest.approx(share)
        for radius in (0.0, 0.02, 0.05, 0.4):
            args = (MODEL, X[own], y[own])
            weights = {"sample_weight": given[own]}
            alike = WassersteinBall(radius, norm="l1")
            within = worst_case_error(*args, alike, **weights)
            alone = WassersteinBall(radius / share, norm="l1")
            joint = worst_case_error(*args, alone, **weights)
            assert by_class.within[label].at(radius) == pytest.approx(within)
            assert by_class.joint[label].at(radius) == pytest.approx(joint)


def test_joint_is_what_the_whole_budget_does_to_a_class():
    """Only rows of the class may be bought: others are worth nothing."""
    ball = WassersteinBall(0.05)
    by_class = error_curve(MODEL, X, y, ball).by_class
    curve = error_curve(MODEL, X, y, ball)
    costs = curve.rows.costs
    only = costs._replace(cost=np.where(costs.code == 1, costs.cost, np.inf))
    expected = curve_of(only, 0.0).at(0.05) / (1 / 3)
    assert by_class.joint[1].at(0.05) == pytest.approx(expected)


def test_classes_need_trusted_labels():
    curve = error_curve(MODEL, X, y, WassersteinBall(0.1, label_cost=2.0))
    with pytest.raises(ValueError, match="by_class needs label_cost=inf"):
        curve.by_class  # noqa: B018
    mixed = np.full((3, 3), np.inf)
    np.fill_diagonal(mixed, 0.0)
    error_curve(MODEL, X, y, WassersteinBall(0.1, mixed)).by_class.joint[0]
    mixed[0, 1] = 1.0
    with pytest.raises(ValueError, match="finite label costs"):
        error_curve(MODEL, X, y, WassersteinBall(0.1, mixed)).by_class  # noqa: B018
    own = error_curve(MODEL, X, y, WassersteinBall(0.1)).by_class.within[0]
    with pytest.raises(ValueError, match="curve of all classes"):
        own.by_class  # noqa: B018


def test_classes_keep_their_names_and_absent_ones_have_no_curve():
    names = np.array(["a", "b", "c"])
    model = LogisticRegression(max_iter=1000).fit(X, names[y])
    by_class = error_curve(model, X[:100], names[y[:100]], WassersteinBall(0.1)).by_class
    assert list(by_class.within) == list(by_class.joint) == ["a", "b"]
    assert "class 'a'" in by_class.within["a"].sentence()


def test_words():
    curve = curve_of(costs_of([0.0, 1.0, 1.0, 1.0, np.inf]), 0.1)
    assert curve.sentence() == (
        "If these rows move by 0.1 on average, at most 30 % of them are classified wrongly."
    )
    assert repr(curve) == (
        "ErrorCurve(5 rows: at most 20 % wrong at radius 0, 30 % at 0.1, 80 % at 0.6)"
    )
    calm = curve_of(costs_of([0.0, 1.0]), 0.0)
    assert repr(calm) == "ErrorCurve(2 rows: at most 50 % wrong at radius 0, 100 % at 0.5)"
    all_wrong = curve_of(costs_of([0.1]), 5.0)
    assert all_wrong.sentence() == (
        "If these rows move by 5 on average, all of them may be classified wrongly: "
        "nothing is promised."
    )
    assert "all of them" not in all_wrong.sentence(0.05)
    sentence = error_curve(MODEL, X, y, WassersteinBall(0.1, 2.0)).sentence()
    assert sentence.startswith("If these rows move or change labels at a cost of 0.1 on")


@pytest.mark.parametrize("radius", [0.0118607, 0.0118649, 1234.5, 0.0])
def test_a_radius_with_few_digits_keeps_the_promise_true(radius):
    curve = curve_of(costs_of(np.full(1000, 0.02)), 0.1)
    said = curve.sentence(radius)
    shown = float(said.split("move by ")[1].split()[0])
    assert len(f"{shown:g}".replace(".", "").strip("0")) <= 3
    assert "nothing is promised" in said or (
        float(said.split("at most ")[1].split()[0]) / 100
        >= max(curve.at(radius), curve.at(shown)) - 1e-12
    )


def test_classes_in_words_do_not_mix_the_promises():
    by_class = error_curve(MODEL, X, y, WassersteinBall(0.1)).by_class
    within, joint = by_class.within[2].sentence(), by_class.joint[2].sentence()
    assert within.startswith("If the rows of class 2 move by 0.1 on average, at most")
    assert within.endswith("% of them are classified wrongly.")
    assert joint.startswith("If these rows move by 0.1 on average, at most")
    assert joint.endswith("% of those of class 2 are classified wrongly.")
    assert "nothing is promised" in by_class.joint[2].sentence(9.0)


def test_percentages_are_rounded_up():
    assert percent(0.1234) == "12.4 %"
    assert percent(0.124) == "12.4 %"
    assert percent(0.12400001) == "12.5 %"
    assert percent(0.0) == "0 %"


def test_confidence_adds_a_margin_up_to_one():
    plain = error_curve(MODEL, X, y, WassersteinBall(0.1))
    sure = error_curve(MODEL, X, y, WassersteinBall(0.1), confidence=0.9)
    margin = math.sqrt(math.log(10) / 300)
    assert sampling_margin(0.9, 150) == pytest.approx(margin)
    radii = np.linspace(0, 2, 300)
    expected = np.minimum(plain.at(radii) + margin, 1.0)
    np.testing.assert_allclose(sure.at(radii), expected, atol=1e-12)
    assert (sure.radii[-1], sure.errors[-1]) == (
        pytest.approx(plain.budget_for(1 - margin)),
        1,
    )
    start = (
        "With 90 % confidence: if new rows from the same source move by 0.1 on average, "
    )
    assert sure.sentence().startswith(start)
    assert "confidence 0.9" in repr(sure)
    few = curve_of(costs_of([1.0]), 0.5, confidence=0.99)
    assert few.at(0.0) == 1
    never = curve_of(costs_of([np.inf] * 400), 0.5, confidence=0.9)
    assert never.at(9.0) == pytest.approx(sampling_margin(0.9, 400))


def test_confidence_by_class_counts_the_rows_of_the_class():
    by_class = error_curve(MODEL, X, y, WassersteinBall(0.1), confidence=0.9).by_class
    alone = error_curve(MODEL, X[y == 1], y[y == 1], WassersteinBall(0.1), confidence=0.9)
    assert by_class.within[1].at(0.1) == pytest.approx(alone.at(0.1))
    assert "new rows of class 1 move by" in by_class.within[1].sentence()
    with pytest.raises(ValueError, match="joint is about the rows given"):
        by_class.joint  # noqa: B018


def test_confidence_holds_for_all_radii_at_once():
    """A source with five costs: how often a sample's curve is somewhere below its own."""
    rng = np.random.default_rng(0)
    costs, chance = np.array([0.0, 0.1, 0.3, 1.0, np.inf]), [0.1, 0.2, 0.3, 0.3, 0.1]
    source = curve_of(costs_of(costs, chance), 0.0)
    radii, failed, n_draws = np.linspace(0, 1, 200), 0, 600
    for _ in range(n_draws):
        drawn = costs_of(rng.choice(costs, 40, p=chance))
        promised = curve_of(drawn, 0.0, confidence=0.8)
        failed += (promised.at(radii) < source.at(radii) - 1e-12).any()
    assert 0 < failed <= 0.2 * n_draws


def test_it_can_be_pickled():
    curve = error_curve(MODEL, X, y, WassersteinBall(0.1))
    again = pickle.loads(pickle.dumps(curve))
    assert again.at(0.1) == curve.at(0.1)
    assert repr(again) == repr(curve)
