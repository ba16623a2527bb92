"""How far two samples of one source are apart, by the measures of two samples."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.random import Generator

from .transport import (
    Sample,
    TransportCost,
    directions_between,
    exact_distance,
    is_small,
    lower_bound,
    piece_sizes,
    upper_bound,
)

RANDOM_DIRECTIONS = 50

Measure: TypeAlias = Callable[[TransportCost, Sample, Sample, Generator], float]


class Noise(NamedTuple):
    """Radii, and distances of projections, of random parts of one sample."""

    radius: list[float]
    on_lines: list[float]


def bounds(
    cost: TransportCost, old: Sample, new: Sample, rng: Generator
) -> tuple[float, float]:
    """The distance from below and from above, the same where it is exact."""
    if is_small(old, new):
        distance = exact_distance(cost, old, new)
        return distance, distance
    return projected(cost, old, new, rng), upper_bound(cost, old, new, rng)


def projected(cost: TransportCost, old: Sample, new: Sample, rng: Generator) -> float:
    """The bound from below."""
    directions = directions_between(cost.norm, old, new, RANDOM_DIRECTIONS, rng)
    return lower_bound(cost, old, new, directions)


def noise_of(
    cost: TransportCost, old: Sample, new: Sample, n_splits: int, rng: Generator
) -> Noise:
    """The measures between samples of these sizes without drift.

    A plan of many pieces has the noise of one of them.
    """
    whole, piece = (old.n_rows, new.n_rows), piece_sizes(old, new)
    return Noise(
        _extrapolated(_plan_cost, cost, old, piece, n_splits, rng),
        _extrapolated(projected, cost, old, whole, n_splits, rng),
    )


def _plan_cost(cost: TransportCost, old: Sample, new: Sample, rng: Generator) -> float:
    return bounds(cost, old, new, rng)[1]


def _extrapolated(
    measure: Measure,
    cost: TransportCost,
    rows: Sample,
    sizes: tuple[int, int],
    n_splits: int,
    rng: Generator,
) -> list[float]:
    """The measure between disjoint parts of given sizes, had there been rows enough.

    Noise falls like a power of the size.  Parts of half the size give this power.
    """
    wanted = sizes[0], min(sizes)
    share = min(1.0, rows.n_rows / sum(wanted))

    def between(part: float) -> list[float]:
        times = range(n_splits)
        return [_between_parts(measure, cost, rows, wanted, part, rng) for _ in times]

    found = between(share)
    if share == 1:
        return found
    before = float(np.mean(between(share / 2)))
    if not 0 < np.mean(found) < before < np.inf:
        return found
    rate = (float(np.mean(found)) / before) ** np.log2(1 / share)
    return [float(rate * each) for each in found]


def _between_parts(
    measure: Measure,
    cost: TransportCost,
    rows: Sample,
    sizes: tuple[int, int],
    share: float,
    rng: Generator,
) -> float:
    first, second = (max(1, int(share * size)) for size in sizes)
    order = rng.permutation(rows.n_rows)
    one, other = rows.take(order[:first]), rows.take(order[first : first + second])
    return measure(cost, one, other, rng)
