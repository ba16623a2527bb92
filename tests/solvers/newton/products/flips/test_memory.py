"""Passes over rows whose labels can be flipped."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from scipy.optimize import minimize_scalar

from wdrsvm.solvers.newton.products.design import At, in_columns
from wdrsvm.solvers.newton.products.flips.memory import FlipDesign, LastScores
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


def test_scores_of_the_last_point_say_the_same(design):
    table = BlockScores(design.problem.n_rows, 4, np.float64)
    knows = replace(design, last=LastScores(table), priors={}, every=3, n_heavy=5)
    plain = replace(design, every=3, n_heavy=5)
    one, other = point(design), point(design, seed=2)
    fresh = one._replace(price=0.3)
    assert_same(knows.curvature(fresh)[:3], plain.curvature(fresh)[:3])
    for at in (one, one, other, one):
        price = plain.evaluate(at).price
        assert_same(knows.evaluate(at), plain.evaluate(at))
        at = at._replace(price=price)
        assert knows.seen(at).scores is table
        assert knows.seen(point(design)).scores is None
        for each in (knows, plain):
            each.learn(at)
        assert_same(knows.curvature(at)[:3], plain.curvature(at)[:3])
        assert_same(knows.heavy_curvature(at)[:2], plain.heavy_curvature(at)[:2])
        assert_same(knows.look(at, 1.0, 50).close, plain.look(at, 1.0, 50).close)
        np.testing.assert_array_equal(knows.shares(at), plain.shares(at))


def assert_same(found, expected):
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_array_equal(one, other)


def test_scores_are_kept_where_there_is_room():
    problem = blobs(n_classes=4)
    assert LastScores.of(problem, np.float32).table is None
    many = problem.take(np.tile(np.arange(300), 50))
    assert LastScores.of(many, np.float32).table.flat.shape == (60_000,)


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
