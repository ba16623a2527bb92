r"""What a certificate would say, about: an estimate that decides whether to ask for one.

Losses of rows come from scores in single precision, with which the places of rows are found
anyway.  The bound takes the masses as they are: with an intercept their slopes have a small
sum, which the certificate has to repair first.  So the estimate of the gap is too small by
a little, and proves nothing.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from ....arrays import Floats, Matrix
from ....problem import RobustProblem
from ....problem.pair_weights import pair_distances
from ..multiples import best_multiple
from ..norms.l2 import EuclideanBlock
from ..settings import FIRST_ORDER
from .masses import own_masses, with_places
from .places import Places


class Estimate(NamedTuple):
    """Of a point: its risk, and that of its best multiple."""

    risk: float
    least: float


class Masses(NamedTuple):
    """Of masses: their value, their gradient G (T, C), and the bound."""

    value: float
    gradient: Floats
    bound: float


def estimated_risk(problem: RobustProblem, loss: Floats, touch: Floats) -> Estimate:
    """From the losses (N,) of the rows at a table (T, C)."""
    cost = problem.radius * float(pair_distances(touch.T).max())
    risk = cost + float(problem.weight @ loss)
    gain = best_multiple(loss, problem.weight, cost)[1]
    return Estimate(risk, risk - gain)


def estimated_bound(
    problem: RobustProblem, alpha: Matrix, block: EuclideanBlock, rtol: float
) -> Masses:
    """From the masses (N, C) and the table R."""
    on_labels = own_masses(alpha, problem.y).sum()
    value = float(problem.weight.sum() - on_labels)
    gradient = block.gradient()
    length = block.polar(gradient, rtol)
    share = problem.radius / length if length > problem.radius else 1.0
    return Masses(value, gradient, share * value)


class FallingGap:
    """Whether the gap still falls: if not for long, epochs look at all classes again."""

    def __init__(self) -> None:
        self.least, self.epoch = np.inf, 0

    def has_stopped(self, gap: float, epoch: int) -> bool:
        if gap < FIRST_ORDER.stall_factor * self.least:
            self.least, self.epoch = gap, epoch
        waited = epoch - self.epoch
        return waited > max(FIRST_ORDER.min_patience, FIRST_ORDER.patience * epoch)


class Remembered(NamedTuple):
    """A point that was looked at, for a fit that runs away before its first certificate.

    Only ``places`` have masses.
    """

    touch: Floats
    free: Floats
    pairs: Floats
    lam: float
    pressure: float
    places: Places

    @classmethod
    def of(
        cls, block: EuclideanBlock, free: Floats, price: Any, places: Places
    ) -> Remembered:
        tables = block.coef.copy(), free.copy(), block.pairs.copy()
        held = places._replace(masses=places.masses.copy())
        return cls(*tables, price.lam, price.pressure, held)

    def restore(self, block: EuclideanBlock, price: Any, alpha: Matrix) -> Matrix:
        """Returns the masses (N, C); a dense table is written to."""
        block.coef, block.pairs = self.touch, self.pairs
        price.lam, price.pressure = self.lam, self.pressure
        if not sparse.issparse(alpha):
            alpha[:] = 0.0
        return with_places(alpha, self.places)
