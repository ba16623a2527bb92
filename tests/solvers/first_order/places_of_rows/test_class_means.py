"""Fits of many classes that begin at the classifier of the class means."""

from dataclasses import replace

import numpy as np
import pytest

from wdrsvm import WassersteinBall
from wdrsvm.problem import RobustProblem
from wdrsvm.solvers import SolverSettings, solve
from wdrsvm.solvers.first_order import beginning, state
from wdrsvm.solvers.first_order.places_of_rows import class_means
from wdrsvm.solvers.first_order.places_of_rows.places import find_places
from wdrsvm.solvers.first_order.settings import FIRST_ORDER
from wdrsvm.solvers.first_order.state import Ascent
from wdrsvm.solvers.result import Start


@pytest.fixture(autouse=True)
def _of_many_classes(monkeypatch):
    numbers = replace(FIRST_ORDER, max_dense_masses=0, scores_per_near_class=4.0)
    for module in (beginning, class_means):
        monkeypatch.setattr(module, "FIRST_ORDER", numbers)


def a_problem(rows_per_class=8, noise=0.5, **changed):
    told = {"radius": 0.02, "norm": "l2", **changed}
    rng = np.random.default_rng(0)
    y = np.arange(20 * rows_per_class) % 20
    X = rng.standard_normal((20, 12))[y] + noise * rng.standard_normal((len(y), 12))
    weight = np.full(len(y), 1 / len(y))
    return RobustProblem.of(X, y, weight, WassersteinBall(**told), 20)


def begins_at_means(problem, start=None):
    ascent = Ascent(problem, start, 0)
    assert (ascent.width < np.inf) == (start is None and ascent.block.coef.any())
    return ascent.width < np.inf


@pytest.mark.tiny
def test_the_first_point_has_a_mean_margin_of_one():
    problem = a_problem()
    ascent = Ascent(problem, None, 0)
    coef, intercept = ascent.layout.original(ascent.block.coef, ascent.free_centre)
    scores = problem.X @ coef.T + intercept
    own = scores[np.arange(len(scores)), problem.y]
    assert (own - scores.mean(axis=1)).mean() == pytest.approx(1.0)
    assert ascent.price.lam == pytest.approx(problem.risk(coef, intercept).lam)


@pytest.mark.tiny
def test_a_fit_begins_at_the_means_only_where_these_tell_classes_apart():
    few_rows, many_rows = a_problem(), a_problem(FIRST_ORDER.rows_per_class_at_means + 1)
    assert begins_at_means(few_rows)
    assert not begins_at_means(many_rows)
    # A classifier of so small a modulus leaves all scores nearly equal.
    assert not begins_at_means(a_problem(radius=20.0))
    assert not begins_at_means(a_problem(label_cost=2.0))
    assert not begins_at_means(a_problem(norm="l1"))
    known = Start(np.zeros((20, 12)), np.zeros(20), 1.0)
    assert not begins_at_means(few_rows, known)


@pytest.mark.tiny
def test_equal_rows_have_no_means_to_begin_at():
    problem = a_problem()
    same = np.ones_like(problem.X)
    assert not begins_at_means(
        RobustProblem.of(same, problem.y, problem.weight, WassersteinBall(0.02), 20)
    )


@pytest.mark.tiny
def test_places_are_narrow_in_the_first_epochs(monkeypatch):
    ascent, seen = Ascent(a_problem(), None, 0), []

    def noted(*told):
        seen.append((ascent.n_sweeps, told[-1]))
        return find_places(*told)

    monkeypatch.setattr(state, "find_places", noted)
    for _ in range(FIRST_ORDER.narrow_sweeps + FIRST_ORDER.sweeps_per_turn):
        ascent.sweep()
        ascent.recentre()
    epochs = range(1, FIRST_ORDER.narrow_sweeps + 1)
    narrow = [(epoch, FIRST_ORDER.place_width) for epoch in epochs]
    assert seen == [*narrow, (epochs[-1] + FIRST_ORDER.sweeps_per_turn, np.inf)]


@pytest.mark.parametrize("noise", [0.5, 1.5])
def test_the_optimum_is_that_of_a_fit_that_begins_at_zero(noise, monkeypatch):
    problem, settings = a_problem(noise=noise), SolverSettings(tol=1e-4)
    ours = solve(problem, "first-order", settings).certificate
    monkeypatch.setattr(beginning, "FIRST_ORDER", FIRST_ORDER)
    theirs = solve(problem, "first-order", settings).certificate
    assert ours.holds(1e-4)
    assert ours != theirs
    assert ours.dual_bound <= theirs.objective
    assert theirs.dual_bound <= ours.objective
