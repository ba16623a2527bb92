"""The ramp bound: its formula, what it bounds, and the best scale."""

from dataclasses import replace

import numpy as np
import pytest

from wdrsvm.problem import RobustProblem, WassersteinBall
from wdrsvm.problem.label_noise import Beliefs
from wdrsvm.problem.ramp import RampProblem
from wdrsvm.robustness.promises.errors.worst_case_error import error_of_rows
from wdrsvm.rows import blocks

NORMS = ["l1", "l2", "linf"]


def label_costs(rng, n_classes, kind):
    if kind == "matrix":
        cost = rng.choice([0.3, 1.0, 4.0, np.inf], (n_classes, n_classes))
        np.fill_diagonal(cost, 0.0)
        return cost
    return np.inf if kind == "trusted" else 0.7


def random_case(seed, norm="l2", kind="trusted", n_classes=3, with_trust=False):
    """A problem and a classifier that has most rows right."""
    rng = np.random.default_rng(seed)
    centres = rng.normal(size=(n_classes, 3))
    y = rng.integers(n_classes, size=25)
    X = centres[y] + 0.7 * rng.normal(size=(25, 3))
    weight = rng.exponential(size=25)
    ball = WassersteinBall(
        rng.choice([0.0, 0.05, 0.3]), label_costs(rng, n_classes, kind), norm
    )
    trust = rng.choice([0.0, 0.2, 1.0, np.inf], 25) if with_trust else None
    weight /= weight.sum()
    problem = RobustProblem.of(X, y, weight, ball, n_classes, label_trust=trust)
    coef = 2 * centres + 0.3 * rng.normal(size=centres.shape)
    return problem, coef, -np.square(centres).sum(axis=1)


CASES = [
    (seed, norm, kind, n_classes, with_trust)
    for seed in range(8)
    for norm in NORMS
    for kind in ("trusted", "number", "matrix")
    for n_classes in (2, 4)
    for with_trust in (False, True)
]


def test_the_bound_is_never_below_the_worst_case_error():
    for case in CASES:
        problem, coef, intercept = random_case(*case)
        ramp = RampProblem(problem)
        error = error_of_rows(problem, coef, intercept)
        for point in (ramp.point(coef, intercept), ramp.scaled(coef, intercept)):
            assert point.value >= error - 1e-12, case


def test_the_bound_is_the_least_over_multipliers():
    for case in CASES[::3]:
        problem, coef, intercept = random_case(*case)
        ramp = RampProblem(problem)
        point, least = ramp.point(coef, intercept), problem.modulus(coef)
        scores = problem.scores(coef, intercept)
        own = problem.loss.of_labels(scores)[np.arange(25), problem.y]
        cost = problem.flip_cost().min(axis=1)[:, None]
        grid = np.r_[least + np.linspace(0, 50, 2001), point.lam]
        with np.errstate(invalid="ignore"):
            floor = np.maximum(np.nan_to_num(1 - cost * grid, nan=0.0, neginf=0.0), 0.0)
        values = problem.radius * grid + problem.weight @ np.maximum(
            np.minimum(own, 1.0)[:, None], floor
        )
        assert point.lam >= least
        assert values.min() >= point.value - 1e-12
        assert values[-1] == pytest.approx(point.value, abs=1e-12)


def test_no_other_scale_has_a_lower_bound():
    for case in CASES[::3]:
        problem, coef, intercept = random_case(*case)
        ramp = RampProblem(problem)
        best = ramp.scaled(coef, intercept)
        for scale in np.logspace(-2, 3, 200):
            assert best.value <= ramp.point(scale * coef, scale * intercept).value + 1e-9


@pytest.mark.parametrize("kind", ["trusted", "number"])
@pytest.mark.parametrize("norm", NORMS)
def test_two_classes_at_the_best_scale_have_the_error_itself(norm, kind):
    for seed in range(20):
        problem, coef, intercept = random_case(seed, norm, kind, n_classes=2)
        point = RampProblem(problem).scaled(coef, intercept)
        assert point.value == pytest.approx(error_of_rows(problem, coef, intercept))
        assert point.lam == pytest.approx(problem.modulus(point.coef)) or kind == "number"


def test_trusted_labels_leave_the_whole_budget_to_movement():
    problem, coef, intercept = random_case(1)
    point = RampProblem(problem).point(coef, intercept)
    assert point.moving == problem.radius
    priced = replace(problem, ball=replace(problem.ball, radius=1.0, label_cost=1e-3))
    assert RampProblem(priced).point(coef, intercept).moving < 1.0


def test_flips_leave_to_movement_what_they_do_not_cost():
    """By hand: half of the weight moves by 0.1, and a tenth of it is flipped for 1."""
    X, y = np.array([[0.1], [5.0], [-9.0]]), np.array([1, 1, 0])
    weight = np.array([0.5, 0.25, 0.25])
    problem = RobustProblem.of(X, y, weight, WassersteinBall(0.15, 1.0), 2)
    point = RampProblem(problem).scaled(np.array([[-0.5], [0.5]]), np.zeros(2))
    assert point.value == pytest.approx(0.5 + 0.1)
    assert point.moving == pytest.approx(0.5 * 0.1)


@pytest.mark.parametrize("unit", [1e-15, 1e15])
def test_the_bound_at_the_best_scale_does_not_depend_on_the_given_one(unit):
    problem, coef, intercept = random_case(2, kind="number")
    ramp = RampProblem(problem)
    best = ramp.scaled(coef, intercept)
    assert best.value < 0.5
    found = ramp.scaled(unit * coef, unit * intercept)
    assert found.value == pytest.approx(best.value)
    np.testing.assert_allclose(found.coef, best.coef)


def test_the_best_constant_classifier_predicts_the_heaviest_class():
    problem, _, _ = random_case(3, n_classes=4)
    constant = RampProblem(problem).constant()
    mass = np.bincount(problem.y, problem.weight)
    assert constant.value == pytest.approx(1 - mass.max())
    assert constant.intercept.argmax() == mass.argmax()
    assert not constant.coef.any()


def test_without_an_intercept_a_constant_classifier_is_always_tied():
    problem, _, _ = random_case(3)
    bare = replace(problem, fit_intercept=False)
    assert RampProblem(bare).constant().value == pytest.approx(1.0)


def test_all_rows_of_a_class_may_be_given_up():
    problem, coef, intercept = random_case(0)
    lost = intercept - 100.0 * np.eye(3)[0]
    kept = RampProblem(problem).doubted.beliefs(coef, lost)
    assert (kept.belief[problem.y == 0] == 0).all()
    assert not kept.guarded


def test_rows_that_are_all_given_up_have_no_classes():
    ramp = RampProblem(random_case(0)[0])
    y = ramp.problem.y

    def believed(rows):
        return Beliefs(np.where(rows, 1.0, 0.0), y, guarded=False)

    assert ramp.has_two_classes(believed(y >= 0))
    assert not ramp.has_two_classes(believed(y == y[0]))
    assert not ramp.has_two_classes(believed(y < 0))


def test_the_problem_of_trusted_labels_has_the_radius_that_is_asked_for():
    ramp = RampProblem(random_case(0, kind="number")[0])
    assert ramp.trusted(ramp.problem.radius) is ramp.doubted
    other = ramp.trusted(0.7).problem
    assert other.radius == 0.7
    assert other.X is ramp.problem.X


def test_where_nothing_moves_the_least_lead_becomes_one():
    problem, coef, _ = random_case(0)
    point = RampProblem(problem).scaled(0 * coef, np.array([3.0, 1.0, -5.0]))
    assert not point.coef.any()
    np.testing.assert_allclose(point.intercept, [1.5, 0.5, -2.5])


def test_a_trivial_bound_does_not_give_the_classifier_up():
    """At the rate of the fastest pair of classes the budget would reach all rows."""
    X, y = np.array([[-4.0], [2.0], [5.0], [5.2]]), np.array([0, 1, 1, 2])
    coef, intercept = np.array([[-1.0], [0.0], [30.0]]), np.array([0.0, 0.0, -153.0])
    ball = WassersteinBall(0.2)
    problem = RobustProblem.of(X, y, np.full(4, 0.25), ball, 3)
    point = RampProblem(problem).scaled(coef, intercept)
    assert point.coef.any()
    assert point.value == 1.0
    error = error_of_rows(problem, point.coef, point.intercept)
    assert error == pytest.approx(0.575)


def on_a_line(radius, x=(0.1, 0.5, 2.0)):
    """Three rows of class 1 that are wrong after a move of x."""
    weight = np.array([0.5, 0.25, 0.25])
    problem = RobustProblem.of(
        np.array(x)[:, None], np.ones(3, dtype=int), weight, WassersteinBall(radius), 2
    )
    return RampProblem(problem), np.array([[-0.5], [0.5]]), np.zeros(2)


@pytest.mark.parametrize(("share", "rate"), [(0.0, 10.0), (0.6, 2.0), (2.0, 0.5)])
def test_the_multiplier_is_that_of_a_budget_that_buys_at_least_a_share(share, rate):
    ramp, *classifier = on_a_line(0.01)
    assert ramp.multiplier(*classifier, share) == pytest.approx(rate)
    more, *_ = on_a_line(0.1)
    assert more.multiplier(*classifier, 0.0) == pytest.approx(2.0)
    assert on_a_line(9.0)[0].multiplier(*classifier, share) == 0.0
    heavy = ramp.problem.with_rows(weight=2 * ramp.problem.weight)
    assert RampProblem(heavy).multiplier(*classifier, share) == pytest.approx(rate)


def test_rows_that_are_wrong_already_have_no_price():
    ramp, *classifier = on_a_line(0.1, (-1.0, -2.0, 0.0))
    with np.errstate(all="raise"):
        assert ramp.multiplier(*classifier, 0.5) == 0.0
    assert ramp.errors(*classifier) == (1.0, 1.0)
    some, *_ = on_a_line(1e-3, (-1.0, 0.5, 2.0))
    assert some.multiplier(*classifier, 0.2) == pytest.approx(2.0)
    assert some.multiplier(*classifier, 0.3) == pytest.approx(0.5)


def test_rows_in_blocks_have_the_leads_and_costs_of_all(monkeypatch):
    problem, coef, intercept = random_case(4, kind="matrix", with_trust=True)
    whole = RampProblem(problem)
    expected = whole.leads(coef, intercept), whole.costs(coef, intercept)
    monkeypatch.setattr(blocks, "BLOCK_ENTRIES", 12)
    assert len([*problem.blocks()]) > 3
    found = RampProblem(problem).leads(coef, intercept), whole.costs(coef, intercept)
    np.testing.assert_allclose(found, expected)


def test_both_errors_of_a_classifier():
    for case in CASES[::7]:
        problem, coef, intercept = random_case(*case)
        found = RampProblem(problem).errors(coef, intercept)
        assert found.worst == pytest.approx(error_of_rows(problem, coef, intercept))
        calm = replace(problem, ball=replace(problem.ball, radius=0.0))
        assert found.plain == pytest.approx(error_of_rows(calm, coef, intercept))


def test_rows_that_are_lost_are_wrong_and_not_tied():
    ramp, coef, intercept = on_a_line(0.1, (-1.0, 0.0, 2.0))
    assert ramp.lost(ramp.point(coef, intercept)) == 0.5
