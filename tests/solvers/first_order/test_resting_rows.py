"""Rows that would leave their rest: none is missed, and few are looked at."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse

from wdrsvm.problem import RobustProblem, WassersteinBall
from wdrsvm.solvers import SolverSettings
from wdrsvm.solvers.first_order import resting_rows
from wdrsvm.solvers.first_order.beginning import sample_arrays
from wdrsvm.solvers.first_order.layout import Layout
from wdrsvm.solvers.first_order.loop import first_order
from wdrsvm.solvers.first_order.resting_rows import RestingRows
from wdrsvm.solvers.first_order.settings import FIRST_ORDER
from wdrsvm.solvers.first_order.state import Ascent

SLACK_WORK = "wdrsvm.solvers.first_order.state.FIRST_ORDER"


def a_problem(label_cost, as_sparse=False):
    rng = np.random.default_rng(0)
    y = np.arange(120) % 5
    X = 2 * rng.standard_normal((5, 7))[y] + 0.7 * rng.standard_normal((120, 7))
    ball = WassersteinBall(0.05, label_cost)
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    rows = sparse.csr_array(X) if as_sparse else X
    return RobustProblem.of(rows, y, np.full(120, 1 / 120), ball, 5)


def a_point(problem, layout):
    """Scores that give most rows their margin, with a little of chance."""
    touch = layout.touch.toarray() if sparse.issparse(layout.touch) else layout.touch
    aim = np.eye(5)[problem.y] - 0.2
    fitted = np.linalg.lstsq(touch, 5 * aim, rcond=None)[0]
    return fitted, np.zeros((1, 5))


def best_moves(problem, layout, touch, free, lam):
    """What a unit of mass on the own label gains by the best move, row by row."""
    scores = layout.touch @ touch + layout.free @ free
    gains = []
    for n, (z, y) in enumerate(zip(scores, problem.y, strict=True)):
        labels = [z[j] + 1 - z[y] for j in range(5) if j != y]
        cost = problem.attainable_flip_cost()[n]
        flips = [z.max() + 1 - z[c] - lam * cost[c] for c in range(5) if cost[c] < np.inf]
        gains.append(max(labels + flips))
    return np.array(gains)


@pytest.mark.tiny
@pytest.mark.parametrize("label_cost", [np.inf, 0.7])
def test_few_rows_at_a_time_have_the_slacks_of_all(label_cost, monkeypatch):
    problem = a_problem(label_cost)
    layout = Layout.of(problem)
    resting = RestingRows(layout, sample_arrays(problem, layout))
    told = np.arange(3, 120), *a_point(problem, layout), 8.0
    wanted, sizes, one_part = resting._slacks(*told), [], resting._slacks_of
    monkeypatch.setattr(
        resting, "_slacks_of", lambda *of: sizes.append(len(of[0])) or one_part(*of)
    )
    monkeypatch.setattr(
        resting_rows, "FIRST_ORDER", replace(FIRST_ORDER, entries_of_part=50)
    )
    np.testing.assert_allclose(resting._slacks(*told), wanted, rtol=1e-12)
    assert sizes == 11 * [10] + [7]
    assert len(resting._slacks(told[0][:0], *told[1:])) == 0


@pytest.mark.tiny
@pytest.mark.parametrize("as_sparse", [False, True])
@pytest.mark.parametrize("label_cost", [np.inf, 0.7])
def test_rows_that_would_move_are_found_wherever_the_point_goes(label_cost, as_sparse):
    problem, rng = a_problem(label_cost, as_sparse), np.random.default_rng(1)
    layout = Layout.of(problem)
    resting = RestingRows(layout, sample_arrays(problem, layout))
    touch, free = a_point(problem, layout)
    chosen, n_found, lam = np.arange(0, 120, 2), [], 8.0
    for length in (0.1, 0.01, 0.003, 0.03, 0.1, 0.01):
        touch = touch + length * rng.standard_normal((7, 5))
        free = free + length * rng.standard_normal((1, 5))
        lam += length
        found = resting.leaving(chosen, touch, free, lam)
        gains = best_moves(problem, layout, touch, free, lam)[chosen]
        np.testing.assert_array_equal(found, chosen[gains > 0])
        n_found.append(len(found))
    assert min(n_found) > 0
    assert max(n_found) < len(chosen)


@pytest.mark.tiny
@pytest.mark.parametrize("label_cost", [np.inf, 0.7])
@pytest.mark.parametrize("part", ["touch", "free", "lam"])
def test_no_row_that_begins_to_move_is_taken_for_sure(label_cost, part):
    """Whatever moved: coefficients, intercepts or the price of a flip."""
    problem, rng = a_problem(label_cost), np.random.default_rng(2)
    layout, every = Layout.of(problem), np.arange(120)
    resting = RestingRows(layout, sample_arrays(problem, layout))
    at = {"touch": a_point(problem, layout)[0], "free": np.zeros((1, 5)), "lam": 8.0}
    resting.leaving(every, **at)
    still = every[resting.slacks > 0]
    steps = {"touch": rng.standard_normal((7, 5)), "free": np.eye(1, 5), "lam": -1.0}
    n_began = 0
    for length in (0.05, 0.2, 0.5, 1.0, 2.0):
        moved = at | {part: at[part] + length * steps[part]}
        began = still[resting._slacks(still, **moved) < 0]
        assert np.isin(began, resting._unsure(still, **moved)).all()
        n_began += len(began)
    assert n_began > 0 or (part == "lam" and label_cost == np.inf)


@pytest.mark.tiny
def test_after_a_short_way_few_rows_are_looked_at(monkeypatch):
    problem = a_problem(np.inf)
    layout = Layout.of(problem)
    resting = RestingRows(layout, sample_arrays(problem, layout))
    touch, free = a_point(problem, layout)
    resting.leaving(np.arange(120), touch, free, 1.0)
    looked_at = []
    slacks = resting._slacks
    monkeypatch.setattr(
        resting,
        "_slacks",
        lambda rows, *at: looked_at.append(len(rows)) or slacks(rows, *at),
    )
    resting.leaving(np.arange(120), touch + 1e-3, free, 1.0)
    assert looked_at[0] < FIRST_ORDER.max_unsure_share * 120


@pytest.mark.parametrize("label_cost", [np.inf, 0.7])
def test_an_epoch_visits_all_rows_that_may_move(label_cost, monkeypatch):
    """The same optimum with slacks as without."""
    problem = a_problem(label_cost)
    plain = first_order(problem, SolverSettings(tol=1e-2)).certificate
    assert Ascent(problem, None, 0).resting is None
    least = type(FIRST_ORDER)(least_slack_work=0.0)
    monkeypatch.setattr(SLACK_WORK, least)
    assert Ascent(problem, None, 0).resting is not None
    found = first_order(problem, SolverSettings(tol=1e-2)).certificate
    assert found.holds(1e-2)
    assert found.dual_bound <= plain.objective
    assert plain.dual_bound <= found.objective
