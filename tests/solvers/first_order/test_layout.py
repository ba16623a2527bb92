"""Columns of the first-order method, and the way from features to columns and back."""

from dataclasses import replace

import numpy as np
import pytest

from wdrsvm import WassersteinBall
from wdrsvm.problem import RobustProblem
from wdrsvm.solvers import SolverSettings, SolverStatus, Start
from wdrsvm.solvers.first_order import layout as layout_module
from wdrsvm.solvers.first_order.layout import Layout
from wdrsvm.solvers.first_order.loop import first_order
from wdrsvm.solvers.first_order.settings import FIRST_ORDER
from wdrsvm.solvers.first_order.state import Ascent
from wdrsvm.solvers.interior_point.loop import interior_point

COSTS = {
    "equal": np.ones(160),
    "unequal": np.linspace(0.5, 2.0, 160),
    "some fixed": np.where(np.arange(160) % 40 == 0, np.inf, np.linspace(0.5, 2.0, 160)),
}


def few_rows(cost="unequal", fit_intercept=True):
    """Thirty rows of 160 features, far from zero."""
    rng = np.random.default_rng(0)
    y = np.arange(30) % 3
    X = 5 + rng.normal(size=(3, 160))[y] + 3 * rng.normal(size=(30, 160))
    ball = WassersteinBall(0.1, feature_cost=COSTS[cost])
    return RobustProblem.of(X, y, np.full(30, 1 / 30), ball, 3, fit_intercept)


def test_few_rows_are_turned_into_their_span():
    found = Layout.of(few_rows())
    assert found.touch.shape == (30, 30)
    np.testing.assert_allclose(found.rotation.T @ found.rotation, np.eye(30), atol=1e-12)
    many = few_rows().take(np.arange(30).repeat(4))
    assert Layout.of(many).rotation is None


@pytest.mark.parametrize("label_cost", [2.0, np.inf])
def test_pairs_of_turned_rows_adapt_as_often_as_before(label_cost, monkeypatch):
    """Rows of the span are short, but pairs of classes are no easier to learn."""
    rng = np.random.default_rng(0)
    y = np.arange(60) % 30
    X = 0.15 * rng.normal(size=(30, 300))[y] + rng.normal(size=(60, 300))
    ball = WassersteinBall(0.1, label_cost)
    problem = RobustProblem.of(X, y, np.full(60, 1 / 60), ball, 30, True)
    pace = Ascent(problem, None, 0).block.pace
    turned = first_order(problem, SolverSettings(tol=1e-3))
    plain = replace(FIRST_ORDER, turned_rows_per_class=0)
    monkeypatch.setattr(layout_module, "FIRST_ORDER", plain)
    assert Ascent(problem, None, 0).block.pace == pace
    again = first_order(problem, SolverSettings(tol=1e-3))
    assert turned.status is SolverStatus.CONVERGED
    assert turned.n_iter < 2 * again.n_iter


def test_rows_with_known_multipliers_are_not_turned():
    """Few epochs follow, and a turn takes as long as some of them."""
    problem = few_rows()
    assert Layout.of(problem, may_turn=False).rotation is None
    found = first_order(problem, SolverSettings(tol=1e-3))
    start = Start(found.coef, found.intercept, found.certificate.lam, found.multipliers)
    assert Ascent(problem, None, 0).layout.rotation is not None
    assert Ascent(problem, start, 0).layout.rotation is None


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("cost", COSTS)
def test_a_turn_changes_neither_scores_nor_lengths(cost, fit_intercept):
    problem = few_rows(cost, fit_intercept)
    found, rng = Layout.of(problem), np.random.default_rng(1)
    touch = rng.normal(size=(found.touch.shape[1], 3))
    free = rng.normal(size=(found.free.shape[1], 3))
    coef, intercept = found.original(touch, free)
    scores = problem.scores(coef, intercept)
    np.testing.assert_allclose(found.touch @ touch + found.free @ free, scores, atol=1e-9)
    gaps = touch.T[:, None] - touch.T[None]
    length = np.linalg.norm(gaps, axis=2).max()
    assert problem.modulus(np.where(np.isinf(COSTS[cost]), 0.0, coef)) == pytest.approx(
        length
    )


@pytest.mark.parametrize("cost", COSTS)
def test_a_start_and_a_gradient_are_turned_too(cost):
    problem = few_rows(cost)
    found, rng = Layout.of(problem), np.random.default_rng(1)
    touch = rng.normal(size=(found.touch.shape[1], 3))
    free = rng.normal(size=(found.free.shape[1], 3))
    touch, free = (table - table.mean(axis=1)[:, None] for table in (touch, free))
    back = found.tables(Start(*found.original(touch, free), 1.0))
    np.testing.assert_allclose(back[0], touch, atol=1e-9)
    np.testing.assert_allclose(back[1], free, atol=1e-9)
    slopes = rng.normal(size=(30, 3))
    slopes -= slopes.mean(axis=0)
    turned = found.gradient(slopes.T @ problem.X)
    np.testing.assert_allclose(turned, found.touch.T @ slopes, atol=1e-9)
    scaled = np.where(np.isinf(COSTS[cost]), 0.0, COSTS[cost])
    spread = found.flow(turned.T) * scaled
    np.testing.assert_allclose(spread, (slopes.T @ problem.X) * scaled, atol=1e-8)


@pytest.mark.parametrize("label_cost", [np.inf, 2.0])
def test_a_turn_leaves_the_optimum_where_it_is(monkeypatch, label_cost):
    problem = few_rows()
    problem = replace(problem, ball=replace(problem.ball, label_cost=label_cost))
    turned = first_order(problem, SolverSettings(tol=1e-4))
    exact = interior_point(problem, SolverSettings(tol=1e-8)).certificate
    assert turned.status is SolverStatus.CONVERGED
    assert turned.certificate.dual_bound <= exact.objective + 1e-9
    risk = problem.risk(turned.coef, turned.intercept).value
    assert risk == pytest.approx(exact.objective, rel=1e-4)
    plain = replace(FIRST_ORDER, turned_rows_per_class=0)
    monkeypatch.setattr(layout_module, "FIRST_ORDER", plain)
    assert Layout.of(problem).rotation is None
    again = first_order(problem, SolverSettings(tol=1e-4)).certificate
    assert again.objective == pytest.approx(turned.certificate.objective, rel=1e-4)
