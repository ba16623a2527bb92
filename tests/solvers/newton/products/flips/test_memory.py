"""Passes over rows whose labels can be flipped."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from scipy.optimize import minimize_scalar

from wdrsvm.solvers.newton.products.curvature import own_rows
from wdrsvm.solvers.newton.products.design import At, in_columns
from wdrsvm.solvers.newton.products.flips.memory import FlipDesign
from wdrsvm.solvers.newton.products.line import BlockScores
from wdrsvm.solvers.newton.products.settings import PRODUCTS
from wdrsvm.solvers.scaling import Scaling

from ..test_loop import blobs

BUDGET, MU = 0.07, 0.4


@pytest.fixture(params=["one block", "scores not kept"])
def design(request, monkeypatch):
    problem = blobs(n_classes=4, ball={"label_cost": 1.0})
    problem = problem.with_rows(label_trust=np.tile([1.0, 0.5, np.inf], 100))
    scaling = Scaling.of(problem)
    prepared = problem.by_chunks(partial(in_columns, scaling, np.float64))
    if request.param != "one block":
        few = replace(PRODUCTS, max_held=1)
        monkeypatch.setattr("wdrsvm.solvers.newton.products.flips.memory.PRODUCTS", few)
        monkeypatch.setattr("wdrsvm.rows.blocks.BLOCK_ENTRIES", 500)
    with prepared.reduction() as reduction:
        yield FlipDesign(scaling, reduction, problem=prepared, budget=BUDGET)


def point(design, price=0.0, mu=MU, seed=1):
    n_columns = design.scaling.n_columns
    return At(np.random.default_rng(seed).normal(size=(4, n_columns)), price, mu)


def total(design, at):
    """What the pass minimises over the price."""
    sums = design.evaluate(at)
    return BUDGET * sums.price + sums.loss


def test_the_price_is_the_best_one(design):
    at = point(design)
    free = design.evaluate(at)
    assert free.flipped == pytest.approx(BUDGET)
    best = minimize_scalar(
        lambda price: total(design, at._replace(price=price)), (free.price, 2 * free.price)
    )
    assert total(design, at) == pytest.approx(best.fun, rel=1e-9)
    higher = design.evaluate(at._replace(price=2 * free.price))
    assert higher.price == 2 * free.price
    assert higher.flipped < BUDGET


def test_the_gradient_by_finite_differences(design):
    at, step = point(design), 1e-5 * point(design, seed=2).coef
    design.learn(point(design, seed=3))
    ends = [total(design, at._replace(coef=at.coef + sign * step)) for sign in (1, -1)]
    slope = np.vdot(design.evaluate(at).gradient, step)
    assert (ends[0] - ends[1]) / 2 == pytest.approx(slope, rel=1e-6)


def unsmoothed(design, at):
    return replace(design, priors={}).evaluate(at._replace(mu=1e-10))


def test_without_smoothing_it_is_the_largest_loss(design):
    at, problem = point(design), design.problem
    found = unsmoothed(design, at)
    scores = problem.X @ at.coef.T
    price = found.price * problem.label_trust[:, None] * np.ones(4)
    price[np.arange(300), problem.y] = 0.0
    losses = (problem.loss.of_labels(scores) - price).max(axis=1)
    assert found.loss == pytest.approx(problem.weight @ losses, rel=1e-8)


def test_learnt_shares_make_the_smoothed_loss_larger_and_its_masses_stay(design):
    at = point(design)
    before, masses = design.evaluate(at), design.shares(at)
    np.testing.assert_allclose(masses.sum(axis=1), 1.0)
    # Labels of infinite trust are not flipped.
    assert (masses[np.arange(2, 300, 3), design.problem.y[2::3]] == 1).all()
    design.learn(at)
    after = design.evaluate(at)
    true = unsmoothed(design, at)
    for sums in (before, after):
        assert BUDGET * sums.price + sums.loss < BUDGET * true.price + true.loss
    assert after.smoothing < before.smoothing
    assert after.loss + BUDGET * after.price > before.loss + BUDGET * before.price


def test_curvature_of_one_row_out_of_three(design):
    design.learn(point(design))
    price = design.evaluate(point(design)).price
    at = point(design, price)
    whole = design.curvature(at)
    third = replace(design, every=3).curvature(at)
    assert [part.shape for part in whole[:3]] == [part.shape for part in third[:3]]
    assert third.mass.sum() == pytest.approx(whole.mass.sum(), rel=0.3)


def test_kept_scores_say_the_same(design):
    design = replace(design, priors={}, every=3, n_heavy=5)
    table, plain = BlockScores(design.problem.n_rows, 4, np.float64), point(design, 0.3)
    for rows in design.problem.blocks():
        table[rows][:] = plain.coef @ design.problem.X[rows].T
    kept = plain._replace(scores=table)
    before = table.flat.copy()
    assert_same(design.evaluate(kept)[:3], design.evaluate(plain)[:3])
    for at in (kept, plain):
        design.learn(at)
    assert_same(design.curvature(kept)[:3], design.curvature(plain)[:3])
    assert_same(design.heavy_curvature(kept)[:2], design.heavy_curvature(plain)[:2])
    assert_same(design.look(kept, 1.0, 50).close, design.look(plain, 1.0, 50).close)
    np.testing.assert_array_equal(design.shares(kept), design.shares(plain))
    np.testing.assert_array_equal(table.flat, before)


def assert_same(found, expected):
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_array_equal(one, other)


def test_own_rows_know_the_curvature_of_flips(design, monkeypatch):
    many = replace(PRODUCTS, own_rows=100, least_own_work=0)
    monkeypatch.setattr(own_rows, "PRODUCTS", many)
    design.learn(point(design))
    at, problem = point(design, design.evaluate(point(design)).price), design.problem
    every = np.hstack([design._spread(at, problem, rows)[1] for rows in problem.blocks()])
    found = design.curvature(at).own.curvature
    expected = design.own_rows.weighted(every[problem.y, np.arange(300)]).curvature
    np.testing.assert_allclose(found, expected)
    assert (found > 0).sum() == 300


def test_heavy_rows_have_the_largest_curvature_of_flips_too(design):
    design = replace(design, n_heavy=3)
    design.learn(point(design))
    at = point(design, design.evaluate(point(design)).price)
    sums, found = design.curvature(at), design.heavy_curvature(at)
    np.testing.assert_allclose(found.mass, sums.mass)
    np.testing.assert_allclose(found.first, sums.first)
    blocks = design.problem.blocks()
    every = np.hstack([design._spread(at, design.problem, rows)[1] for rows in blocks])
    largest = np.sort(every, axis=1)[:, -3:]
    np.testing.assert_allclose(np.sort(found.entries.curvature, axis=1), largest)
    held = np.take_along_axis(every, found.entries.rows, axis=1)
    np.testing.assert_allclose(found.entries.curvature, held)
