"""The smoothed maximum over labels, compared with its formula, and its price."""

import numpy as np
import pytest

from wdrsvm.solvers.newton.kernels import (
    count_flips,
    find_spans,
    highest_price,
    soften_flips,
)

pytestmark = pytest.mark.tiny
rng = np.random.default_rng(0)
MU, PRICE, TEMPERATURE = 0.3, 0.7, 1.0


class Rows:
    """Forty samples of five classes; the first five labels cannot be flipped."""

    def __init__(self):
        self.scores, self.y = rng.normal(size=(5, 40)), rng.integers(0, 5, 40)
        self.weight, self.own = rng.uniform(size=40), (self.y, np.arange(40))
        self.trust = np.append(np.full(5, np.inf), rng.uniform(size=35))
        shares = rng.dirichlet(np.ones(5), 40)
        self.prior = np.ascontiguousarray(np.log(shares).T)
        price = np.tile(PRICE * self.trust, (5, 1))
        price[self.own] = 0.0
        self.price = price

    def spanned(self):
        found = np.empty((5, 40)), *np.empty((3, 40))
        find_spans(self.scores, self.prior, self.y, MU, *found)
        return found

    def softened(self, is_spread=False):
        found, (shares, *numbers) = self.scores.copy(), self.spanned()
        told = self.prior, self.y, self.weight, self.trust, TEMPERATURE, PRICE, MU
        sums = soften_flips(found, shares, *told, *numbers, is_spread)
        return sums, found, shares

    def expected(self):
        """Shares p, masses Q and losses by their formulas."""
        powers = np.exp(self.scores)
        low = np.exp(self.prior - (self.scores + self.price) / MU)
        losses = np.log(powers.sum(axis=0)) + MU * np.log(low.sum(axis=0))
        return powers / powers.sum(axis=0), low / low.sum(axis=0), losses


def test_loss_slopes_masses_and_spreads():
    rows = Rows()
    share, mass, losses = rows.expected()
    (loss, flipped, added, _), slopes, masses = rows.softened()
    assert loss == pytest.approx(rows.weight @ losses, rel=1e-12)
    trusted = -np.log(share[rows.own])
    assert added == pytest.approx(rows.weight @ (losses - trusted), rel=1e-12)
    told = (rows.weight * (1 - mass[rows.own]))[5:] @ rows.trust[5:]
    assert flipped == pytest.approx(told, rel=1e-12)
    np.testing.assert_allclose(masses, mass, atol=1e-12)
    np.testing.assert_allclose(slopes, rows.weight * (share - mass), atol=1e-12)
    spread = share * (1 - share) + mass * (1 - mass) / MU
    found = rows.softened(is_spread=True)[1]
    np.testing.assert_allclose(found, rows.weight * spread, atol=1e-11)


def test_the_divergence_is_that_of_the_masses_from_the_shares_before():
    rows = Rows()
    mass = rows.expected()[1]
    terms = np.where(mass > 0, mass * (np.log(np.maximum(mass, 1e-300)) - rows.prior), 0.0)
    assert rows.softened()[0][3] == pytest.approx(MU * rows.weight @ terms.sum(axis=0))


def test_the_scaled_shares_of_the_other_labels_sum_to_one():
    rows = Rows()
    shares, _, means, scales = rows.spanned()
    shares = shares * scales
    np.testing.assert_allclose(shares.sum(axis=0), 1.0)
    assert (shares[rows.own] == 0).all()
    np.testing.assert_allclose(means, (shares * rows.scores).sum(axis=0))


def test_the_span_of_a_row_says_at_which_price_its_label_is_flipped():
    rows = Rows()
    mass, spans = rows.expected()[1], rows.spanned()[1]
    flipped = 1 / (1 + np.exp((PRICE * rows.trust[5:] - spans[5:]) / MU))
    np.testing.assert_allclose(flipped, 1 - mass[rows.own][5:], atol=1e-12)


def test_flips_are_counted_with_their_trust_and_fall_with_the_price():
    spans, weight = rng.normal(size=60), rng.uniform(size=60)
    trust = np.append(np.full(5, np.inf), rng.uniform(0.5, 2.0, size=55))
    share = 1 / (1 + np.exp((PRICE * trust[5:] - spans[5:]) / MU))
    told = spans, weight, trust, MU
    flipped, slope = count_flips(PRICE, *told)
    assert flipped == pytest.approx((weight * trust)[5:] @ share)
    above, below = (count_flips(PRICE + step, *told)[0] for step in (1e-6, -1e-6))
    assert slope == pytest.approx((below - above) / 2e-6, rel=1e-6)
    highest = highest_price(spans, trust, MU)
    assert count_flips(highest, *told)[0] < 1e-20
    assert highest == pytest.approx(((spans[5:] + 50 * MU) / trust[5:]).max())
    assert highest_price(spans, np.full(60, np.inf), MU) < -1e299


def test_scores_far_apart_neither_overflow_nor_vanish():
    scores = np.array([[1e6, -1e6], [-1e6, 0.0], [0.0, 1e6]])
    y, ones, prior = np.array([0, 0]), np.ones(2), np.zeros((3, 2))
    shares, numbers = np.empty((3, 2)), np.empty((3, 2))
    find_spans(scores, prior, y, 0.5, shares, *numbers)
    np.testing.assert_allclose(numbers[0], [2e6, -1e6])
    told = prior, y, ones, ones, 1.0, 10.0, 0.5, *numbers, False
    loss, flipped, *_ = soften_flips(scores, shares, *told)
    assert loss == pytest.approx(2e6 - 10.0 + 2e6)
    assert flipped == pytest.approx(1.0)
