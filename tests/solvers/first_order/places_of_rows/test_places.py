"""Places of rows: none with a loss or mass is missed, and epochs keep to them."""

import numpy as np
import pytest

from wdrsvm.problem import RobustProblem, WassersteinBall
from wdrsvm.problem.certificate.multipliers import RowMultipliers
from wdrsvm.solvers import SolverSettings
from wdrsvm.solvers.first_order.beginning import with_flips
from wdrsvm.solvers.first_order.kernels import sweep_pairs, sweep_places
from wdrsvm.solvers.first_order.loop import first_order
from wdrsvm.solvers.first_order.places_of_rows.places import Places, find_places
from wdrsvm.solvers.first_order.settings import FIRST_ORDER
from wdrsvm.solvers.first_order.state import Ascent

SETTINGS = "wdrsvm.solvers.first_order.places_of_rows.places.FIRST_ORDER"


def a_problem(fit_intercept=True, fixed=0):
    rng = np.random.default_rng(0)
    y = np.arange(60) % 5
    X = rng.standard_normal((5, 8))[y] + 1.2 * rng.standard_normal((60, 8))
    cost = np.ones(8)
    cost[:fixed] = np.inf
    ball = WassersteinBall(0.05, feature_cost=cost)
    return RobustProblem.of(X, y, np.full(60, 1 / 60), ball, 5, fit_intercept)


def an_ascent(n_epochs, **kind):
    ascent = Ascent(a_problem(**kind), None, 0)
    for _ in range(n_epochs):
        ascent.sweep()
        ascent.recentre()
    return ascent


def places_at(ascent):
    return find_places(
        ascent.layout,
        ascent.rows,
        ascent.duals.alpha,
        ascent.block.coef,
        ascent.free_centre,
    )


@pytest.mark.tiny
@pytest.mark.parametrize("at_a_time", [1, 70, 10_000])
@pytest.mark.parametrize(("fit_intercept", "fixed"), [(True, 0), (False, 0), (True, 2)])
def test_places_are_the_classes_with_mass_or_loss(
    at_a_time, fit_intercept, fixed, monkeypatch
):
    slack = FIRST_ORDER.place_slack
    ascent = an_ascent(1, fit_intercept=fit_intercept, fixed=fixed)
    monkeypatch.setattr(SETTINGS, type(FIRST_ORDER)(scores_at_a_time=at_a_time))
    found = places_at(ascent)
    coef, intercept = ascent.layout.original(ascent.block.coef, ascent.free_centre)
    scores, y = ascent.problem.X @ coef.T + intercept, ascent.problem.y
    loss = scores + 1 - scores[np.arange(60), y][:, None]
    loss[np.arange(60), y] = 0.0
    for n in range(60):
        mine = found.classes[found.starts[n] : found.starts[n + 1]]
        wanted = (loss[n] > -slack) | (ascent.duals.alpha[n] > 0)
        np.testing.assert_array_equal(mine, np.flatnonzero(wanted))
    np.testing.assert_allclose(found.loss, loss.max(axis=1), atol=1e-5)
    np.testing.assert_array_equal(found.rows, np.flatnonzero(np.diff(found.starts) > 1))
    assert 0 < len(found.rows) < 60
    assert len(found.row_of_each()) == len(found.classes)


def swept(kernel, pace, *lists):
    """Masses, R, pairs and the free table after one epoch of the kernel."""
    ascent = an_ascent(2, fixed=1)
    block, order = ascent.block, np.random.default_rng(3).permutation(60)
    tables = block.residual.T, block.gram, block.pairs, block.price, block.damping
    numbers = pace, 1e-6, 1e-4
    if lists:
        samples = block.samples, ascent.rows.singles
        kernel(order, *lists, *samples, *tables, *numbers, 0)
    else:
        kernel(order, block.samples, *tables, *numbers, ascent.rows.singles)
    return ascent


def every_place():
    return np.arange(61, dtype=np.intp) * 5, np.tile(np.arange(5), 60)


@pytest.mark.tiny
@pytest.mark.parametrize("pace", [1, 7, 1000])
def test_among_all_classes_an_epoch_is_that_of_all_classes(pace):
    ours, theirs = swept(sweep_places, pace, *every_place()), swept(sweep_pairs, pace)
    for name in ("residual", "gram", "pairs"):
        mine, other = getattr(ours.block, name), getattr(theirs.block, name)
        np.testing.assert_allclose(mine, other, atol=1e-4 * np.abs(other).max())
    np.testing.assert_allclose(ours.duals.alpha, theirs.duals.alpha, atol=1e-5)
    np.testing.assert_allclose(ours.free.coef, theirs.free.coef, atol=1e-4)
    assert ours.price.lam == pytest.approx(theirs.price.lam, rel=1e-4)


@pytest.mark.tiny
def test_masses_stay_at_their_places_and_the_table_follows_them():
    ascent = an_ascent(2)
    before, places = ascent.duals.alpha.copy(), places_at(ascent)
    ascent.sweep()
    alpha, is_place = ascent.duals.alpha, np.zeros((60, 5), dtype=bool)
    is_place[places.row_of_each(), places.classes] = True
    assert not np.array_equal(alpha, before)
    np.testing.assert_array_equal(alpha[~is_place], 0.0)
    assert alpha.min() >= 0
    np.testing.assert_allclose(alpha.sum(axis=1), ascent.rows.weight, rtol=1e-12)
    slopes = RowMultipliers(*with_flips(ascent.duals)).slopes(ascent.problem.y)
    gradient = ascent.layout.touch.T @ slopes
    np.testing.assert_allclose(ascent.block.gradient(), gradient, atol=1e-12)


@pytest.mark.tiny
@pytest.mark.parametrize(
    ("row_width", "n_passes"), [(8, FIRST_ORDER.max_passes), (4200, 2), (10**6, 1)]
)
def test_an_epoch_visits_few_rows_several_times(row_width, n_passes):
    n_places = 60 + 75
    places = Places(*every_place(), np.arange(0, 60, 2), np.zeros(60))
    places = places._replace(classes=places.classes[:n_places])
    order = places.order(np.random.default_rng(0), row_width)
    passes = order.reshape(n_passes, -1)
    np.testing.assert_array_equal(np.sort(passes), np.tile(places.rows, (n_passes, 1)))
    # Each of them has an order of its own.
    assert len({tuple(each) for each in passes.tolist()}) == n_passes


@pytest.mark.tiny
def test_places_are_found_anew_now_and_then(monkeypatch):
    ascent, found = an_ascent(FIRST_ORDER.full_sweeps), []
    monkeypatch.setattr(
        "wdrsvm.solvers.first_order.state.find_places",
        lambda *at: found.append(ascent.n_sweeps) or find_places(*at),
    )
    for _ in range(2 * FIRST_ORDER.sweeps_per_turn):
        ascent.sweep()
        ascent.recentre()
    assert np.diff(found).tolist() == [FIRST_ORDER.sweeps_per_turn]


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_the_optimum_is_that_of_epochs_over_all_classes(fit_intercept, monkeypatch):
    problem = a_problem(fit_intercept)
    found = first_order(problem, SolverSettings(tol=1e-3)).certificate
    monkeypatch.setattr(Ascent, "_has_places", lambda ascent, tol: False)
    plain = first_order(problem, SolverSettings(tol=1e-3)).certificate
    assert found.holds(1e-3)
    assert found.dual_bound <= plain.objective
    assert plain.dual_bound <= found.objective


def test_small_tolerances_are_reached_in_double_precision():
    found = first_order(a_problem(), SolverSettings(tol=1e-7)).certificate
    assert found.holds(1e-7)
