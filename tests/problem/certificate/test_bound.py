"""Dual bounds: true whatever the multipliers, tight for the right ones.

The objective of any classifier is an upper bound of the optimum, so that a bound above
it is false whoever found the classifier.
"""

from dataclasses import replace
from functools import cache
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import sparse

from wdrsvm.problem import (
    LOSSES,
    Loss,
    Multipliers,
    RobustProblem,
    WassersteinBall,
    certify,
    dual_bound,
)
from wdrsvm.problem.certificate import bound as certificate
from wdrsvm.problem.certificate.bound import dual_point
from wdrsvm.problem.certificate.joint import Joint
from wdrsvm.problem.certificate.multipliers import Loosened
from wdrsvm.problem.certificate.radius_envelope import NOTHING, DualPoint
from wdrsvm.problem.certificate.settings import CERTIFICATE
from wdrsvm.problem.certificate.smooth import RowTangents
from wdrsvm.rows import blocks
from wdrsvm.rows import threads as row_threads
from wdrsvm.solvers.interior_point.loop import interior_point
from wdrsvm.solvers.newton.products.loop import product_newton
from wdrsvm.solvers.newton.products.tangents import DrawnTangents
from wdrsvm.solvers.result import SolverSettings

from ...agreement.instances import describe, random_problem
from ..cases import far_problem

SEEDS = range(24, 44)
ROUNDING = 1e-10
TIGHT = SolverSettings(tol=1e-6)


@cache
def solved(seed, radius=None):
    problem = random_problem(seed, radius=radius)
    return problem, interior_point(problem, SolverSettings(tol=1e-9))


def garbage(problem, found, rng):
    """Multipliers that owe nothing to the problem, and good ones spoilt."""
    shape = (3, problem.n_rows, problem.n_classes)
    n_pairs = problem.n_classes * (problem.n_classes - 1) // 2
    norm = rng.normal(size=(n_pairs + problem.n_classes, problem.n_features))
    norm = {"flow": norm[:n_pairs], "gradient": norm[n_pairs:]}
    good = np.stack([found.alpha, found.phi, found.beta])
    for arrays in (
        np.zeros(shape),
        rng.exponential(size=shape),
        rng.normal(size=shape),
        1e6 * (rng.random(shape) < 0.2),
        -np.ones(shape),
        good * rng.lognormal(sigma=1e-2, size=shape),
        good * rng.lognormal(sigma=1.0, size=shape),
        good + rng.exponential(scale=1e-2 / problem.n_rows, size=shape),
        good * (rng.random(shape) < 0.9),
        good[[1, 0, 2]],
    ):
        yield Multipliers(*arrays)
        yield Multipliers(*arrays, **norm)
        yield Multipliers(*arrays, flow=found.flow, gradient=found.gradient)


@pytest.mark.parametrize("seed", SEEDS)
def test_no_multipliers_give_a_bound_above_the_optimum(seed):
    problem, result = solved(seed)
    rng = np.random.default_rng(seed)
    most = result.certificate.objective + ROUNDING
    for multipliers in garbage(problem, result.multipliers, rng):
        assert -ROUNDING <= dual_bound(problem, multipliers) <= most, describe(problem)


@pytest.mark.parametrize("seed", SEEDS)
def test_the_right_multipliers_give_a_tight_bound(seed):
    problem, result = solved(seed)
    bound = dual_bound(problem, result.multipliers)
    value = result.certificate.objective
    assert value - bound <= 1e-7 * max(value, 1e-2), describe(problem)


@pytest.mark.parametrize("radius", [0.0, 1e-6])
@pytest.mark.parametrize("seed", range(12))
def test_the_bound_stays_tight_at_a_tiny_radius(seed, radius):
    problem, result = solved(seed, radius)
    bound = dual_bound(problem, result.multipliers)
    value = result.certificate.objective
    assert bound <= value + ROUNDING, describe(problem)
    assert value - bound <= 1e-6 * max(value, 1e-2), describe(problem)


def test_the_bound_is_not_lost_on_the_way_to_no_radius():
    """The optimum without a budget bounds all others, so that no radius is too small."""
    for seed in range(12):
        problem, result = solved(seed, 1e-11)
        bound = dual_bound(problem, result.multipliers)
        value = result.certificate.objective
        assert bound <= value + ROUNDING, describe(problem)
        assert value - bound <= 1e-5 * max(value, 1e-2), describe(problem)


def noisy(found, rng):
    arrays = (found.alpha, found.phi, found.beta)
    spoilt = (each * rng.lognormal(sigma=1e-3, size=each.shape) for each in arrays)
    return Multipliers(*spoilt, flow=found.flow, gradient=found.gradient)


@pytest.mark.parametrize("seed", [3, 4, 6, 7, 8, 11, 15])
def test_noise_is_steered_out_where_scaling_would_lose_the_bound(seed):
    problem, result = solved(seed, 1e-4)
    multipliers = noisy(result.multipliers, np.random.default_rng(seed))
    value = result.certificate.objective
    by_scaling = dual_bound(problem, multipliers, enough=0.0)
    steered = dual_bound(problem, multipliers)
    assert by_scaling <= 0.9 * value
    assert 0.999 * value <= steered <= value + ROUNDING


@pytest.mark.parametrize("seed", [3, 8, 11, 15])
def test_multipliers_of_a_larger_radius_are_shortened_without_much_loss(seed):
    """Scaling all of them would cost the bound the same share as the budget."""
    _, larger = solved(seed, 1.1e-2)
    problem, result = solved(seed, 1e-2)
    value = result.certificate.objective
    bound = dual_bound(problem, larger.multipliers)
    assert 0.97 * value <= bound <= value + ROUNDING, describe(problem)


def two_points(norm="l1", **options):
    """One row a class at -1 and 1: the optimum is the radius, while that is below 1."""
    X, y = np.array([[-1.0], [1.0]]), np.array([0, 1])
    ball = WassersteinBall(0.1, norm=norm)
    return RobustProblem.of(X, y, np.full(2, 0.5), ball, n_classes=2, **options)


@pytest.mark.parametrize("norm", ["l1", "l2", "linf"])
def test_two_points_by_hand(norm):
    alpha = np.array([[0.45, 0.05], [0.05, 0.45]])
    exact = Multipliers(alpha, np.zeros((2, 2)), np.zeros((2, 2)))
    assert dual_bound(two_points(norm), exact) == pytest.approx(0.1, rel=1e-12)


def test_what_exceeds_the_budget_is_scaled_down():
    alpha = np.full((2, 2), 0.25)
    twofold = Multipliers(alpha, np.zeros((2, 2)), np.zeros((2, 2)))
    assert dual_bound(two_points(), twofold) == pytest.approx(0.1, rel=1e-12)


def test_flips_are_paid_from_the_budget():
    """All flips go to the classes of the other row; winners leave no slope."""
    problem = two_points()
    flip = replace(problem, ball=WassersteinBall(0.1, 0.5, "l1"))
    phi = np.array([[0.0, 0.1], [0.1, 0.0]])
    stay = Multipliers(np.diag([0.4, 0.4]), phi, phi.copy())
    assert dual_bound(flip, stay) == pytest.approx(0.2, rel=1e-12)
    # Without a winner the flipped class wins itself.
    assert dual_bound(flip, replace(stay, beta=np.zeros((2, 2)))) == pytest.approx(0.2)
    # Where no flip is possible nothing of it counts.
    assert dual_bound(problem, stay) == 0.0


@pytest.mark.parametrize("seed", range(5))
def test_one_class_and_an_intercept_leave_nothing_to_bound(seed):
    """A constant scores no loss, hence slopes must cancel: no mass can leave a label."""
    rng = np.random.default_rng(seed)
    problem = RobustProblem.of(
        rng.normal(size=(6, 2)), np.zeros(6, int), np.full(6, 1 / 6),
        WassersteinBall(0.5), n_classes=3,
    )  # fmt: skip
    multipliers = Multipliers(*rng.exponential(size=(3, 6, 3)))
    assert dual_bound(problem, multipliers) <= ROUNDING
    assert dual_bound(replace(problem, fit_intercept=False), multipliers) > 0.01


def test_mass_that_leaves_one_label_only_bounds_nothing():
    """Tilting cannot balance what is all on one class."""
    ball = WassersteinBall(10.0)
    problem = RobustProblem.of(
        np.eye(2), np.zeros(2, int), np.full(2, 0.5), ball, n_classes=2
    )
    alpha = np.array([[0.0, 0.5], [0.0, 0.5]])
    hard = Multipliers(alpha, np.zeros((2, 2)), np.zeros((2, 2)))
    assert dual_bound(problem, hard) <= 1e-6
    assert dual_bound(replace(problem, fit_intercept=False), hard) == pytest.approx(1.0)


def test_hard_multipliers_are_loosened_until_they_balance():
    """All mass is on the rivals, a trace too much of it on one side."""
    X, y = np.zeros((3, 1)), np.array([0, 0, 1])
    weight = np.array([0.25, 0.25 + 1e-10, 0.5 - 1e-10])
    problem = RobustProblem.of(X, y, weight, WassersteinBall(1.0), n_classes=2)
    alpha = weight[:, None] * np.array([[0.0, 1.0], [0.0, 1.0], [1.0, 0.0]])
    hard = Multipliers(alpha, np.zeros((3, 2)), np.zeros((3, 2)))
    assert dual_bound(problem, hard) == pytest.approx(1.0, rel=1e-6)


@pytest.mark.parametrize("radius", [0.0, 0.3])
def test_a_separating_feature_that_cannot_be_moved_leaves_nothing_to_bound(radius):
    rng = np.random.default_rng(0)
    y = np.arange(8) % 2
    X = np.column_stack([rng.normal(size=8), 2.0 * y - 1])
    ball = WassersteinBall(radius, feature_cost=[1.0, np.inf])
    problem = RobustProblem.of(X, y, np.full(8, 1 / 8), ball, 2, fit_intercept=False)
    multipliers = Multipliers(*rng.exponential(size=(3, 8, 2)))
    assert problem.risk(np.array([[0.0, -1.0], [0.0, 1.0]]), np.zeros(2)).value == 0.0
    assert dual_bound(problem, multipliers) <= ROUNDING


@pytest.mark.parametrize("seed", range(10))
def test_blocks_and_sparse_rows_give_the_same_bound(seed, monkeypatch):
    problem, result = solved(seed)
    expected = dual_bound(problem, result.multipliers)
    monkeypatch.setattr(blocks, "BLOCK_ENTRIES", 40)
    for X in (problem.X, sparse.csr_array(problem.X)):
        found = dual_bound(problem.with_rows(X=X), result.multipliers)
        assert found == pytest.approx(expected, rel=1e-7, abs=1e-9)


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("n_threads", [1, 2, 5])
def test_threads_do_not_change_a_bit(seed, n_threads, monkeypatch):
    problem, result = solved(seed)
    multipliers = noisy(result.multipliers, np.random.default_rng(seed))
    point = result.coef, result.intercept
    monkeypatch.setattr(blocks, "BLOCK_ENTRIES", 20)
    expected = certify(problem, *point, multipliers)
    monkeypatch.setattr(row_threads, "MIN_ROWS", 1)
    monkeypatch.setattr(row_threads, "n_processors", lambda: n_threads)
    assert certify(problem, *point, multipliers) == expected


def test_certificate_states_the_risk_of_the_classifier():
    problem, result = solved(3)
    point = 2 * result.coef, result.intercept + 1.0
    found = certify(problem, *point, result.multipliers)
    assert (found.objective, found.lam) == problem.risk(*point)
    assert found.dual_bound == dual_bound(problem, result.multipliers)
    assert found.gap == found.objective - found.dual_bound


@pytest.mark.parametrize("loss", [LOSSES["logistic"], Loss(temperature=0.0, margin=2.0)])
def test_multipliers_of_another_loss_are_refused(loss):
    problem, result = solved(0)
    with pytest.raises(ValueError, match="not those of the loss"):
        dual_bound(replace(problem, loss=loss), result.multipliers)


def test_multipliers_are_balanced_from_the_middle():
    """The same rows, shifted: the same bound, though b is now a million times as large."""
    near, far = far_problem(0.0), far_problem(2.0**20)
    far = RobustProblem.of(near.X + 2.0**20, near.y, near.weight, near.ball, n_classes=2)
    rng = np.random.default_rng(3)
    masses = Multipliers(*rng.uniform(size=(3, 20, 2)))
    assert dual_bound(far, masses) == pytest.approx(dual_bound(near, masses), rel=1e-6)


BEYOND = np.full((2, 2), 0.25)  # spends 0.5 where the budget is 0.1


GRADIENT = np.array([[0.1], [-0.1]])


def a_row_a_class():
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
    problem = a_row_a_class()
    within = halves(np.array([[0.46, 0.04], [0.04, 0.46]]), gradient=GRADIENT)
    assert dual_bound(problem, within) == pytest.approx(0.08)
    beyond = halves(gradient=GRADIENT)
    dual_point(problem, beyond, steering=False)
    dual_bound(problem, halves())
    assert steerings == []
    assert dual_bound(problem, beyond) == pytest.approx(0.1)
    assert steerings == [(Multipliers, 0.0)]


def test_a_bound_that_is_enough_is_not_steered(steerings):
    problem, beyond = a_row_a_class(), halves(gradient=GRADIENT)
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
    problem, beyond = a_row_a_class(), halves(gradient=GRADIENT)
    work = 2 * (2 * (1 + 1)) ** 2
    monkeypatch.setattr(
        certificate, "CERTIFICATE", replace(CERTIFICATE, max_steering_work=work - 1)
    )
    dual_bound(problem, beyond)
    assert steerings == []
    monkeypatch.setattr(
        certificate, "CERTIFICATE", replace(CERTIFICATE, max_steering_work=work)
    )
    dual_bound(problem, beyond)
    assert len(steerings) == 1


def test_what_cannot_be_balanced_is_loosened_and_may_still_be_steered(
    steerings, monkeypatch
):
    balanced, sources = certificate._balanced, []

    def unbalanced(problem, multipliers, equalities):
        sources.append(type(multipliers))
        rough = balanced(problem, multipliers, equalities)[1]
        return SimpleNamespace(is_feasible=False), rough

    monkeypatch.setattr(certificate, "_balanced", unbalanced)
    within = halves(np.array([[0.46, 0.04], [0.04, 0.46]]), gradient=GRADIENT)
    assert dual_bound(a_row_a_class(), within) == 0.0
    assert sources == [Multipliers, Loosened]
    assert [kind for kind, _ in steerings] == [Loosened]


def test_flips_are_tilted_jointly_and_a_tiny_radius_without_a_budget(steerings):
    ball = WassersteinBall(0.1, 0.5, "l1")
    flipped = halves(np.full((2, 2), 0.2), 0.1, gradient=GRADIENT)
    problem = replace(a_row_a_class(), ball=ball)
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
    monkeypatch.setattr(
        certificate, "CERTIFICATE", replace(CERTIFICATE, max_joint_entries=entries)
    )
    assert certificate._can_tilt_jointly(problem, 1e-300) is True
    assert not certificate._can_tilt_jointly(problem, 0.0)
    smooth = replace(problem, loss=LOSSES["logistic"])
    assert certificate._can_tilt_jointly(smooth, 0.1) is False
    monkeypatch.setattr(
        certificate, "CERTIFICATE", replace(CERTIFICATE, max_joint_entries=entries - 1)
    )
    assert certificate._can_tilt_jointly(problem, 0.1) is False


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


def test_steering_shortens_flips_and_the_gradient_into_the_budget():
    """The rows' gradient is twice the norm's own: steered to it, all of it is paid."""
    problem = a_row_a_class()
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


def test_steering_gives_the_mass_of_flips_beyond_the_budget_back():
    """Flips of 0.1 each cost a half: with half of that budget, half of them remain."""
    ball = WassersteinBall(0.05, 0.5, "l1")
    problem = replace(a_row_a_class(), ball=ball)
    flipped = halves(np.full((2, 2), 0.2), 0.1, gradient=0.0 * GRADIENT)
    found = certificate._steered(problem, flipped, np.zeros(1, dtype=bool), 0.1)
    assert found.on_flips == pytest.approx(0.05)


def smooth_case(radius=0.05, norm="l2", **options):
    """Trusted labels, a classifier, and tangents there that cost too much."""
    rng = np.random.default_rng(5)
    y = np.arange(40) % 4
    X = rng.normal(size=(40, 3)) + 2 * rng.normal(size=(4, 3))[y]
    ball = WassersteinBall(radius, np.inf, norm)
    weight, loss = np.full(40, 1 / 40), LOSSES["logistic"]
    problem = RobustProblem.of(X, y, weight, ball, 4, loss=loss, **options)
    coef, intercept = 0.5 * rng.normal(size=(4, 3)), np.zeros(4)
    return problem, coef, intercept, DrawnTangents(coef, intercept, 1.0)


@pytest.mark.parametrize("norm", ["l1", "l2", "linf"])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_tangents_that_cost_too_much_are_drawn_to_the_labels(norm, fit_intercept):
    problem, *_, tangents = smooth_case(norm=norm, fit_intercept=fit_intercept)
    equalities = certificate.Equalities.of(problem, np.zeros(3, dtype=bool))
    balanced, _ = certificate._balanced(problem, tangents, equalities)
    plain = certificate._point(balanced, None)
    drawn = certificate._drawn(problem, balanced, plain)
    share = plain.share(problem.radius)
    assert share < 1
    assert drawn.bound(problem.radius) > plain.bound(problem.radius)
    assert drawn.spending <= problem.radius * (1 + 1e-12)
    assert dual_bound(problem, tangents) >= drawn.bound(problem.radius)
    # The value of drawn tangents, from the rows themselves.
    rows = balanced.rows()
    winners = share * rows.winners + (1 - share) * np.eye(4)[problem.y]
    entropy = -(winners * np.log(winners)).sum(axis=1)
    assert drawn.value == pytest.approx(problem.weight @ entropy, rel=1e-9)
    # The slopes of drawn tangents are those of all others, but shorter.
    gradient = (problem.weight[:, None] * (winners - np.eye(4)[problem.y])).T @ problem.X
    np.testing.assert_allclose(gradient, share * balanced.totals.gradient, atol=1e-12)
    found = product_newton(replace(problem, ball=replace(problem.ball, norm="l2")), TIGHT)
    if norm == "l2":
        assert drawn.bound(problem.radius) <= found.certificate.objective


def test_both_kinds_of_tangents_are_drawn_alike():
    problem, coef, intercept, tangents = smooth_case()
    scores = problem.X @ coef.T + intercept

    class General:
        flow = gradient = None

        def rows(self, problem, rows):
            masses = problem.weight[rows][:, None] * np.eye(4)[problem.y[rows]]
            return RowTangents(problem.loss, scores[rows], masses)

    # Tilts of the two end at slightly different places.
    found = [dual_point(problem, each, steering=False) for each in (tangents, General())]
    assert found[0] == pytest.approx(found[1], rel=1e-4)
    scaled = 0.9 * found[0].value
    assert min(point.bound(problem.radius) for point in found) > scaled


def test_points_within_the_budget_and_with_flips_are_not_drawn():
    problem, *_, tangents = smooth_case(radius=50.0)
    equalities = certificate.Equalities.of(problem, np.zeros(3, dtype=bool))
    balanced, _ = certificate._balanced(problem, tangents, equalities)
    within = certificate._point(balanced, None)
    assert certificate._drawn(problem, balanced, within) is within
    dear = within._replace(on_moves=100.0)
    assert certificate._drawn(problem, balanced, dear) is not dear
    flippable = replace(problem, ball=replace(problem.ball, label_cost=1.0))
    assert certificate._drawn(flippable, balanced, dear) is dear


def test_drawn_tangents_are_steered_all_the_same(monkeypatch):
    """They spend just the budget, but not as they should."""
    problem, *_, tangents = smooth_case()
    tried = []
    monkeypatch.setattr(
        certificate, "_steered", lambda *told, **more: tried.append(told) or NOTHING
    )
    dual_point(problem, replace(tangents, gradient=np.zeros((4, 3))))
    assert tried


@pytest.mark.parametrize("size", [1e-13, 4e-11, 1e-9, 1e-6])
def test_a_little_mass_that_nearly_balances_proves_no_loss(size):
    """Two classes that a feature of infinite cost separates: long coefficients lose
    nothing."""
    X, y = np.array([[-1.0], [-1e-3], [1e-3], [1.0]]), np.array([0, 0, 1, 1])
    ball = WassersteinBall(0.1, feature_cost=[np.inf])
    problem = RobustProblem.of(X, y, np.full(4, 0.25), ball, 2, fit_intercept=False)
    assert problem.risk(np.array([[-500.0], [500.0]]), np.zeros(2)).value == 0
    alpha = 0.25 * np.eye(2)[y]
    alpha[1], alpha[2] = [0.25 - size, size], [size, 0.25 - size]
    none = np.zeros_like(alpha)
    assert dual_bound(problem, Multipliers(alpha, none, none)) <= 1e-12
