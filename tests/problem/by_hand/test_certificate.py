"""What the certificate does with multipliers, function by function, on numbers that can be
worked out by hand."""

from dataclasses import replace

import numpy as np
import pytest

from wdrsvm.problem import LOSSES, Multipliers, RobustProblem, WassersteinBall, dual_bound
from wdrsvm.problem.certificate import bound as certificate
from wdrsvm.problem.certificate.bound import dual_point
from wdrsvm.problem.certificate.equalities import Equalities
from wdrsvm.problem.certificate.joint import Joint
from wdrsvm.problem.certificate.multipliers import Loosened, RowMultipliers
from wdrsvm.problem.certificate.radius_envelope import NOTHING, DualPoint

from ...agreement.instances import random_problem

BEYOND = np.full((2, 2), 0.25)  # spends 0.5 where the budget is 0.1
GRADIENT = np.array([[0.1], [-0.1]])


def two_points():
    """One row a class at -1 and 1, and a budget of 0.1."""
    X, y = np.array([[-1.0], [1.0]]), np.array([0, 1])
    return RobustProblem.of(X, y, np.full(2, 0.5), WassersteinBall(0.1, norm="l1"), 2)


def halves(alpha=BEYOND, phi=0.0, **norm):
    """Multipliers of two_points; flips of mass phi have the flipped class win."""
    flips = phi * (1 - np.eye(2))
    return Multipliers(alpha, flips, flips.copy(), **norm)


@pytest.fixture
def steerings(monkeypatch):
    """What is steered: the kind of multipliers and what they are told of the flips."""
    told = []

    def steered(problem, multipliers, fixed, on_flips):
        told.append((type(multipliers), on_flips))
        return NOTHING

    monkeypatch.setattr(certificate, "_steered", steered)
    return told


def test_only_what_exceeds_the_budget_is_steered(steerings):
    problem = two_points()
    within = halves(np.array([[0.46, 0.04], [0.04, 0.46]]), gradient=GRADIENT)
    assert dual_bound(problem, within) == pytest.approx(0.08)
    beyond = halves(gradient=GRADIENT)
    dual_point(problem, beyond, steering=False)
    dual_bound(problem, halves())
    assert steerings == []
    assert dual_bound(problem, beyond) == pytest.approx(0.1)
    assert steerings == [(Multipliers, 0.0)]


def test_a_bound_that_is_enough_is_not_steered(steerings):
    problem, beyond = two_points(), halves(gradient=GRADIENT)
    bound = dual_bound(problem, beyond)
    steerings.clear()
    assert dual_bound(problem, beyond, enough=bound) == bound
    assert steerings == []
    dual_bound(problem, beyond, enough=np.nextafter(bound, 1.0))
    assert len(steerings) == 1
    # A bound of 0 always holds: no multipliers are looked at.
    assert dual_point(problem, beyond, enough=0.0) is NOTHING
    assert dual_point(problem, beyond, enough=1e-300) is not NOTHING


def test_steering_is_tried_up_to_its_work(steerings, monkeypatch):
    problem, beyond = two_points(), halves(gradient=GRADIENT)
    work = 2 * (2 * (1 + 1)) ** 2
    monkeypatch.setattr(certificate, "MAX_STEERING_WORK", work - 1)
    dual_bound(problem, beyond)
    assert steerings == []
    monkeypatch.setattr(certificate, "MAX_STEERING_WORK", work)
    dual_bound(problem, beyond)
    assert len(steerings) == 1


def test_what_cannot_be_balanced_is_loosened_and_may_still_be_steered(
    steerings, monkeypatch
):
    balanced, sources = certificate._balanced, []

    def unbalanced(problem, multipliers, equalities):
        sources.append(type(multipliers))
        return None, balanced(problem, multipliers, equalities)[1]

    monkeypatch.setattr(certificate, "_balanced", unbalanced)
    within = halves(np.array([[0.46, 0.04], [0.04, 0.46]]), gradient=GRADIENT)
    assert dual_bound(two_points(), within) == 0.0
    assert sources == [Multipliers, Loosened]
    assert [kind for kind, _ in steerings] == [Loosened]


def test_flips_are_tilted_jointly_and_a_tiny_radius_without_a_budget(steerings):
    ball = WassersteinBall(0.1, 0.5, "l1")
    flipped = halves(np.full((2, 2), 0.2), 0.1, gradient=GRADIENT)
    problem = replace(two_points(), ball=ball)
    spent = 2 * 0.1 * 0.5
    dual_bound(problem, flipped)
    assert steerings == [(Multipliers, pytest.approx(spent)), (Joint, pytest.approx(spent))]
    steerings.clear()
    # A tenth of a millionth, beside one and the spending.
    limit = 1e-7 * (1 + spent)
    dual_bound(problem.with_radius(1.001 * limit), flipped)
    assert [kind for kind, _ in steerings] == [Multipliers, Joint]
    steerings.clear()
    dual_bound(problem.with_radius(0.999 * limit), flipped)
    assert steerings == [
        (Multipliers, pytest.approx(spent)),
        (Loosened, np.inf),
        (Joint, pytest.approx(spent)),
    ]


def test_joint_tilts_are_for_few_rows_of_flips_of_the_loss_with_kinks(monkeypatch):
    problem = random_problem(3)
    n_rows, n_classes, n_features = problem.n_rows, problem.n_classes, problem.n_features
    entries = n_rows * (n_classes**2 + (n_features + 1) ** 2)
    monkeypatch.setattr(certificate, "MAX_JOINT_ENTRIES", entries)
    assert certificate._can_tilt_jointly(problem, 1e-300)
    assert not certificate._can_tilt_jointly(problem, 0.0)
    smooth = replace(problem, loss=LOSSES["logistic"])
    assert not certificate._can_tilt_jointly(smooth, 0.1)
    monkeypatch.setattr(certificate, "MAX_JOINT_ENTRIES", entries - 1)
    assert not certificate._can_tilt_jointly(problem, 0.1)


@pytest.mark.parametrize("ridge", [0.0, 1e-12])
def test_a_tilt_supplies_what_is_lacked_on_its_columns(ridge):
    rng = np.random.default_rng(0)
    columns = rng.normal(size=(30, 3))
    system = RowMultipliers(*rng.exponential(size=(3, 30, 4))).curvature(columns)
    lack = rng.normal(size=(4, 3))
    lack -= lack.mean(axis=0)
    for chosen in ([True, True, True], [True, False, True], [False, True, False]):
        chosen = np.array(chosen)
        before = system.copy()
        tilt = certificate._solve_tilt(system, lack, ridge, chosen)
        np.testing.assert_array_equal(system, before)
        supplied = np.einsum("idje,je->id", system, tilt)
        np.testing.assert_allclose(supplied[:, chosen], lack[:, chosen], atol=1e-9)
        assert not tilt[:, ~chosen].any()
        np.testing.assert_allclose(tilt.sum(axis=0), 0.0, atol=1e-12)
    stiffer = certificate._solve_tilt(system, lack, 1e-2, np.ones(3, dtype=bool))
    assert np.linalg.norm(stiffer) < np.linalg.norm(
        certificate._solve_tilt(system, lack, 0.0, np.ones(3, dtype=bool))
    )


def test_a_system_that_nothing_can_solve_is_met_as_far_as_it_goes():
    """Two equal columns, and one that no row has."""
    rng = np.random.default_rng(1)
    columns = rng.normal(size=(9, 1)) * [1.0, 1.0, 0.0]
    system = RowMultipliers(*rng.exponential(size=(3, 9, 2))).curvature(columns)
    lack = np.array([[1.0, 1.0, 0.0], [-1.0, -1.0, 0.0]])
    tilt = certificate._solve_tilt(system, lack, 0.0, np.ones(3, dtype=bool))
    supplied = np.einsum("idje,je->id", system, tilt)
    np.testing.assert_allclose(supplied, lack, atol=1e-9)


@pytest.mark.parametrize("seed", range(4))
def test_sums_are_those_of_every_row(seed):
    """Restored and tilted twice, then added up: value, spending, G, sums on columns."""
    problem = random_problem(seed)
    rng = np.random.default_rng(seed)
    masses = Multipliers(*rng.exponential(size=(3, problem.n_rows, problem.n_classes)))
    equalities = Equalities.of(problem, np.arange(problem.n_features) % 2 == 0)
    tilts = [0.1 * rng.normal(size=equalities.aim.shape) for _ in range(2)]
    found = certificate._summed(problem, masses, equalities, tilts, 0.5, True)
    every = slice(0, problem.n_rows)
    cost = problem.attainable_flip_cost()
    part = masses.rows(problem, every).restored(problem.weight, problem.y, cost, 0.5)
    columns = equalities.rows(problem, every)
    for each in tilts:
        part = part.tilted(columns @ each.T)
    slopes = part.slopes(problem.y)
    assert found.value == pytest.approx(part.value(problem.weight, problem.y))
    assert found.on_flips == pytest.approx(part.spending(cost))
    np.testing.assert_allclose(found.gradient, slopes.T @ problem.X, atol=1e-12)
    np.testing.assert_allclose(found.on_columns, slopes.T @ columns, atol=1e-12)
    sizes = sum(np.abs(np.outer(g, e)) for g, e in zip(slopes, columns, strict=True))
    np.testing.assert_allclose(found.sizes, sizes, atol=1e-12)
    np.testing.assert_allclose(found.system, part.curvature(columns), atol=1e-12)
    assert (
        certificate._summed(problem, masses, equalities, tilts, 0.5, False).system is None
    )


def test_moving_is_paid_on_what_can_be_touched():
    X, y = np.eye(3), np.arange(3)
    ball = WassersteinBall(0.1, norm="l1", feature_cost=[1.0, 2.0, np.inf])
    problem = RobustProblem.of(X, y, np.full(3, 1 / 3), ball, 3)
    gradient = np.array([[1.0, -1.0, 0.0], [-1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
    assert certificate._move_spending(problem, gradient, None) == 1.0 + 2.0
    assert certificate._move_spending(problem.with_radius(0.0), gradient, None) == 0.0
    # A flow that is given is paid for, once it has the right divergence.
    other = replace(problem, ball=replace(ball, norm="l2"))
    flow = np.array([[1.0, 0.0, 5.0], [0.0, -1.0, 5.0], [0.0, 0.0, 5.0]])
    assert certificate._move_spending(other, gradient, flow) == pytest.approx(1.0 + 2.0)


def test_features_too_small_to_spend_anything_cost_nothing():
    """A thousand-millionth of the budget is worth steering for, less of it is not."""
    least = 1e-9 * 0.125
    problem = RobustProblem.of(
        np.array([[least, 0.9 * least, 1.0, -1.9 * least], [0.0] * 4]),
        np.array([0, 1]),
        np.full(2, 0.5),
        WassersteinBall(0.125, feature_cost=[1.0, 1.0, np.inf, 0.5]),
        2,
        fit_intercept=False,
    )
    assert certificate._cost_nothing(problem).tolist() == [False, True, True, True]


def test_the_better_point_is_the_one_that_proves_more_at_the_radius():
    rich, cheap = DualPoint(1.0, 1.0, 0.0), DualPoint(0.5, 0.1, 0.0)
    assert certificate._better(rich, cheap, 0.1) is cheap
    assert certificate._better(rich, cheap, 1.0) is rich
    equal = DualPoint(1.0, 1.0, 0.0)
    assert certificate._better(rich, equal, 1.0) is rich


def test_balanced_sums_vanish_where_they_must():
    rng = np.random.default_rng(0)
    problem = random_problem(3)
    problem = replace(problem, fit_intercept=True).with_radius(0.1)
    masses = Multipliers(*rng.exponential(size=(3, problem.n_rows, problem.n_classes)))
    sums = certificate.balanced_sums(problem, masses)
    fixed = np.isinf(problem.feature_cost)
    np.testing.assert_allclose(sums.gradient[:, fixed], 0.0, atol=1e-10)
    np.testing.assert_allclose(sums.on_columns, 0.0, atol=1e-12)
    without = halves(np.array([[0.0, 0.5], [0.0, 0.5]]))
    assert (
        certificate.balanced_sums(two_points().with_rows(y=np.zeros(2, int)), without)
        is None
    )


def test_steering_shortens_flips_and_the_gradient_into_the_budget():
    """The rows' gradient is twice the norm's own: steered to it, all of it is paid."""
    problem = two_points()
    beyond = halves(np.full((2, 2), 0.25), gradient=4 * GRADIENT)
    fixed = np.zeros(1, dtype=bool)
    # A gradient of 0.4 costs 0.4, four budgets; the rows follow it to the tenth part.
    found = certificate._steered(problem, beyond, fixed, 0.0)
    assert found.bound(0.1) == pytest.approx(0.1)
    assert found.spending == pytest.approx(0.1)
    # What the flips spent leaves as much less for the gradient.
    found = certificate._steered(problem, beyond, fixed, 0.4)
    assert found.on_moves == pytest.approx(0.05)
    assert found.bound(0.1) == pytest.approx(0.05)
    nothing = certificate._steered(problem, beyond, fixed, np.inf)
    assert nothing == pytest.approx((0.0, 0.0, 0.0), abs=1e-12)
    # A gradient within the budget is not lengthened.
    small = halves(gradient=0.5 * GRADIENT)
    assert certificate._steered(problem, small, fixed, 0.0).on_moves == pytest.approx(0.05)
    unsteered = halves(gradient=0.0 * GRADIENT)
    assert certificate._steered(problem, unsteered, fixed, 0.0).value == pytest.approx(0.0)
