"""Places of rows: none with a loss or mass is missed, and epochs keep to them."""

import numpy as np
import pytest

from wdrsvm.problem import RobustProblem, WassersteinBall
from wdrsvm.problem.certificate.multipliers import RowMultipliers
from wdrsvm.solvers import SolverSettings
from wdrsvm.solvers.first_order.beginning import with_flips
from wdrsvm.solvers.first_order.kernels import (
    PlaceWork,
    begin_places,
    class_metric,
    end_places,
    sweep_pairs,
    sweep_places,
)
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
        mass = found.masses[found.starts[n] : found.starts[n + 1]]
        np.testing.assert_array_equal(mass, ascent.duals.alpha[n, mine])
    np.testing.assert_allclose(found.loss, loss.max(axis=1), atol=1e-5)
    np.testing.assert_array_equal(found.rows, np.flatnonzero(np.diff(found.starts) > 1))
    assert 0 < len(found.rows) < 60
    assert len(found.row_of_each()) == len(found.classes)


def swept(pace, among_places, fixed=1):
    """After one epoch among all classes, as places or not."""
    ascent = an_ascent(2, fixed=fixed)
    block, order = ascent.block, np.random.default_rng(3).permutation(60)
    pairs, numbers = (block.pairs, block.price, block.damping), (pace, 1e-6, 1e-4)
    if among_places:
        lists, work = every_place(), PlaceWork(5, len(block.coef))
        # A view: masses of all classes stand one row after the other.
        masses, residual = ascent.duals.alpha.ravel(), block.residual.T
        held, samples = masses.copy(), block.samples
        begin_places(residual, *pairs, False, work)
        last = *pairs, *numbers, ascent.moves, work
        sweep_places(order, *lists[:2], masses, samples, ascent.rows.singles, *last)
        end_places(*lists, masses, held, samples, residual, *pairs, 1e-4, 0, work)
    else:
        state = block.samples, block.residual.T, block.gram
        sweep_pairs(order, *state, *pairs, *numbers, ascent.rows.singles)
    return ascent


def every_place():
    return np.arange(61, dtype=np.intp) * 5, np.tile(np.arange(5), 60), np.arange(60)


@pytest.mark.tiny
@pytest.mark.parametrize("pace", [1, 7, 1000])
# With three fixed columns of eight, lines of A R' are multiplied in place of A W A.
@pytest.mark.parametrize("fixed", [1, 3])
def test_among_all_classes_an_epoch_is_that_of_all_classes(pace, fixed):
    ours, theirs = swept(pace, True, fixed), swept(pace, False, fixed)
    for name in ("residual", "pairs"):
        mine, other = getattr(ours.block, name), getattr(theirs.block, name)
        np.testing.assert_allclose(mine, other, atol=1e-4 * np.abs(other).max())
    np.testing.assert_allclose(ours.duals.alpha, theirs.duals.alpha, atol=1e-5)
    np.testing.assert_allclose(ours.free.coef, theirs.free.coef, atol=1e-4)
    assert ours.price.lam == pytest.approx(theirs.price.lam, rel=1e-4)


@pytest.mark.tiny
def test_an_epoch_tells_how_much_mass_each_row_moved():
    ascent, before = swept(7, True), an_ascent(2, fixed=1)
    moved = np.abs(ascent.duals.alpha - before.duals.alpha).sum(axis=1)
    assert 0 < np.count_nonzero(moved) < 60
    # Rows are visited once: no mass went to and fro.
    np.testing.assert_allclose(ascent.moves, moved, atol=1e-15)


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


def some_places():
    n_places = 60 + 75
    starts, classes, _ = every_place()
    classes, rows = classes[:n_places], np.arange(0, 60, 2)
    return Places(starts, classes, rows, np.zeros(60), np.zeros(n_places))


@pytest.mark.tiny
@pytest.mark.parametrize(
    ("row_width", "n_passes"), [(8, FIRST_ORDER.max_passes), (4200, 2), (10**6, 1)]
)
def test_an_epoch_visits_few_rows_several_times(row_width, n_passes):
    # No row has moved yet: none is restless.
    places, moves = some_places(), np.zeros(60)
    passes = places.order(np.random.default_rng(0), row_width, moves).reshape(n_passes, -1)
    np.testing.assert_array_equal(np.sort(passes), np.tile(places.rows, (n_passes, 1)))
    # Each of them has an order of its own.
    assert len({tuple(each) for each in passes.tolist()}) == n_passes


@pytest.mark.tiny
def test_an_epoch_visits_the_rows_again_that_moved_most():
    places, moves = some_places(), np.random.default_rng(1).random(60)
    order = places.order(np.random.default_rng(0), 10**6, moves)
    n_visits = np.bincount(order, minlength=60)
    assert n_visits[1::2].max() == 0
    again = n_visits[places.rows] > 1
    assert again.mean() == FIRST_ORDER.restless_share
    assert moves[places.rows][again].min() > moves[places.rows][~again].max()
    assert set(n_visits[places.rows]) == {1, 1 + FIRST_ORDER.restless_passes}


@pytest.mark.tiny
def test_rows_that_did_not_move_are_not_visited_again():
    places, moves = some_places(), np.zeros(60)
    moves[[4, 5, 8]] = 1e-9
    order = places.order(np.random.default_rng(0), 10**6, moves)
    n_visits = np.bincount(order, minlength=60)
    assert np.flatnonzero(n_visits > 1).tolist() == [4, 8]


@pytest.mark.tiny
def test_without_rows_to_visit_there_is_no_order():
    places = some_places()._replace(rows=np.empty(0, dtype=np.intp))
    assert len(places.order(np.random.default_rng(0), 8, np.zeros(60))) == 0


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


@pytest.mark.tiny
def test_the_metric_of_an_epoch_serves_until_the_damping_moves():
    ascent = an_ascent(4)
    block, slack = ascent.block, FIRST_ORDER.least_damping_change
    ascent.sweep()
    metric = class_metric(block.pairs, block.price, block.damping)
    np.testing.assert_array_equal(block.metric, metric)
    ascent.recentre()
    spread = metric.trace() - metric.sum() / 5
    assert block.stiffness == pytest.approx(block.mean_square * spread / 4, rel=1e-12)
    damping = block.damping
    for change, stays in ((slack**0.9, True), (slack**-0.9, True), (slack**1.1, False)):
        ascent.sweep()
        block.softness *= block._new_damping() / (change * damping)
        block.recentre()
        assert (block.metric is not None, block.damping == damping) == (stays, stays)
    assert block.damping == pytest.approx(slack**1.1 * damping, rel=1e-12)


def test_few_rows_of_many_classes_settle():
    """Their pairs need more time than their rows."""
    rng = np.random.default_rng(0)
    y = np.arange(600) % 150
    X = rng.standard_normal((150, 20))[y] + 0.3 * rng.standard_normal((600, 20))
    ball, weight = WassersteinBall(0.05), np.full(600, 1 / 600)
    problem = RobustProblem.of(X, y, weight, ball, 150)
    found = first_order(problem, SolverSettings(tol=1e-3, max_iter=250))
    assert found.certificate.holds(1e-3)


@pytest.mark.tiny
def test_few_places_among_many_scores_last_longer():
    found = places_at(an_ascent(1))
    turn, least = FIRST_ORDER.sweeps_per_turn, FIRST_ORDER.scores_per_place
    n_classes = int(least * len(found.classes) / len(found.loss))
    assert found.lasting_epochs(n_classes) == turn
    assert found.lasting_epochs(n_classes + 1) == FIRST_ORDER.turns_of_few_places * turn


@pytest.mark.tiny
@pytest.mark.parametrize("width", [0.0, 0.3, 1.0])
def test_narrow_places_are_near_the_largest_loss_or_have_mass(width):
    ascent = an_ascent(1)
    every, masses = places_at(ascent), ascent.duals.alpha
    point = ascent.block.coef, ascent.free_centre
    narrow = find_places(ascent.layout, ascent.rows, masses, *point, width)
    scores = ascent.rows.singles @ point[0] + point[1][-1]
    y = ascent.problem.y
    loss = scores + 1 - scores[np.arange(60), y][:, None]
    loss[np.arange(60), y] = 0.0
    for n in range(60):
        mine = narrow.classes[narrow.starts[n] : narrow.starts[n + 1]]
        all_of_row = every.classes[every.starts[n] : every.starts[n + 1]]
        is_kept = (loss[n] > loss[n].max() - width) | (masses[n] > 0)
        is_kept[y[n]] = True
        np.testing.assert_array_equal(mine, all_of_row[is_kept[all_of_row]])
    assert len(narrow.classes) < len(every.classes)
    np.testing.assert_array_equal(narrow.loss, every.loss)
