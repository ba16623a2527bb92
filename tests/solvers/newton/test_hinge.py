"""The smoothing Newton: its gap, many rows, warm starts, polish and awkward data."""

from functools import cache

import numpy as np
import pytest
from scipy import sparse

from wdrsvm.solvers.interior_point.loop import interior_point
from wdrsvm.solvers.newton.hinge import smoothing_newton
from wdrsvm.solvers.newton.smoothed_risk import SmoothedRisk
from wdrsvm.solvers.result import SolverSettings, SolverStatus, Start

from ...agreement.instances import random_problem
from ..cases import (
    DEGENERATE,
    assert_solved,
    clusters,
    every_norm,
    problem_of,
)
from .cases import many_rows

DEFAULT = SolverSettings()


@cache
def solved_many(norm="l1", seed=0):
    return smoothing_newton(many_rows(norm), SolverSettings(seed=seed))


@every_norm
@pytest.mark.parametrize("build", DEGENERATE)
def test_awkward_data_are_solved(build, norm):
    """Its own certificate against the interior point's."""
    problem = build(norm)
    result = smoothing_newton(problem, DEFAULT)
    assert_solved(problem, result, 1e-6)
    other = interior_point(problem, DEFAULT).certificate
    assert result.certificate.dual_bound <= other.objective + 1e-9
    assert other.dual_bound <= result.certificate.objective + 1e-9


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("tol", [1e-3, 1e-6, 1e-8])
def test_the_gap_asked_for_is_reached(seed, tol):
    problem = random_problem(seed)
    assert_solved(problem, smoothing_newton(problem, SolverSettings(tol=tol)), tol)


@pytest.mark.parametrize("seed", range(12))
def test_no_radius_is_solved(seed):
    problem = random_problem(seed, radius=0.0)
    assert_solved(problem, smoothing_newton(problem, DEFAULT), 1e-6)


@every_norm
def test_many_rows_are_solved_from_samples_of_them(norm, monkeypatch):
    sizes = []
    sample = SmoothedRisk.on

    def counted(smoothed, rows):
        sizes.append(len(rows))
        return sample(smoothed, rows)

    monkeypatch.setattr(SmoothedRisk, "on", counted)
    problem = many_rows(norm)
    result = smoothing_newton(problem, DEFAULT)
    assert_solved(problem, result, 1e-6)
    assert sizes
    assert sizes == sorted(sizes)
    assert sizes[-1] < problem.n_rows / 2


def test_another_seed_brackets_the_same_optimum():
    one, other = solved_many(seed=0).certificate, solved_many(seed=1).certificate
    assert one.dual_bound <= other.objective
    assert other.dual_bound <= one.objective


def test_a_seed_fixes_every_bit():
    again = smoothing_newton(many_rows(), SolverSettings(seed=0))
    np.testing.assert_array_equal(again.coef, solved_many().coef)
    np.testing.assert_array_equal(again.intercept, solved_many().intercept)
    assert again.certificate == solved_many().certificate
    assert [r[:3] for r in again.history] == [r[:3] for r in solved_many().history]


def test_sparse_rows_are_as_dense_ones():
    problem = many_rows(n_rows=6000)
    dense = smoothing_newton(problem, DEFAULT)
    rows = problem.with_rows(X=sparse.csr_array(problem.X))
    found = smoothing_newton(rows, DEFAULT)
    assert_solved(rows, found, 1e-6)
    np.testing.assert_allclose(found.coef, dense.coef, atol=1e-4)


def test_rows_may_stay_on_disk(tmp_path):
    problem = many_rows(n_rows=6000)
    np.save(tmp_path / "rows.npy", problem.X)
    mapped = np.load(tmp_path / "rows.npy", mmap_mode="r")
    found = smoothing_newton(problem.with_rows(X=mapped), DEFAULT)
    np.testing.assert_array_equal(found.coef, smoothing_newton(problem, DEFAULT).coef)


def test_single_precision_rows_are_solved():
    problem = many_rows(n_rows=6000)
    narrow = problem.with_rows(X=problem.X.astype(np.float32))
    assert_solved(narrow, smoothing_newton(narrow, DEFAULT), 1e-6)


@every_norm
def test_a_warm_start_saves_steps(norm):
    """Over a few seeds: a lucky sample saves as many."""
    moved, steps = many_rows(norm).with_radius(0.021), []
    for seed in range(3):
        cold = solved_many(norm, seed)
        start = Start(cold.coef, cold.intercept, cold.certificate.lam)
        warm = smoothing_newton(moved, SolverSettings(seed=seed), start)
        assert_solved(moved, warm, 1e-6)
        steps.append((warm.n_iter, cold.n_iter))
    from_there, from_zero = np.sum(steps, axis=0)
    assert from_there < from_zero


@every_norm
@pytest.mark.parametrize("lam", [0.0, 50.0])
def test_any_point_will_do_as_a_start(norm, lam):
    problem = problem_of(*clusters(200), norm)
    rng = np.random.default_rng(0)
    for size in (1.0, 30.0):
        start = Start(size * rng.normal(size=(3, 4)), rng.normal(size=3), lam)
        assert_solved(problem, smoothing_newton(problem, DEFAULT, start), 1e-6)


@every_norm
def test_a_constant_classifier_will_do_as_a_start(norm):
    problem = problem_of(*clusters(200), norm)
    for intercept in ([0.0, 0.0, 0.0], [1.0, 0.0, -0.5], [-2.0, 1.0, 1.0]):
        start = Start(np.zeros((3, 4)), np.array(intercept), 0.0)
        assert_solved(problem, smoothing_newton(problem, DEFAULT, start), 1e-6)


@every_norm
def test_a_start_may_be_steep_between_classes_that_no_row_has(norm):
    """The cones bound all pairs, so that the first lam must exceed all of them."""
    problem = problem_of(*clusters(200), norm, label_cost=np.inf, n_classes=5)
    coef = np.random.default_rng(0).normal(size=(5, 4))
    coef[3:] *= [[10.0], [-10.0]]
    start = Start(coef, np.zeros(5), 0.0)
    assert_solved(problem, smoothing_newton(problem, DEFAULT, start), 1e-6)


def test_a_start_may_touch_features_that_cannot_be_moved():
    X, y = clusters(200)
    for radius, cost in ((0.0, None), (0.05, [1.0, np.inf, 2.0, np.inf])):
        problem = problem_of(X, y, "l1", radius, feature_cost=cost)
        start = Start(np.eye(3, 4), np.zeros(3), 1.0)
        assert_solved(problem, smoothing_newton(problem, DEFAULT, start), 1e-6)


def test_nothing_to_move_and_nothing_to_flip_needs_few_steps():
    problem = problem_of(np.empty((10, 0)), np.arange(10) % 2, "l2", 0.05, np.inf)
    result = smoothing_newton(problem, DEFAULT)
    assert_solved(problem, result, 1e-6)
    assert result.n_iter <= 60


def test_rows_of_zero_weight_do_no_harm():
    X, y = clusters(200)
    weight = np.where(np.arange(200) % 7, 1.0, 0.0)
    problem = problem_of(X, y, "l1", weight=weight)
    assert_solved(problem, smoothing_newton(problem, DEFAULT), 1e-6)


@every_norm
@pytest.mark.parametrize("max_iter", [1, 5, 12])
def test_stopped_early_it_tells_its_true_gap(max_iter, norm):
    problem = many_rows(norm)
    best = solved_many(norm).certificate
    result = smoothing_newton(problem, SolverSettings(max_iter=max_iter))
    found = result.certificate
    assert result.status is SolverStatus.MAX_ITER
    assert result.n_iter == max_iter
    assert found.objective == problem.risk(result.coef, result.intercept).value
    assert 0 <= found.dual_bound <= best.objective
    assert best.dual_bound <= found.objective


def test_every_round_is_told_to_the_callback():
    records = []
    result = smoothing_newton(many_rows(), SolverSettings(callback=records.append))
    assert tuple(records) == result.history
    assert (np.diff([record.seconds for record in records]) >= 0).all()
    bounds = [record.dual_bound for record in records]
    assert bounds == sorted(bounds)
    assert records[-1].objective == pytest.approx(result.certificate.objective, rel=1e-5)


def test_the_result_names_its_solver_and_says_nothing(capsys):
    assert smoothing_newton(problem_of(*clusters()), DEFAULT).solver == "newton"
    assert capsys.readouterr() == ("", "")
