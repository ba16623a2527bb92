"""Levels of spans and lengths: their systems, their classifiers, and steps with them."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest

from wdrsvm.solvers import SolverSettings, SolverStatus
from wdrsvm.solvers.newton.products.curvature.preconditioner import ClassInverse
from wdrsvm.solvers.newton.products.design import in_columns
from wdrsvm.solvers.newton.products.diameter import PairDiameter
from wdrsvm.solvers.newton.products.flips import descent as steps
from wdrsvm.solvers.newton.products.flips.close import CloseFlips
from wdrsvm.solvers.newton.products.flips.descent import FlipDescent
from wdrsvm.solvers.newton.products.flips.level import Holds, balanced_changes, level_of
from wdrsvm.solvers.newton.products.flips.memory import FlipDesign
from wdrsvm.solvers.newton.products.flips.settings import LEVELS
from wdrsvm.solvers.newton.products.loop import product_newton
from wdrsvm.solvers.newton.smooth_loss import label_newton
from wdrsvm.solvers.scaling import Scaling

from ..test_loop import blobs

RADIUS, COST = 0.05, 6.0
SIZES = {"n_classes": 8, "n_features": 60}


@pytest.fixture(autouse=True)
def levels_on_few_rows(monkeypatch):
    monkeypatch.setattr(steps, "LEVELS", replace(LEVELS, least_holds=0, work=10**6))


@pytest.fixture
def descent():
    """Steps that have settled often; flips use a part of the radius."""
    problem = blobs(**SIZES, ball={"radius": RADIUS, "label_cost": COST})
    trust = np.tile([1.0, 0.5, np.inf, 2.0, 1.5], 60)
    problem = problem.with_rows(label_trust=trust)
    scaling = Scaling.of(problem)
    prepared = problem.by_chunks(partial(in_columns, scaling, np.float64))
    radius, cost = RADIUS / scaling.unit, COST / scaling.unit
    with prepared.reduction() as reduction:
        design = FlipDesign(scaling, reduction, problem=prepared, budget=radius / cost)
        diameter = PairDiameter.of(8, scaling.n_touchable)
        coef = np.random.default_rng(0).normal(size=(8, scaling.n_columns))
        found = FlipDescent(design, diameter, radius, coef, cost, tol=1e-3)
        for _ in range(8):
            settle(found)
            super(FlipDescent, found).sharpen()
        settle(found)
        yield found


def settle(descent):
    descent.step()
    while not descent.has_settled:
        descent.step()


def true_risk(descent, coef):
    """In the units of the solver's columns."""
    scaling, problem = descent.design.scaling, descent.design.problem
    original = blobs(**SIZES, ball={"radius": RADIUS, "label_cost": COST})
    original = original.with_rows(label_trust=problem.label_trust)
    return original.risk(*scaling.original(coef)).value


def random_holds(n=40, seed=0):
    rng = np.random.default_rng(seed)
    upper = rng.integers(0, 4, n)
    lower = (upper + rng.integers(1, 4, n)) % 4
    multipliers = np.where(rng.uniform(size=n) < 0.5, 0.0, rng.uniform(size=n))
    most = np.where(rng.uniform(size=n) < 0.3, multipliers + 0.05, np.inf)
    lines, excess, costs = rng.normal(size=(n, 12)), rng.normal(size=n), rng.uniform(size=n)
    return Holds(upper, lower, lines, excess, multipliers, most, costs)


def random_inverse(seed=1):
    rng = np.random.default_rng(seed)
    diagonal = rng.uniform(0.5, 2.0, size=(4, 12))
    return ClassInverse.of(diagonal, rng.normal(size=(4, 3, 12)), np.zeros(4))


def test_the_gram_matrix_is_that_of_the_holds():
    holds, inverse = random_holds(), random_inverse()
    every = [holds.pull(line, 4) for line in np.eye(40)]
    expected = [[np.vdot(one, inverse(other)) for other in every] for one in every]
    np.testing.assert_allclose(holds.gram(inverse), expected, atol=1e-12)


def test_changes_leave_excess_only_where_a_multiplier_is_at_its_bound(monkeypatch):
    precise = replace(LEVELS, few_wrong=0.0, rounds=50)
    monkeypatch.setattr("wdrsvm.solvers.newton.products.flips.level.LEVELS", precise)
    holds = random_holds()
    gram = holds.gram(random_inverse()) + 0.1 * np.eye(40)
    changes = balanced_changes(gram, holds)
    after = holds.multipliers + changes
    assert changes @ holds.costs == pytest.approx(0.0, abs=1e-9)
    assert (after >= -1e-12).all()
    assert (after <= holds.most + 1e-12).all()
    free = (after > 1e-12) & (after < holds.most - 1e-12)
    lacking = holds.excess - gram @ changes
    rise = np.median(lacking[free] / holds.costs[free])
    lacking -= rise * holds.costs
    np.testing.assert_allclose(lacking[free], 0.0, atol=1e-9)
    assert (lacking[after <= 1e-12] <= 1e-9).all()
    assert (lacking[after >= holds.most - 1e-12] >= -1e-9).all()
    assert 0 < free.sum() < 40


def test_a_matrix_without_digits_gives_no_changes():
    holds = random_holds()
    assert balanced_changes(np.full((40, 40), -1.0), holds) is None


def test_a_level_lowers_the_true_risk_and_a_tangent_bounds_it(descent):
    level = level_of(descent)
    assert 0 < descent.on_flips < descent.radius
    assert level.risk >= true_risk(descent, descent.coef) * (1 - 1e-9)
    before = true_risk(descent, descent.coef) - descent.smooth_risk
    assert true_risk(descent, level.coef) - descent.smooth_risk < 0.5 * before
    assert descent.least_risk_at(level.coef) <= true_risk(descent, level.coef)


def test_shares_of_a_level_sum_to_one_and_unflippable_labels_keep_theirs(descent):
    (prior,) = level_of(descent).priors.values()
    shares = np.exp(prior)
    np.testing.assert_allclose(shares.sum(axis=0), 1.0)
    assert (shares[descent.design.problem.y[2::5], np.arange(2, 300, 5)] > 1 - 1e-9).all()


def test_a_jump_that_does_not_lower_the_risk_is_undone(descent):
    level = level_of(descent)
    before = descent.coef, descent.sums, descent.diameter, dict(descent.design.priors)
    assert not descent._go_to(level._replace(risk=0.0))
    after = descent.coef, descent.sums, descent.diameter, dict(descent.design.priors)
    assert all(x is y for x, y in zip(before[:3], after[:3], strict=True))
    assert all(after[3][first] is prior for first, prior in before[3].items())
    assert descent._go_to(level)
    assert descent.coef is level.coef
    assert descent.n_jumps == 1


def test_a_level_is_computed_once_at_a_point(descent):
    assert descent.level() is descent.level()
    known = descent.level()
    descent.step()
    assert descent.level() is not known


def test_the_closest_flips_are_kept_in_order_of_rows():
    rng = np.random.default_rng(0)
    parts = [
        CloseFlips(rows, rows, rng.normal(size=9), np.ones(9), np.ones(9))
        for rows in (np.arange(9), np.arange(9, 18))
    ]
    kept = CloseFlips.joined(parts, 5)
    excess = np.concatenate([part.excess for part in parts])
    np.testing.assert_array_equal(kept.rows, np.sort(np.argsort(-excess)[:5]))
    np.testing.assert_array_equal(kept.excess, excess[kept.rows])


@pytest.mark.parametrize("tol", [1e-2, 1e-3, 1e-4])
@pytest.mark.parametrize(
    ("label_cost", "radius"), [(0.3, 0.05), (1.0, 0.3), (3.0, 0.3), (3.0, 0.01)]
)
def test_it_certifies_what_newton_finds(label_cost, radius, tol):
    problem = blobs(n_classes=8, ball={"label_cost": label_cost, "radius": radius})
    found = product_newton(problem, SolverSettings(tol=tol))
    other = label_newton(problem, SolverSettings(tol=1e-7)).certificate
    assert found.status is SolverStatus.CONVERGED
    assert found.certificate.dual_bound <= other.objective
    assert other.dual_bound <= found.certificate.objective
