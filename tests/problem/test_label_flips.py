"""The knapsack of label flips against its definition, row by row and lam by lam."""

from itertools import product

import numpy as np
import pytest
from scipy.optimize import linprog

from wdrsvm.problem import label_flips
from wdrsvm.problem.label_flips import Flips, flip_envelope, spend

N, C = 30, 5


def random_rows(seed):
    """Few distinct losses and costs, so that ties, free and impossible flips occur."""
    rng = np.random.default_rng(seed)
    losses = rng.integers(0, 5, (N, C)) / 4
    cost = rng.choice([0.0, 0.5, 1.0, 1.5, np.inf], (N, C), p=[0.1, 0.3, 0.2, 0.2, 0.2])
    y = rng.integers(0, C, N)
    cost[np.arange(N), y] = np.inf
    return losses, y, cost


@pytest.mark.parametrize("seed", range(5))
def test_at_every_price_the_flips_gain_what_the_best_label_does(seed):
    losses, y, cost = random_rows(seed)
    choices = flip_envelope(losses, y, cost)
    flips = choices.flips
    kept = np.where(np.arange(C) == y[:, None], 0.0, cost)
    for lam in np.linspace(0.0, 3.0, 25):
        worth = np.where(np.isfinite(kept), losses - lam * np.minimum(kept, 9.0), -np.inf)
        bought = np.maximum(flips.gain - lam * flips.cost, 0.0)
        found = choices.loss + np.bincount(flips.row, bought, N)
        np.testing.assert_allclose(found, worth.max(axis=1), atol=1e-14)


@pytest.mark.parametrize("seed", range(5))
def test_a_row_climbs_from_label_to_label_ever_less_steeply(seed):
    losses, y, cost = random_rows(seed)
    choices = flip_envelope(losses, y, cost)
    np.testing.assert_array_equal(losses[np.arange(N), choices.label], choices.loss)
    free = np.where((cost == 0) | (np.arange(C) == y[:, None]), losses, -np.inf)
    np.testing.assert_array_equal(choices.loss, free.max(axis=1))
    # A free flip that gains nothing is not made.
    own = losses[np.arange(N), y]
    np.testing.assert_array_equal(choices.label == y, own == choices.loss)
    for n in range(N):
        steps = np.flatnonzero(choices.flips.row == n)
        spent, height, rate = 0.0, choices.loss[n], np.inf
        for step in steps:
            label = choices.flips.label[step]
            spent, height = (
                spent + choices.flips.cost[step],
                height + choices.flips.gain[step],
            )
            assert (spent, height) == (cost[n, label], losses[n, label])
            assert choices.flips.rate[step] < rate
            rate = choices.flips.rate[step]


def test_of_two_labels_that_cost_the_same_no_step_between_them_is_bought():
    """Their rates may be equal in floating point, where their gains are not."""
    gain, cost = 1.9, 1.7
    more = np.nextafter(gain, 2.0)
    while gain / cost != more / cost:
        gain, more = more, np.nextafter(more, 2.0)
    losses = np.array([[0.0, gain, more]])
    price = np.array([[np.inf, cost, cost]])
    flips = flip_envelope(losses, np.array([0]), price).flips
    assert flips.cost.tolist() == [cost]
    # Also beside a label of another price, where flips are looked for step by step.
    losses, price = np.append(losses, [[0.1]], axis=1), np.append(price, [[3.0]], axis=1)
    flips = flip_envelope(losses, np.array([0]), price).flips
    assert flips.cost.tolist() == [cost]


def test_one_price_is_seen_whatever_its_size():
    for price in (1e-60, 0.5, 1.0, 2.0):
        assert label_flips._one_price(np.full(3, price)) == price
    for prices in ([], [0.0, 0.0], [0.5, 0.0], [0.5, 2.0]):
        assert label_flips._one_price(np.array(prices)) is None


@pytest.mark.parametrize("seed", range(3))
def test_flips_of_one_price_are_those_of_many_prices(seed, monkeypatch):
    losses, y, cost = random_rows(seed)
    cost[np.isfinite(cost)] = 0.5
    cost[:2] = np.inf
    quick = flip_envelope(losses, y, cost)
    monkeypatch.setattr(label_flips, "_one_price", lambda prices: None)
    slow = flip_envelope(losses, y, cost)
    assert len(quick.flips.row) > N / 4
    for one, other in zip(
        (*quick[:2], *quick.flips), (*slow[:2], *slow.flips), strict=True
    ):
        np.testing.assert_array_equal(one, other)


def test_without_flips_the_whole_budget_moves_features():
    bought = spend(label_flips.NO_FLIPS, np.empty(0), 0.5, 3.0)
    assert (bought.left, bought.gain, bought.rate) == (0.5, 1.5, 3.0)
    assert len(bought.flips) == len(bought.share) == 0


def test_one_class_has_no_flips():
    choices = flip_envelope(np.zeros((4, 1)), np.zeros(4, int), np.full((4, 1), np.inf))
    assert choices.label.tolist() == [0] * 4
    assert len(choices.flips.row) == 0


def random_flips(seed, n_flips=12):
    rng = np.random.default_rng(seed)
    cost, gain = rng.uniform(0.5, 2.0, (2, n_flips))
    rows = np.arange(n_flips)
    return Flips(rows, rows, cost, gain), rng.uniform(0.1, 1.0, n_flips)


@pytest.mark.parametrize("seed", range(3))
def test_the_budget_buys_what_a_linear_program_would_buy(seed):
    for budget, move_rate in product((0.0, 0.4, 2.0, 50.0), (0.0, 0.8, 9.0)):
        flips, mass = random_flips(seed)
        bought = spend(flips, mass, budget, move_rate)
        best = linprog(
            -np.append(mass * flips.gain, move_rate),
            A_ub=[np.append(mass * flips.cost, 1.0)],
            b_ub=[budget],
            bounds=[(0, 1)] * len(mass) + [(0, None)],
        )
        assert bought.gain == pytest.approx(-best.fun, abs=1e-9)
        own = (mass * flips.gain)[bought.flips] @ bought.share
        assert own + bought.left * move_rate == pytest.approx(bought.gain, abs=1e-12)
        paid = (mass * flips.cost)[bought.flips] @ bought.share
        assert paid + bought.left == pytest.approx(budget, abs=1e-12)
        step = 1e-6
        more = spend(flips, mass, budget + step, move_rate).gain
        assert (more - bought.gain) / step == pytest.approx(bought.rate, abs=1e-6)


def test_a_budget_that_ends_with_a_flip_buys_it_whole():
    flips = Flips(
        np.arange(3), np.arange(3), np.array([1.0, 1.0, 2.0]), np.array([3.0, 2, 2])
    )
    bought = spend(flips, np.ones(3), 2.0, 0.5)
    assert bought.flips.tolist() == [0, 1, 2]
    assert bought.share.tolist() == [1.0, 1.0, 0.0]
    assert (bought.left, bought.gain, bought.rate) == (0.0, 5.0, 1.0)
    everything = spend(flips, np.ones(3), 4.0, 0.5)
    assert everything.share.tolist() == [1.0, 1.0, 1.0]
    assert (everything.left, everything.gain, everything.rate) == (0.0, 7.0, 0.5)


def test_flips_that_pay_no_more_than_moving_or_have_no_mass_are_not_bought():
    flips = Flips(np.arange(3), np.arange(3), np.ones(3), np.array([2.0, 1.0, 3.0]))
    bought = spend(flips, np.array([1.0, 1.0, 0.0]), 5.0, 1.0)
    assert bought.flips.tolist() == [0]
    assert (bought.left, bought.gain, bought.rate) == (4.0, 6.0, 1.0)


def test_of_flips_that_pay_the_same_the_first_is_bought_first():
    flips = Flips(np.arange(40), np.arange(40), np.ones(40), np.tile([1.0, 2.0], 20))
    bought = spend(flips, np.ones(40), 20.0, 0.0)
    assert bought.flips[:20].tolist() == list(range(1, 40, 2))


def test_flips_on_one_line_are_one_flip():
    losses, cost = np.array([[0.5, 1.5, 2.5, 1.0]]), np.array([[np.inf, 1.0, 2.0, 3.0]])
    kept, _, flips = flip_envelope(losses, np.array([0]), cost)
    np.testing.assert_array_equal(kept, [0.5])
    assert [part.tolist() for part in flips] == [[0], [2], [2.0], [2.0]]
    np.testing.assert_array_equal(flips.rate, [1.0])


def test_flips_climb_the_concave_envelope():
    """A cheap good flip, then a dear better one; what lies below them is left out."""
    losses = np.array([[0.0, 2.0, 1.0, 3.0, 0.2]])
    cost = np.array([[np.inf, 1.0, 2.0, 4.0, 0.0]])
    kept, _, flips = flip_envelope(losses, np.array([0]), cost)
    np.testing.assert_array_equal(kept, [0.2])
    np.testing.assert_array_equal(flips.label, [1, 3])
    np.testing.assert_array_equal(flips.cost, [1.0, 3.0])
    np.testing.assert_allclose(flips.gain, [1.8, 1.0])
