"""The multipliers of the method in matrix products."""

from dataclasses import replace

import numpy as np
import pytest

from wdrsvm.problem import dual_bound
from wdrsvm.solvers import SolverSettings
from wdrsvm.solvers.newton.products.flips.label_shares import LabelShares
from wdrsvm.solvers.newton.products.line import BlockScores
from wdrsvm.solvers.newton.products.loop import product_newton
from wdrsvm.solvers.newton.products.settings import PRODUCTS
from wdrsvm.solvers.newton.products.tangents import (
    DrawnTangents,
    KnownScores,
    with_winners,
)

from .test_loop import blobs


def drawn(price=np.inf):
    rng = np.random.default_rng(0)
    coef, intercept = rng.normal(size=(20, 8)), np.zeros(20)
    shares = (
        None if price == np.inf else LabelShares(coef / 0.1, intercept, price / 0.1, 0.0)
    )
    return DrawnTangents(coef, intercept, 0.7, shares=shares)


def limit(monkeypatch, **limits):
    module = "wdrsvm.solvers.newton.products.tangents.PRODUCTS"
    monkeypatch.setattr(module, replace(PRODUCTS, **limits))


def test_points_computed_once_are_those_of_the_rows(monkeypatch):
    problem, rows = blobs(ball={"label_cost": 1.0}), slice(100, 200)
    limit(monkeypatch, least_kept_scores=0)
    for price in (np.inf, 1.0):
        kept = with_winners(drawn(price), problem)
        assert kept.winners is not None
        one, other = drawn(price).rows(problem, rows), kept.rows(problem, rows)
        np.testing.assert_array_equal(one.points, other.points)
        assert dual_bound(problem, drawn(price)) == dual_bound(problem, kept)


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_known_scores_take_the_place_of_a_product(kind):
    problem, at = blobs(), drawn()
    scores = BlockScores(problem.n_rows, problem.n_classes, kind)
    for rows in problem.blocks():
        scores[rows][:] = problem.scores(at.coef, at.intercept, rows).T / 0.8
    known = KnownScores(problem, scores, scale=0.8)
    found = with_winners(replace(at, coef=0 * at.coef), problem, known).winners
    rtol = 1e-5 if kind is np.float32 else 1e-12
    every = slice(0, problem.n_rows)
    np.testing.assert_allclose(found, at.trusted(problem, every).winners, rtol=rtol)
    np.testing.assert_allclose(found.sum(axis=1), 1.0, rtol=1e-14)


def test_drawn_slopes_and_flips_are_a_share_of_those_that_are_not():
    problem, rows = blobs(ball={"label_cost": 1.0}), slice(100, 200)
    masses = np.random.default_rng(1).dirichlet(np.ones(20), 300)
    whole = replace(drawn(), share=1.0, shares=masses).rows(problem, rows)
    some = replace(drawn(), shares=masses).rows(problem, rows)
    y, cost = problem.y[rows], problem.attainable_flip_cost(rows)
    np.testing.assert_allclose(some.slopes(y), 0.7 * whole.slopes(y), atol=1e-12)
    assert some.spending(cost) == pytest.approx(0.7 * whole.spending(cost))
    weight = problem.weight[rows]
    assert some.value(weight, y) > 0.7 * whole.value(weight, y)


@pytest.mark.parametrize(
    "limits", [{"max_kept_winners": 5999}, {"least_kept_scores": 6001}], ids=["many", "few"]
)
def test_points_of_too_many_rows_or_too_few_are_not_kept(limits, monkeypatch):
    limit(monkeypatch, **{"least_kept_scores": 6000, **limits})
    assert with_winners(drawn(), blobs()).winners is None


def test_a_result_does_not_hold_them(monkeypatch):
    found = product_newton(blobs(), SolverSettings(tol=1e-3))
    assert found.multipliers.winners is None
    flipped = blobs(ball={"label_cost": 1.0})
    found = product_newton(flipped, SolverSettings(tol=1e-3))
    assert found.multipliers.winners is None
    assert found.multipliers.shares.shape == (300, 20)
    few = replace(PRODUCTS, max_kept_winners=5999)
    monkeypatch.setattr("wdrsvm.solvers.newton.products.loop.PRODUCTS", few)
    assert product_newton(flipped, SolverSettings(tol=1e-3)).multipliers is None
