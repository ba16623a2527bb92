"""The price of a flip at which the radius can pay for all flips."""

from __future__ import annotations

from collections.abc import Callable

MAX_TRIALS = 200
# Two prices that are so close are one.
ROUNDING = 1e-15


def lowest_price(
    count: Callable[[float], tuple[float, float]],
    highest: Callable[[], float],
    budget: float,
    least: float,
    rtol: float = 1e-14,
    guess: float = 0.0,
) -> float:
    """The lowest price, and at least ``least``, whose flips stay within the budget.

    ``count`` returns the flips at a price, each times its weight and trust, and minus their
    slope in the price.  At the ``highest`` price nobody flips.  Newton's method, kept
    between two prices of which one is too low and the other is high enough.
    """
    price, (spent, slope) = least, count(least)
    if spent <= budget:
        return least
    low, high = least, max(least, highest())
    if low < guess < high:
        price, (spent, slope) = guess, count(guess)
    for _ in range(MAX_TRIALS):
        low, high = (price, high) if spent > budget else (low, price)
        if high - low <= ROUNDING * high or abs(spent - budget) <= rtol * budget:
            break
        price += (spent - budget) / slope if slope > 0 else high
        if not low < price < high:
            price = 0.5 * (low + high)
        spent, slope = count(price)
    return price
