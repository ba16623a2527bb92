"""The solver's units and back again."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse

from wdrsvm.problem import LOSSES, RobustProblem, WassersteinBall
from wdrsvm.problem.norms import lipschitz
from wdrsvm.rows import blocks
from wdrsvm.rows.blocks import dense_rows
from wdrsvm.solvers import SolverSettings, solve
from wdrsvm.solvers.scaling import Scaling

from ..agreement.instances import random_problem

# Instances of which none has fewer rows than features.
SEEDS = [seed for seed in range(26) if random_problem(seed).n_rows >= 9]


def random_coefficients(problem, seed=0):
    rng = np.random.default_rng(seed)
    coef = rng.normal(size=(problem.n_classes, problem.n_features))
    intercept = rng.normal(size=problem.n_classes) * problem.fit_intercept
    return coef - coef.mean(axis=0), intercept - intercept.mean()


def random_columns(problem, scaling):
    shape = problem.n_classes, scaling.n_columns
    return np.random.default_rng(0).normal(size=shape)


@pytest.mark.parametrize("seed", SEEDS)
def test_original_undoes_scaled(seed):
    problem = random_problem(seed)
    scaling = Scaling.of(problem)
    coef, intercept = random_coefficients(problem)
    columns = scaling.scaled(coef, intercept)
    assert columns.shape == (problem.n_classes, scaling.n_columns)
    back = scaling.original(columns)
    np.testing.assert_allclose(back[0], coef, atol=1e-12)
    np.testing.assert_allclose(back[1], intercept, atol=1e-12)


@pytest.mark.parametrize("seed", SEEDS)
def test_scaled_undoes_original_up_to_a_shift_of_all_classes(seed):
    problem = random_problem(seed)
    scaling = Scaling.of(problem)
    columns = random_columns(problem, scaling)
    back = scaling.scaled(*scaling.original(columns))
    np.testing.assert_allclose(back, columns - columns.mean(axis=0), atol=1e-11)


@pytest.mark.parametrize("seed", SEEDS)
def test_original_classes_sum_to_zero(seed):
    problem = random_problem(seed)
    scaling = Scaling.of(problem)
    columns = random_columns(problem, scaling)
    coef, intercept = scaling.original(columns)
    np.testing.assert_allclose(coef.sum(axis=0), 0.0, atol=1e-12)
    assert intercept.sum() == pytest.approx(0.0, abs=1e-11)
    if not problem.fit_intercept:
        np.testing.assert_array_equal(intercept, 0.0)


@pytest.mark.parametrize("seed", SEEDS)
def test_the_design_gives_the_scores(seed):
    problem = random_problem(seed)
    scaling = Scaling.of(problem)
    coef, intercept = random_coefficients(problem)
    expected = problem.scores(coef, intercept)
    columns = scaling.scaled(coef, intercept)
    for X in (problem.X, sparse.csr_array(problem.X)):
        np.testing.assert_allclose(scaling.design(X) @ columns.T, expected, atol=1e-10)


@pytest.mark.parametrize("seed", SEEDS)
def test_the_modulus_is_measured_in_units(seed):
    """lam of the solver is lam of the problem times the unit."""
    problem = random_problem(seed)
    scaling = Scaling.of(problem)
    coef, intercept = random_coefficients(problem)
    touchable = scaling.scaled(coef, intercept)[:, : scaling.n_touchable]
    plain = lipschitz(coef, problem.ball.norm, problem.attainable_feature_cost())
    inside = lipschitz(touchable, problem.ball.norm, np.ones(scaling.n_touchable))
    assert inside == pytest.approx(plain * scaling.unit)


@pytest.mark.parametrize("seed", SEEDS)
def test_gradients_are_scaled_as_the_adjoint(seed):
    problem = random_problem(seed)
    scaling = Scaling.of(problem)
    rng = np.random.default_rng(seed)
    slopes = rng.normal(size=(problem.n_rows, problem.n_classes))
    gradient, total = slopes.T @ problem.X, slopes.sum(axis=0)
    found = scaling.scaled_gradient(gradient, total)
    expected = slopes.T @ scaling.design(problem.X)
    np.testing.assert_allclose(found, expected, atol=1e-11)


@pytest.mark.parametrize("seed", SEEDS)
def test_multipliers_on_features_pull_as_those_on_columns(seed):
    problem = random_problem(seed)
    scaling = Scaling.of(problem)
    coef, intercept = random_coefficients(problem)
    rng = np.random.default_rng(seed)
    inside = rng.normal(size=(problem.n_classes, scaling.n_touchable))
    columns = scaling.scaled(coef, intercept)[:, : scaling.n_touchable]
    found = scaling.on_features(inside)
    assert np.vdot(found, coef) == pytest.approx(np.vdot(inside, columns))
    assert not found[:, ~scaling.touchable].any()


@pytest.mark.parametrize("seed", SEEDS)
def test_a_typical_column_has_size_one(seed):
    problem = random_problem(seed)
    scaling = replace(Scaling.of(problem), rotation=None)
    largest = np.abs(scaling.design(problem.X)).max(axis=0)
    touchable, rest = np.split(largest, [scaling.n_touchable])
    assert (rest <= 1 + 1e-12).all()
    assert np.log(touchable).sum() == pytest.approx(0.0, abs=1e-10)


def wide_problem(norm="l2", fit_intercept=True):
    """Fewer rows than touchable features, and one that cannot be moved."""
    rng = np.random.default_rng(0)
    cost = np.append(rng.uniform(0.5, 2.0, 12), np.inf)
    X, y = rng.normal(size=(7, 13)), np.arange(7) % 3
    ball = WassersteinBall(0.1, norm=norm, feature_cost=cost)
    return RobustProblem.of(X, y, np.full(7, 1 / 7), ball, 3, fit_intercept)


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_few_rows_rotate_the_l2_norm_and_lose_nothing(fit_intercept):
    problem = wide_problem(fit_intercept=fit_intercept)
    scaling = Scaling.of(problem)
    assert scaling.n_touchable <= 7
    columns = np.random.default_rng(1).normal(size=(3, scaling.n_columns))
    columns -= columns.mean(axis=0)
    coef, intercept = scaling.original(columns)
    scores = problem.scores(coef, intercept)
    np.testing.assert_allclose(scaling.design(problem.X) @ columns.T, scores, atol=1e-12)
    np.testing.assert_allclose(scaling.scaled(coef, intercept), columns, atol=1e-12)
    inside = columns[:, : scaling.n_touchable]
    modulus = lipschitz(inside, "l2", np.ones(scaling.n_touchable)) / scaling.unit
    assert problem.modulus(coef) == pytest.approx(modulus)


def test_rows_are_rotated_if_they_have_more_features_than_asked_for():
    problem = wide_problem()
    for features_per_row, n_columns in ((12.1 / 7, 14), (11.9 / 7, 9)):
        assert Scaling.of(problem, features_per_row).n_columns == n_columns


def test_few_rows_keep_the_columns_of_other_norms():
    for norm in ("l1", "linf"):
        assert Scaling.of(wide_problem(norm)).n_columns == 14


def test_coefficients_beside_the_data_are_dropped_by_the_rotation():
    problem = wide_problem()
    scaling = Scaling.of(problem)
    coef, intercept = random_coefficients(problem)
    kept = scaling.original(scaling.scaled(coef, intercept))
    expected = problem.scores(coef, intercept)
    np.testing.assert_allclose(problem.scores(*kept), expected, atol=1e-12)
    assert problem.modulus(kept[0]) < problem.modulus(coef)


def test_untouchable_columns_come_after_touchable_ones():
    cost = np.array([np.inf, 2.0, np.inf, 1.0])
    X, y = np.eye(4), np.arange(4) % 2
    ball = WassersteinBall(0.1, feature_cost=cost)
    problem = RobustProblem.of(X, y, np.full(4, 0.25), ball, 2)
    scaling = Scaling.of(problem)
    assert (scaling.n_touchable, scaling.n_columns) == (2, 5)
    moved = scaling.design(np.arange(4.0)[None] + X) - scaling.design(X)
    unit = scaling.unit
    np.testing.assert_allclose(moved[:, :2], np.tile([2.0 / unit, 3.0 / unit], (4, 1)))
    assert Scaling.of(problem.with_radius(0.0)).n_touchable == 0


def test_constant_and_empty_columns_keep_finite_scales():
    X, y = np.zeros((6, 3)), np.arange(6) % 2
    X[:, 1] = 7.0
    for cost in (None, np.full(3, np.inf)):
        ball = WassersteinBall(0.1, feature_cost=cost)
        problem = RobustProblem.of(X, y, np.full(6, 1 / 6), ball, 2)
        scaling = Scaling.of(problem)
        assert np.isfinite(scaling.column_scale).all()
        assert np.isfinite(scaling.design(X)).all()


def test_a_constant_column_is_not_blown_up_by_its_rounding():
    """Its weighted mean differs from it by rounding, which is no spread."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 2)), np.arange(60) % 3
    X[:, 1] = 1000 / 7
    for seed in range(20):
        weight = np.random.default_rng(seed).exponential(size=60)
        problem = RobustProblem.of(X, y, weight / weight.sum(), WassersteinBall(0.0), 3)
        assert Scaling.of(problem).column_scale[1] <= 1e3


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_blocks_and_sparse_rows_give_the_same_scaling(fit_intercept, monkeypatch):
    problem = replace(random_problem(2), fit_intercept=fit_intercept)
    expected = Scaling.of(problem)
    monkeypatch.setattr(blocks, "BLOCK_ENTRIES", 40)
    for X in (problem.X, sparse.csr_array(problem.X)):
        found = Scaling.of(problem.with_rows(X=X))
        np.testing.assert_allclose(found.column_scale, expected.column_scale)
        np.testing.assert_allclose(found.centre, expected.centre, atol=1e-15)
        assert found.unit == pytest.approx(expected.unit)


def test_the_centre_is_the_weighted_mean_where_an_intercept_takes_it_up():
    problem = random_problem(2)
    free = Scaling.of(replace(problem, fit_intercept=True))
    bound = Scaling.of(replace(problem, fit_intercept=False))
    np.testing.assert_allclose(free.centre, problem.weight @ problem.X)
    np.testing.assert_array_equal(bound.centre, 0.0)


def test_dense_rows_are_floats():
    found = dense_rows(sparse.csr_array(np.eye(2, dtype=np.float32)))
    np.testing.assert_array_equal(found, np.eye(2))
    assert found.dtype == dense_rows(np.eye(2, dtype=int)).dtype == np.float64


@pytest.mark.parametrize(("offset", "is_far"), [(0.0, False), (3.0, False), (1e9, True)])
def test_digits_are_chosen_only_for_columns_far_from_zero(offset, is_far):
    rng = np.random.default_rng(0)
    X, weight = rng.uniform(-1, 1, size=(40, 3)) + offset, np.full(40, 1 / 40)
    problem = RobustProblem.of(X, np.arange(40) % 3, weight, WassersteinBall(0.1), 3)
    assert Scaling.of(problem).is_far == is_far


def beside_a_constant(constant, loss="logistic", **options):
    """Rows of three classes, and a first column that is the same in all of them."""
    rng = np.random.default_rng(0)
    y = np.arange(19) % 3
    X = np.column_stack([np.full(19, constant), rng.normal(size=(19, 2)) + y[:, None]])
    given = np.full(19, 1 / 19), WassersteinBall(0.06), 3
    return RobustProblem.of(X, y, *given, loss=LOSSES[loss], **options)


def test_a_constant_column_has_no_slope_where_an_intercept_is_free():
    problem = beside_a_constant(2.1e14)
    slopes = np.random.default_rng(1).normal(size=(19, 3))
    gradient, slope_sum = (problem.X.T @ slopes).T, slopes.sum(axis=0)
    found = Scaling.of(problem).scaled_gradient(gradient, slope_sum)
    assert not found[:, 0].any()
    assert found[:, 1:].all()
    bare = Scaling.of(beside_a_constant(2.1e14, fit_intercept=False))
    assert bare.scaled_gradient(gradient, slope_sum)[:, 0].all()


@pytest.mark.parametrize("loss", sorted(LOSSES))
def test_a_large_constant_column_changes_nothing(loss):
    """Its slope would be rounding, which Newton's method would follow for a second."""
    settings = SolverSettings(tol=1e-6)
    without, found = (
        solve(beside_a_constant(constant, loss), "newton", settings)
        for constant in (0.0, 2.1e14)
    )
    assert found.status == without.status
    assert found.n_iter == without.n_iter
    assert not found.coef[:, 0].any()
    np.testing.assert_allclose(found.coef, without.coef, atol=1e-9)
    np.testing.assert_allclose(found.intercept, without.intercept, atol=1e-9)
