"""Wasserstein distances of two samples: exact, and bounds from both sides.

*Exact.*  Samples of one size have an optimal plan that matches rows one to one; others
need a linear program, or the network simplex of POT where that is installed.

*From above.*  Any plan costs at least the distance.  Both samples are laid out over the
unit interval in random order, the interval is cut, and each piece is matched exactly.

*From below.*  A function that no unit of cost raises by more than 1 differs in mean by at
most the distance: linear functions of dual norm 1, whose distances on the line are exact,
and prices on labels.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.random import Generator
from scipy import sparse
from scipy.optimize import linear_sum_assignment, linprog
from scipy.spatial.distance import cdist
from scipy.stats import wasserstein_distance

from ...arrays import Codes, Floats
from ...problem.norms import NORMS

METRICS = {"l1": "cityblock", "l2": "euclidean", "linf": "chebyshev"}
# Rows of each sample up to which a one-to-one matching takes a second or two.
MOST_MATCHED = 2000
# Pairs of rows up to which a linear program, or POT, takes a second or two.
MOST_PAIRS, MOST_PAIRS_OF_POT = 100_000, 4_000_000
# The same for one piece of a plan of many.
MATCHED_PIECE, PAIRS_OF_PIECE = 1000, 40_000


@dataclass(frozen=True, eq=False)
class Sample:
    """Rows whose features are in units of cost, with label codes or without.

    ``fixed`` are the features that cannot move.
    """

    X: Floats
    fixed: Floats
    y: Codes | None

    @property
    def n_rows(self) -> int:
        return len(self.X)

    def take(self, rows: Any) -> Sample:
        labels = None if self.y is None else self.y[rows]
        return Sample(self.X[rows], self.fixed[rows], labels)


@dataclass(frozen=True, eq=False)
class TransportCost:
    """Cost of moving one row of a sample to one of another."""

    norm: str
    label_cost: Floats

    def between(self, old: Sample, new: Sample) -> Floats:
        """Costs of all pairs, infinite where no movement leads."""
        cost: Floats = cdist(old.X, new.X, METRICS[self.norm])
        if old.fixed.shape[1]:
            cost[cdist(old.fixed, new.fixed, "chebyshev") > 0] = np.inf
        if old.y is not None and new.y is not None:
            cost += self.label_cost[np.ix_(old.y, new.y)]
        return cost


def is_small(old: Sample, new: Sample) -> bool:
    """Whether the exact distance is a matter of seconds."""
    n_pairs = old.n_rows * new.n_rows
    if old.n_rows == new.n_rows:
        return old.n_rows <= MOST_MATCHED
    return n_pairs <= (MOST_PAIRS_OF_POT if _has_pot() else MOST_PAIRS)


def exact_distance(cost: TransportCost, old: Sample, new: Sample) -> float:
    """The distance of two small samples; infinite where no plan has a finite cost."""
    mass = [np.full(sample.n_rows, 1 / sample.n_rows) for sample in (old, new)]
    return _distance(cost.between(old, new), *mass)


def piece_sizes(old: Sample, new: Sample) -> tuple[int, int]:
    """Rows of both samples that are compared at a time: all, or a piece of a plan."""
    if is_small(old, new):
        return old.n_rows, new.n_rows
    n_pieces = len(_cuts(old.n_rows, new.n_rows)) - 1
    return -(-old.n_rows // n_pieces), -(-new.n_rows // n_pieces)


def upper_bound(cost: TransportCost, old: Sample, new: Sample, rng: Generator) -> float:
    """The cost of a plan that is optimal within random pieces of both samples."""
    old, new = (each.take(rng.permutation(each.n_rows)) for each in (old, new))
    ends = _cuts(old.n_rows, new.n_rows).tolist()
    total = 0.0
    for low, high in pairwise(ends):
        first, mass = _piece(old.n_rows, low, high)
        second, other = _piece(new.n_rows, low, high)
        table = cost.between(old.take(first), new.take(second))
        total += (high - low) * _distance(table, mass, other)
    return total


def lower_bound(cost: TransportCost, old: Sample, new: Sample, directions: Floats) -> float:
    """The largest distance on a line, and that of the labels alone."""
    bounds = _on_lines(old.X @ directions.T, new.X @ directions.T)
    if old.y is not None and new.y is not None:
        n_classes = len(cost.label_cost)
        shares = [np.bincount(y, minlength=n_classes) / len(y) for y in (old.y, new.y)]
        bounds.append(_transported(cost.label_cost, *shares))
    return float(max(bounds, default=0.0))


def _on_lines(old: Floats, new: Floats) -> list[float]:
    """Distances of the columns of two tables."""
    if len(old) == len(new):
        apart = np.abs(np.sort(old, axis=0) - np.sort(new, axis=0))
        return [float(each) for each in apart.mean(axis=0)]
    pairs = zip(old.T, new.T, strict=True)
    return [float(wasserstein_distance(*pair)) for pair in pairs]


def directions_between(
    norm: str, old: Sample, new: Sample, n_random: int, rng: Generator
) -> Floats:
    """Functions of dual norm 1: features, the difference of means, and random ones."""
    n_features = old.X.shape[1]
    apart = new.X.mean(axis=0) - old.X.mean(axis=0)
    steep = apart if norm == "l2" else np.sign(apart)
    table = np.vstack([steep, np.eye(n_features), rng.normal(size=(n_random, n_features))])
    length = NORMS[norm].dual_of_rows(table)
    return np.asarray(table[length > 0] / length[length > 0, None])


def _piece(n_rows: int, low: float, high: float) -> tuple[Codes, Floats]:
    """Rows whose share of the unit interval meets [low, high], and what of it they fill."""
    edges = np.arange(n_rows + 1) / n_rows
    filled = np.minimum(edges[1:], high) - np.maximum(edges[:-1], low)
    # What rounding leaves of a neighbour is no row.
    rows = np.flatnonzero(filled > 1e-9 / n_rows)
    return rows, filled[rows] / filled[rows].sum()


def _cuts(n_old: int, n_new: int) -> Floats:
    """Where the unit interval is cut; between two rows where that is possible."""
    if n_old == n_new:
        n_pieces = -(-n_old // MATCHED_PIECE)
        return np.asarray(np.round(np.linspace(0, n_old, n_pieces + 1)) / n_old)
    n_pieces = int(np.ceil(np.sqrt(n_old * n_new / PAIRS_OF_PIECE)))
    return np.linspace(0, 1, n_pieces + 1)


def _distance(table: Floats, mass: Floats, other: Floats) -> float:
    """The cheapest plan; one to one where all masses are equal."""
    if len(mass) == len(other) and np.ptp(mass) + np.ptp(other) < 1e-9 * mass[0]:
        return _matched(table)
    return _transported(table, mass, other)


def _matched(table: Floats) -> float:
    try:
        rows, columns = linear_sum_assignment(table)
    except ValueError:  # no matching has a finite cost
        return float(np.inf)
    return float(table[rows, columns].mean())


def _transported(table: Floats, mass: Floats, other: Floats) -> float:
    if _has_pot() and np.isfinite(table).all():
        return float(import_module("ot").emd2(mass, other, table, numItermax=10**7))
    first, second = np.nonzero(np.isfinite(table))
    pair = np.arange(len(first))
    ones = np.ones(len(pair))
    leaving = sparse.csr_array((ones, (first, pair)), shape=(len(mass), len(pair)))
    arriving = sparse.csr_array((ones, (second, pair)), shape=(len(other), len(pair)))
    if not len(pair):
        return float(np.inf)
    # Both masses sum to 1, so that one equation follows from the others.
    plan = linprog(
        table[first, second],
        A_eq=sparse.vstack([leaving, arriving], format="csr")[:-1],
        b_eq=np.concatenate([mass, other])[:-1],
        method="highs-ds",
    )
    return float(plan.fun) if plan.success else float(np.inf)


def _has_pot() -> bool:
    return find_spec("ot") is not None
