"""What must hold of the optimum itself, whoever computes it.

Each optimum is a bracket: an objective that is attained and a bound below it.  Two
optima that must be equal have brackets that meet.
"""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from scipy.optimize import linprog

from wdrsvm.problem import RobustProblem, WassersteinBall, canonical_rows
from wdrsvm.robustness import radius_max_of
from wdrsvm.solvers.interior_point.loop import interior_point
from wdrsvm.solvers.result import SolverSettings

from ..agreement.instances import describe, random_problem

SETTINGS = SolverSettings(tol=1e-8)
SEEDS = range(12)
SLACK = 1e-10
DUAL_ORDER = {"l1": np.inf, "l2": 2, "linf": 1}
every_norm = pytest.mark.parametrize("norm", list(DUAL_ORDER))
every_seed = pytest.mark.parametrize("seed", SEEDS)


def bracket(problem):
    found = interior_point(problem, SETTINGS).certificate
    assert found.holds(1e-6), describe(problem)
    return found


def assert_same_optimum(one, other):
    first, second = bracket(one), bracket(other)
    assert first.dual_bound <= second.objective + SLACK, describe(one)
    assert second.dual_bound <= first.objective + SLACK, describe(one)


def assert_no_larger(one, other):
    """The optimum of the first is at most that of the second."""
    assert bracket(one).dual_bound <= bracket(other).objective + SLACK, describe(one)


def with_ball(problem, **changes):
    return replace(problem, ball=replace(problem.ball, **changes))


def clusters(n_rows=40, n_features=3, n_classes=3, seed=0):
    rng = np.random.default_rng(seed)
    y = np.arange(n_rows) % n_classes
    return rng.normal(size=(n_rows, n_features)) + y[:, None], y


def problem_of(X, y, radius=0.1, label_cost=np.inf, norm="l1", **options):
    weight = np.full(len(y), 1.0 / len(y))
    ball = WassersteinBall(radius, label_cost, norm)
    return RobustProblem.of(X, y, weight, ball, int(y.max()) + 1, **options)


def erm_program(X, y, radius, norm, fit_intercept=True):
    """min radius * L(M) + mean loss, as a linear program over (M, b), lam, s, u.

    ``u`` (pairs, P) bounds the entries of the differences for linf transport.
    """
    (n_rows, n_features), n_classes = X.shape, int(y.max()) + 1
    design = np.column_stack([X, np.full(n_rows, float(fit_intercept))])
    rivals = [(n, j) for n in range(n_rows) for j in range(n_classes) if j != y[n]]
    classes = np.eye(n_classes)
    pairs = np.array([classes[i] - classes[j] for i in range(n_classes) for j in range(i)])
    diff = np.kron(pairs, np.eye(n_features, n_features + 1))
    sums = np.kron(np.eye(len(pairs)), np.ones((1, n_features)))
    bound = np.eye(len(diff)) if norm == "linf" else np.zeros((len(diff), len(diff)))
    lam = np.full((len(diff), 1), float(norm == "l1"))
    rows = [
        [
            np.array([np.kron(classes[j] - classes[y[n]], design[n]) for n, j in rivals]),
            np.zeros((len(rivals), 1)),
            -np.array([np.arange(n_rows) == n for n, _ in rivals]).astype(float),
            np.zeros((len(rivals), len(diff))),
        ],
        *([sign * diff, -lam, np.zeros((len(diff), n_rows)), -bound] for sign in (1, -1)),
        [
            np.zeros((len(pairs), diff.shape[1])),
            -np.ones((len(pairs), 1)),
            np.zeros((len(pairs), n_rows)),
            sums,
        ],
    ]
    matrix = np.block(rows)
    limit = np.zeros(len(matrix))
    limit[: len(rivals)] = -1.0
    weights = np.full(n_rows, 1.0 / n_rows)
    cost = np.concatenate([np.zeros(diff.shape[1]), [radius], weights, np.zeros(len(diff))])
    bounds = [(None, None)] * diff.shape[1] + [(0, None)] * (1 + n_rows + len(diff))
    return linprog(cost, matrix, limit, bounds=bounds).fun


@pytest.mark.parametrize("norm", ["l1", "linf"])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_trusted_labels_are_the_regularised_problem(norm, fit_intercept):
    X, y = clusters()
    problem = problem_of(X, y, 0.1, np.inf, norm, fit_intercept=fit_intercept)
    found = bracket(problem).objective
    expected = erm_program(X, y, 0.1, norm, fit_intercept)
    assert found == pytest.approx(expected, rel=1e-6)


@every_norm
@pytest.mark.parametrize("label_cost", [2.0, np.inf])
def test_no_radius_is_empirical_risk_minimisation(norm, label_cost):
    X, y = clusters()
    expected = erm_program(X, y, 0.0, "l1")
    found = bracket(problem_of(X, y, 0.0, label_cost, norm)).objective
    assert found == pytest.approx(expected, rel=1e-6)


@every_seed
def test_a_vanishing_radius_tends_to_no_radius(seed):
    none = bracket(random_problem(seed, radius=0.0))
    tiny = bracket(random_problem(seed, radius=1e-6))
    assert tiny.objective >= none.dual_bound - SLACK
    # The optimum rises by at most radius * lam, lam being that of the larger problem.
    steep = bracket(random_problem(seed, radius=1e-3))
    rise = 1e-6 * interior_point(random_problem(seed, radius=0.0), SETTINGS).certificate.lam
    assert tiny.dual_bound <= none.objective + max(rise, 1e-6 * steep.lam) + 1e-4


@every_seed
def test_beyond_radius_max_the_optimum_is_that_of_a_constant_classifier(seed):
    """No coefficient counts any more, and twice the radius changes nothing."""
    problem = with_ball(random_problem(seed, radius=0.0), feature_cost=None)
    radius = 2 * radius_max_of(problem, tol=1e-6) + 1e-6
    result = interior_point(problem.with_radius(radius), SETTINGS)
    there = problem.with_radius(1e3 * radius)
    constant = there.risk(0.0 * result.coef, result.intercept).value
    assert bracket(there).objective == pytest.approx(constant, rel=1e-5, abs=1e-7)
    assert result.certificate.objective == pytest.approx(constant, rel=1e-5, abs=1e-7)


def test_beyond_radius_max_the_value_is_by_hand():
    """One for doubtful labels; for trusted ones the best constant's risk."""
    X, y = clusters(44)
    assert bracket(problem_of(X, y, 50.0, 2.0)).objective == pytest.approx(1.0, rel=1e-6)
    X, y = X[y < 2], y[y < 2]
    rare = np.r_[np.flatnonzero(y == 0), np.flatnonzero(y == 1)[:5]]
    problem = problem_of(X[rare], y[rare], 50.0, np.inf)
    share = (y[rare] == 1).mean()
    assert bracket(problem).objective == pytest.approx(2 * share, rel=1e-6)


@every_seed
def test_the_optimum_is_concave_and_never_falls_with_the_radius(seed):
    problem = random_problem(seed)
    radii = np.array([0.0, 1e-3, 0.01, 0.05, 0.1, 0.3, 1.0])
    found = [bracket(problem.with_radius(radius)) for radius in radii]
    low = np.array([each.dual_bound for each in found])
    high = np.array([each.objective for each in found])
    assert (low[:-1] <= high[1:] + SLACK).all()
    for k in range(1, len(radii) - 1):
        share = (radii[k] - radii[k - 1]) / (radii[k + 1] - radii[k - 1])
        chord = (1 - share) * low[k - 1] + share * low[k + 1]
        assert high[k] >= chord - SLACK, describe(problem)


@every_seed
def test_the_optimum_lies_below_the_tangent_at_any_radius(seed):
    """The multiplier of the ball is the slope of the optimum."""
    problem = random_problem(seed)
    here = bracket(problem.with_radius(0.05))
    for radius in (0.0, 0.02, 0.1, 0.5):
        there = bracket(problem.with_radius(radius))
        tangent = here.objective + here.lam * (radius - 0.05)
        assert there.dual_bound <= tangent + SLACK


@every_seed
def test_the_optimum_never_rises_with_the_label_cost(seed):
    problem = random_problem(seed, radius=0.05)
    found = [
        bracket(with_ball(problem, label_cost=cost))
        for cost in (0.0, 0.05, 0.3, 1.0, 5.0, np.inf)
    ]
    for cheap, dear in pairwise(found):
        assert dear.dual_bound <= cheap.objective + SLACK


@every_seed
def test_dearer_features_and_surer_labels_never_raise_the_optimum(seed):
    problem = random_problem(seed, radius=0.05)
    cost = np.where(np.arange(problem.n_features) % 2, 3.0, 1.0) * problem.feature_cost
    assert_no_larger(with_ball(problem, feature_cost=cost), problem)
    trust = np.ones(problem.n_rows) if problem.label_trust is None else problem.label_trust
    surer = problem.with_rows(label_trust=trust + np.arange(problem.n_rows) % 3)
    assert_no_larger(surer, problem)


@pytest.mark.parametrize("seed", range(6))
def test_the_norms_are_ordered(seed):
    """A unit of l1 transport moves less than one of l2, and that less than one of linf."""
    l1, l2, linf = (random_problem(seed, norm=norm) for norm in DUAL_ORDER)
    assert_no_larger(l1, l2)
    assert_no_larger(l2, linf)


@every_seed
def test_names_of_classes_do_not_matter(seed):
    problem = random_problem(seed)
    order = np.random.default_rng(seed).permutation(problem.n_classes)
    cost = np.empty_like(problem.label_cost)
    cost[np.ix_(order, order)] = problem.label_cost
    renamed = with_ball(problem, label_cost=cost).with_rows(y=order[problem.y])
    assert_same_optimum(problem, renamed)


@every_seed
@pytest.mark.parametrize("factor", [1e-2, 30.0])
def test_units_of_the_features_do_not_matter(seed, factor):
    problem = random_problem(seed)
    ball = {"radius": factor * problem.radius, "label_cost": factor * problem.label_cost}
    assert_same_optimum(problem, with_ball(problem, **ball).with_rows(X=factor * problem.X))


@every_seed
def test_feature_costs_are_units(seed):
    """x / c at cost c is x at cost 1, for every feature that can be moved."""
    problem = random_problem(seed)
    cost = problem.feature_cost
    touchable = np.isfinite(cost)
    X = problem.X * np.where(touchable, cost, 1.0)
    plain = with_ball(problem, feature_cost=np.where(touchable, 1.0, np.inf))
    assert_same_optimum(problem, plain.with_rows(X=X))


@every_seed
def test_repeated_rows_are_weights(seed):
    problem = random_problem(seed)
    times = np.random.default_rng(seed).integers(1, 4, problem.n_rows)
    weight = problem.weight * times
    weighted = problem.with_rows(weight=weight / weight.sum())
    index = np.arange(problem.n_rows).repeat(times)
    trust = problem.label_trust
    repeated = problem.with_rows(
        X=problem.X[index],
        y=problem.y[index],
        weight=problem.weight[index] / weight.sum(),
        label_trust=None if trust is None else trust[index],
    )
    assert_same_optimum(weighted, repeated)


@every_seed
def test_rows_of_zero_weight_are_absent(seed):
    problem = random_problem(seed)
    keep = np.arange(problem.n_rows) % 4 != 3
    keep[: problem.n_classes] = True
    weight = np.where(keep, problem.weight, 0.0)
    rows = canonical_rows(problem.X, problem.y, weight, problem.label_trust)
    trust = problem.label_trust
    absent = problem.with_rows(
        X=problem.X[keep],
        y=problem.y[keep],
        weight=weight[keep] / weight.sum(),
        label_trust=None if trust is None else trust[keep],
    )
    same = problem.with_rows(
        X=rows.X, y=rows.y, weight=rows.weight, label_trust=rows.label_trust
    )
    assert_same_optimum(same, absent)


@every_seed
def test_the_order_of_features_and_rows_does_not_matter(seed):
    problem = random_problem(seed)
    rng = np.random.default_rng(seed)
    features = rng.permutation(problem.n_features)
    rows = rng.permutation(problem.n_rows)
    trust = problem.label_trust
    moved = with_ball(problem, feature_cost=problem.feature_cost[features])
    shuffled = moved.with_rows(
        X=problem.X[np.ix_(rows, features)],
        y=problem.y[rows],
        weight=problem.weight[rows],
        label_trust=None if trust is None else trust[rows],
    )
    assert_same_optimum(problem, shuffled)


@every_seed
def test_the_origin_does_not_matter_where_there_is_an_intercept(seed):
    problem = replace(random_problem(seed), fit_intercept=True)
    shift = 5 * np.random.default_rng(seed).normal(size=problem.n_features)
    assert_same_optimum(problem, problem.with_rows(X=problem.X + shift))


@every_seed
def test_mirrored_features_have_the_same_optimum(seed):
    problem = random_problem(seed)
    sign = np.where(np.arange(problem.n_features) % 2, 1.0, -1.0)
    assert_same_optimum(problem, problem.with_rows(X=problem.X * sign))


@pytest.mark.parametrize("seed", range(6))
def test_a_rotation_does_not_matter_to_the_l2_norm(seed):
    problem = with_ball(random_problem(seed, norm="l2"), feature_cost=None)
    size = problem.n_features
    rotation = np.linalg.qr(np.random.default_rng(seed).normal(size=(size, size)))[0]
    assert_same_optimum(problem, problem.with_rows(X=problem.X @ rotation))


@every_seed
def test_a_shift_of_all_classes_does_not_change_the_risk_at_the_optimum(seed):
    problem = random_problem(seed)
    result = interior_point(problem, SETTINGS)
    shift = np.random.default_rng(seed).normal(size=problem.n_features)
    shifted = problem.risk(result.coef + shift, result.intercept - 3.0).value
    assert shifted == pytest.approx(result.certificate.objective, rel=1e-9)


def binary_program(X, y, radius, label_cost):
    """The binary DR-SVM for l1 transport: hinge, flips at a cost, ||w||_inf <= lam."""
    n_rows, n_features = X.shape
    signed = (2 * y - 1)[:, None] * np.column_stack([X, np.ones(n_rows)])
    lam, n_columns = n_features + 1, n_features + 2 + n_rows
    slack = np.eye(n_rows)
    column = np.ones((n_rows, 1))
    rows = [np.hstack([-signed, 0 * column, -slack])]
    if np.isfinite(label_cost):
        rows.append(np.hstack([signed, -label_cost * column, -slack]))
    limits = [-np.ones(n_rows)] * len(rows)
    for sign in (1.0, -1.0):
        box = np.zeros((n_features, n_columns))
        box[:, :n_features], box[:, lam] = sign * np.eye(n_features), -1.0
        rows.append(box)
        limits.append(np.zeros(n_features))
    cost = np.r_[np.zeros(n_features + 1), radius, np.full(n_rows, 1.0 / n_rows)]
    bounds = [(None, None)] * (n_features + 1) + [(0, None)] * (1 + n_rows)
    return linprog(cost, np.vstack(rows), np.concatenate(limits), bounds=bounds)


@pytest.mark.parametrize("radius", [0.0, 0.05, 0.4])
@pytest.mark.parametrize("label_cost", [0.1, 1.0, np.inf])
def test_two_classes_are_the_binary_machine(radius, label_cost):
    X, y = clusters(50, 4, 2)
    expected = binary_program(X, y, radius, label_cost)
    result = interior_point(problem_of(X, y, radius, label_cost), SETTINGS)
    assert result.certificate.objective == pytest.approx(expected.fun, rel=1e-6)


def test_two_classes_have_the_binary_machines_coefficients():
    X, y = clusters(50, 4, 2)
    expected = binary_program(X, y, 0.05, 1.0).x[:4]
    coef = interior_point(problem_of(X, y, 0.05, 1.0), SolverSettings(tol=1e-10)).coef
    np.testing.assert_allclose(coef[1] - coef[0], expected, atol=1e-5)


def random_adversary(problem, rng):
    """Atoms (row, mass, move, label) of a distribution, and what it costs to get there.

    Every row is split into three atoms that are moved and relabelled at random.
    """
    cost = problem.feature_cost
    touchable = np.isfinite(cost)
    row = np.arange(problem.n_rows).repeat(3)
    mass = rng.exponential(size=(problem.n_rows, 3))
    mass *= (problem.weight / mass.sum(axis=1))[:, None]
    move = rng.normal(size=(len(row), problem.n_features)) * touchable
    move *= rng.exponential(size=(len(row), 1)) * (rng.random((len(row), 1)) < 0.7)
    own = problem.flip_cost()
    own[np.arange(problem.n_rows), problem.y] = 0.0
    drawn = rng.random((len(row), problem.n_classes))
    likely = np.where(np.isfinite(own[row]), drawn, -1.0)
    label = np.where(rng.random(len(row)) < 0.3, likely.argmax(axis=1), problem.y[row])
    order = {"l1": 1, "l2": 2, "linf": np.inf}[problem.ball.norm]
    length = np.linalg.norm(move * np.where(touchable, cost, 0.0), order, axis=1)
    return row, mass.ravel(), move, label, length + own[row, label]


def risk_of_atoms(problem, coef, intercept, atoms):
    """Expected loss under a distribution on explicit atoms."""
    row, mass, move, label, _ = atoms
    losses = problem.loss.of_labels((problem.X[row] + move) @ coef.T + intercept)
    return mass @ losses[np.arange(len(row)), label]


@every_norm
@every_seed
def test_no_distribution_in_the_ball_is_worse_than_the_objective(seed, norm):
    problem = random_problem(seed, norm=norm, radius=0.1)
    result = interior_point(problem, SETTINGS)
    point = result.coef, result.intercept
    home = problem.loss.of_labels(problem.scores(*point))
    kept = problem.weight @ home[np.arange(problem.n_rows), problem.y]
    rng = np.random.default_rng(seed)
    for _ in range(20):
        atoms = random_adversary(problem, rng)
        spent = atoms[1] @ atoms[4]
        # Only a share of the mass goes, so that the budget is just spent.
        share = min(1.0, problem.radius / spent) if spent > 0 else 1.0
        away = risk_of_atoms(problem, *point, atoms)
        risk = share * away + (1 - share) * kept
        assert risk <= result.certificate.objective + SLACK, describe(problem)
