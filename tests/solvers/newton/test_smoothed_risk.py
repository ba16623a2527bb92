"""Passes over the rows: one answer however the rows are stored, split and shared out."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse

from wdrsvm.rows import blocks
from wdrsvm.rows import reduce as sweeps
from wdrsvm.rows.reduce import MemoryReduction
from wdrsvm.solvers.newton import smoothing
from wdrsvm.solvers.newton.settings import NEWTON
from wdrsvm.solvers.newton.smoothed_risk import SmoothedRisk
from wdrsvm.solvers.scaling import Scaling

from ...agreement.instances import random_problem
from .cases import EVERY_SEED, LAM, MU, coefficients, smoothed_over


def everything(smoothed, coef):
    """All that smoothed return at a point, in one list of arrays."""
    now = smoothed.evaluate(coef, LAM, MU)
    least, margins = smoothed.margins(coef, LAM, 3)
    width = np.median(margins)
    far = smoothed.evaluate_far(coef, LAM, MU, margins, width)
    return [*now, least, margins, *far[:-1], curvature_at(smoothed, coef)]


def curvature_at(smoothed, coef, share=1.0, seed=0):
    now = smoothed.evaluate(coef, LAM, MU)
    return smoothed.curvature(coef, LAM, MU, now, share, seed)


def assert_equal(found, expected):
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_array_equal(one, other)


def assert_close(found, expected):
    for one, other in zip(found, expected, strict=True):
        scale = np.abs(other).max(initial=1.0)
        np.testing.assert_allclose(one, other, rtol=1e-10, atol=1e-11 * scale)


def mapped(X, folder):
    path = folder / "rows.npy"
    np.save(path, X)
    return np.load(path, mmap_mode="r")


@pytest.mark.parametrize("seed", EVERY_SEED)
def test_sparse_and_mapped_rows_are_as_dense_ones(seed, tmp_path):
    problem = random_problem(seed)
    coef = coefficients(problem)
    expected = everything(smoothed_over(problem), coef)
    for X in (sparse.csr_array(problem.X), mapped(problem.X, tmp_path)):
        assert_close(everything(smoothed_over(problem.with_rows(X=X)), coef), expected)


@pytest.mark.parametrize("n_threads", [1, 2, 5])
def test_threads_do_not_change_a_bit(n_threads, monkeypatch):
    monkeypatch.setattr(blocks, "BLOCK_ENTRIES", 40)
    monkeypatch.setattr(sweeps, "PICKED_BLOCK", 7)
    for seed in EVERY_SEED:
        problem = random_problem(seed)
        coef = coefficients(problem)
        expected = everything(smoothed_over(problem), coef)
        with ThreadPoolExecutor(n_threads) as pool:
            assert_equal(everything(smoothed_over(problem, pool.map), coef), expected)


@pytest.mark.parametrize("block", [1, 25, 90])
def test_blocks_change_only_the_rounding(block, monkeypatch):
    for seed in EVERY_SEED:
        problem = random_problem(seed)
        coef = coefficients(problem)
        expected = everything(smoothed_over(problem), coef)
        with monkeypatch.context() as patch:
            patch.setattr(blocks, "BLOCK_ENTRIES", block)
            patch.setattr(sweeps, "PICKED_BLOCK", block)
            assert_close(everything(smoothed_over(problem), coef), expected)


def value_at(smoothed, coef, lam):
    return smoothed.evaluate(coef, lam, MU).loss


@pytest.mark.parametrize("seed", EVERY_SEED)
def test_gradient_is_that_of_the_loss(seed):
    problem = random_problem(seed)
    smoothed, coef = smoothed_over(problem), coefficients(problem)
    rng = np.random.default_rng(seed)
    d_coef, d_lam, h = rng.normal(size=coef.shape), rng.normal(), 1e-6
    now = smoothed.evaluate(coef, LAM, MU)
    up, down = (value_at(smoothed, coef + t * d_coef, LAM + t * d_lam) for t in (h, -h))
    slope = np.vdot(now.gradient, d_coef) - now.on_flips * d_lam
    assert (up - down) / (2 * h) == pytest.approx(slope, rel=1e-6, abs=1e-8)


@pytest.mark.parametrize("seed", EVERY_SEED)
def test_curvature_is_that_of_the_gradient(seed, monkeypatch):
    monkeypatch.setattr(smoothing, "NEWTON", replace(NEWTON, saturated=-1.0))
    problem = random_problem(seed)
    smoothed, coef = smoothed_over(problem), coefficients(problem)
    rng = np.random.default_rng(seed)
    d_coef, d_lam, h = rng.normal(size=coef.shape), rng.normal(), 1e-5
    matrix = curvature_at(smoothed, coef)
    ends = [smoothed.evaluate(coef + t * d_coef, LAM + t * d_lam, MU) for t in (h, -h)]
    slopes = [np.append(end.gradient, -end.on_flips) for end in ends]
    expected = (slopes[0] - slopes[1]) / (2 * h)
    found = matrix @ np.append(d_coef, d_lam)
    np.testing.assert_allclose(found, expected, atol=1e-6 * np.abs(matrix).max())


def test_curvature_of_some_rows_speaks_for_all():
    """On average over the draws, and nothing is drawn where no row has curvature."""
    problem = random_problem(3)
    smoothed, coef = smoothed_over(problem), coefficients(problem)
    whole = curvature_at(smoothed, coef)
    drawn = [curvature_at(smoothed, coef, 0.5, seed) for seed in range(400)]
    assert len({matrix[0, 0] for matrix in drawn}) > 100
    np.testing.assert_allclose(
        np.mean(drawn, axis=0), whole, atol=0.1 * np.abs(whole).max()
    )
    none = smoothed.evaluate(coef, LAM, MU)._replace(n_soft=0)
    empty = smoothed.curvature(coef, LAM, MU, none, 1.0, 0)
    np.testing.assert_array_equal(empty, np.zeros_like(whole))


@pytest.mark.parametrize("seed", EVERY_SEED)
def test_near_and_far_rows_add_up(seed):
    problem = random_problem(seed)
    smoothed, coef = smoothed_over(problem), coefficients(problem)
    least, margins = smoothed.margins(coef, LAM, 4)
    np.testing.assert_array_equal(least, np.sort(margins)[:4])
    now = smoothed.evaluate(coef, LAM, MU)
    far = smoothed.evaluate_far(coef, LAM, MU, margins, least[-1])
    near = smoothed_over(problem.take(np.flatnonzero(margins <= least[-1])))
    near = replace(near, smoothing=smoothed.smoothing).evaluate(coef, LAM, MU)
    assert far.loss + near.loss == pytest.approx(now.loss)
    np.testing.assert_allclose(far.gradient + near.gradient, now.gradient, atol=1e-12)


@pytest.mark.parametrize("seed", EVERY_SEED)
def test_hard_values_are_those_of_the_problem(seed):
    """With lam at its best and no smoothing, the risk."""
    problem = random_problem(seed)
    scaling, coef = Scaling.of(problem), coefficients(problem)
    value, lam = problem.risk(*scaling.original(coef))
    hard = smoothed_over(problem).evaluate(coef, lam * scaling.unit, 1e-12)
    assert problem.radius * lam + hard.loss == pytest.approx(value, rel=1e-9)


@pytest.mark.parametrize("seed", EVERY_SEED)
def test_a_sample_of_the_rows_is_their_own_problem(seed):
    problem = random_problem(seed)
    smoothed, coef = smoothed_over(problem), coefficients(problem)
    rows = np.arange(0, problem.n_rows, 2)
    trust = problem.label_trust
    part = problem.with_rows(
        X=problem.X[rows],
        y=problem.y[rows],
        weight=problem.weight[rows] / problem.weight[rows].sum(),
        label_trust=None if trust is None else trust[rows],
    )
    alone = SmoothedRisk.over(part, smoothed.scaling, MemoryReduction(part, map))
    assert_equal(everything(smoothed.on(rows), coef), everything(alone, coef))


@pytest.mark.parametrize("seed", EVERY_SEED)
def test_label_costs_are_those_of_the_rows(seed):
    problem = random_problem(seed)
    for rows in (slice(None), slice(1, 4), np.array([0, 3])):
        table, line = problem.flip_cost_table(rows)
        np.testing.assert_array_equal(table[line], problem.attainable_flip_cost(rows))
