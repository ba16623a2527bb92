"""The knapsack of label flips for distributed rows: flips are counted in bins of rates.

The rate of a flip is its gain per cost.  Flips are bought in the order of their rates, best
first.  Therefore only the bin in which the budget ends has to be divided further.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..arrays import Floats
from .bounded.worst_case import RobustRisk
from .certificate.gap import allowed_gap
from .label_flips import Flips, Purchase, spend

if TYPE_CHECKING:
    from .problem import RobustProblem

N_BINS = 1024
LEAST_RATE, MOST_RATE = 1e-12, 1e12
# The last bin is divided until the risk is known up to this share of its value.
RATE_PRECISION = 1e-13
MAX_DIVISIONS = 12


def first_edges() -> Floats:
    """Edges of bins for rates of any size."""
    return np.geomspace(LEAST_RATE, MOST_RATE, N_BINS)


def edges_between(least: float, most: float) -> Floats:
    """Edges of bins for rates in a range.

    The last edge separates the largest rate of the range from the rates above the range.
    """
    return np.append(np.linspace(least, most, N_BINS), np.nextafter(most, np.inf))


class FlipsByRate(NamedTuple):
    """The loss after all free flips, and counts of the flips that cost something.

    Only flips that pay more than moving features are counted.  For each bin of rates these
    are their total cost, their total gain, and the least and the largest of their rates.
    """

    loss: float
    cost: Floats
    gain: Floats
    least: Floats
    most: Floats

    @classmethod
    def of(
        cls,
        coef: Floats,
        intercept: Floats,
        move_rate: float,
        edges: Floats,
        problem: RobustProblem,
        rows: slice,
    ) -> FlipsByRate:
        choices = problem.flip_choices_of(coef, intercept, rows)
        loss = float(problem.weight[rows] @ choices.loss)
        pays = choices.flips.rate > move_rate
        mass = problem.weight[choices.flips.row[pays]]
        cost, gain = choices.flips.cost[pays], choices.flips.gain[pays]
        return cls.counted(loss, cost, gain, mass, edges)

    @classmethod
    def counted(
        cls, loss: float, cost: Floats, gain: Floats, mass: Floats, edges: Floats
    ) -> FlipsByRate:
        """Count flips of the given masses in bins; cost and gain are per unit of mass."""
        rate = gain / cost
        bin_of, n_bins = np.searchsorted(edges, rate, side="right"), len(edges) + 1
        least, most = np.full(n_bins, np.inf), np.full(n_bins, -np.inf)
        np.minimum.at(least, bin_of, rate)
        np.maximum.at(most, bin_of, rate)
        return cls(
            loss,
            np.bincount(bin_of, mass * cost, n_bins).astype(np.float64),
            np.bincount(bin_of, mass * gain, n_bins).astype(np.float64),
            least,
            most,
        )

    def joined(self, other: FlipsByRate) -> FlipsByRate:
        return FlipsByRate(
            self.loss + other.loss,
            self.cost + other.cost,
            self.gain + other.gain,
            np.minimum(self.least, other.least),
            np.maximum(self.most, other.most),
        )

    @property
    def in_bins(self) -> tuple[Flips, Floats]:
        """One flip of mass 1 for each bin that is not empty; its row is the bin."""
        bins = np.flatnonzero(self.cost)
        flips = Flips(bins, np.zeros_like(bins), self.cost[bins], self.gain[bins])
        return flips, np.ones(len(bins))

    def rates_at_the_end(self, bought: Purchase) -> tuple[float, float]:
        """Least and largest rate of the bin bought in part; (0, 0) if there is none."""
        if not len(bought.flips) or bought.share[-1] == 1:
            return 0.0, 0.0
        last = np.flatnonzero(self.cost)[bought.flips[-1]]
        return float(self.least[last]), float(self.most[last])


def spent_by_rate(
    count: Callable[[Floats], FlipsByRate], budget: float, move_rate: float
) -> tuple[float, Purchase]:
    """The risk after the budget is spent, and the flips that the budget buys.

    ``count`` counts the flips in bins with given edges.  The bin in which the budget ends
    is divided until its width no longer matters for the risk.
    """
    edges = first_edges()
    for _ in range(MAX_DIVISIONS):
        counted = count(edges)
        bought = spend(*counted.in_bins, budget, move_rate)
        value = counted.loss + bought.gain
        least, most = counted.rates_at_the_end(bought)
        if budget * (most - least) <= allowed_gap(RATE_PRECISION, value):
            break
        edges = edges_between(least, most)
    return value, bought


def risk_by_rate(problem: RobustProblem, coef: Floats, intercept: Floats) -> RobustRisk:
    """min over lam >= L(M) of F(M, b, lam), for distributed rows."""
    move_rate = problem.modulus(coef)

    def count(edges: Floats) -> FlipsByRate:
        work = partial(FlipsByRate.of, coef, intercept, move_rate, edges)
        with problem.reduction() as reduction:
            counted: FlipsByRate = reduction.fold(work, FlipsByRate.joined)
        return counted

    value, bought = spent_by_rate(count, problem.radius, move_rate)
    return RobustRisk(value, bought.rate)
