"""The price of a flip at which the budget is spent."""

from functools import partial

import numpy as np
import pytest

from wdrsvm.solvers.newton.kernels import count_flips, highest_price
from wdrsvm.solvers.newton.products.flips.price import lowest_price


def priced(spans, weight, trust, mu, budget, least, **options):
    """The price, and the number of times that flips were counted."""
    asked = []

    def count(price):
        asked.append(price)
        return count_flips(price, spans, weight, trust, mu)

    highest = partial(highest_price, spans, trust, mu)
    return lowest_price(count, highest, budget, least, **options), len(asked)


def some_rows():
    rng = np.random.default_rng(0)
    trust = np.append(np.full(5, np.inf), rng.uniform(0.5, 2.0, size=55))
    return rng.normal(size=60), rng.uniform(size=60), trust


@pytest.mark.parametrize("mu", [0.3, 1e-3, 1e-10])
def test_it_spends_the_budget(mu):
    spans, weight, trust = some_rows()
    price, _ = priced(spans, weight, trust, mu, 2.0, 0.0)

    def spent(price):
        excess = np.clip((spans[5:] - price * trust[5:]) / mu, -700, 700)
        return (weight * trust)[5:] @ (1 / (1 + np.exp(-excess)))

    if mu > 1e-6:
        assert spent(price) == pytest.approx(2.0, rel=1e-9)
    assert spent(price * (1 + 1e-6)) <= 2.0 <= spent(price * (1 - 1e-6))


def test_a_price_that_is_high_enough_stays():
    spans, ones = np.random.default_rng(1).normal(size=60), np.ones(60)
    for trust, budget in [(1.0, 1e9), (np.inf, 0.0), (0.0, 1e-9)]:
        # Labels with no trust are flipped for nothing.
        assert priced(spans, ones, trust * ones, 0.1, budget, 0.4) == (0.4, 1)


def test_a_guess_saves_trials():
    told = *some_rows(), 0.3, 2.0, 0.0
    price, n_asked = priced(*told)
    near, n_fewer = priced(*told, rtol=1e-9, guess=price * (1 + 1e-6))
    assert near == pytest.approx(price, rel=1e-8)
    assert n_fewer <= 3 < n_asked
    assert priced(*told, guess=1e9)[0] == price
