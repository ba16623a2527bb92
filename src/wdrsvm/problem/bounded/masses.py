"""Masses of an adversary's plan, row by row: where they come from, and how they are tilted.

A source returns the masses (K, n) of some rows under all K pairs of classes.  Masses of all
rows are never held together: each pass over the rows computes them again, wherever the rows
are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, Protocol, TypeAlias

import numpy as np

from ...arrays import Codes, Floats
from ...rows.blocks import dense_rows
from ..ball import CategoricalGroup
from ..certificate.settings import CERTIFICATE
from ..problem import RobustProblem
from .circulation import Circulation


class MassSource(Protocol):
    """Masses of a plan."""

    def rows(self, problem: RobustProblem, rows: slice) -> Floats:
        """The masses (K, n) of some rows."""
        ...


# Masses of all rows (K, N), or a source of them.
Masses: TypeAlias = Floats | MassSource


@dataclass(frozen=True, eq=False)
class GivenMasses:
    """Masses of all rows in one array (K, N)."""

    mass: Floats

    def rows(self, problem: RobustProblem, rows: slice) -> Floats:
        start, stop, _ = rows.indices(problem.n_rows)
        return self.mass[:, problem.first_row + start : problem.first_row + stop]


def as_source(masses: Masses) -> MassSource:
    return GivenMasses(masses) if isinstance(masses, np.ndarray) else masses


@dataclass(frozen=True, eq=False)
class FeasibleMasses:
    """Masses >= 0 on possible labels, in total at most the weight of each row.

    Masses that no balanced plan has are zero.  With ``loosened``, every row first gets a
    trace of mass of each pair, so that it can be tilted.
    """

    source: MassSource
    winner: Codes
    label: Codes
    circulation: Circulation | None = None
    loosened: bool = False

    def rows(self, problem: RobustProblem, rows: slice) -> Floats:
        weight = problem.weight[rows]
        mass = np.maximum(self.source.rows(problem, rows), 0.0)
        if self.loosened:
            mass = mass + CERTIFICATE.loosening * weight / len(mass)
        possible = np.isfinite(prices(problem, rows, self.label))
        if self.circulation is not None:
            possible &= self.circulation.allows(problem, rows, self.winner, self.label)
        mass = np.where(possible, mass, 0.0)
        return np.asarray(mass / np.maximum(mass.sum(axis=0) / weight, 1.0))


def prices(problem: RobustProblem, rows: slice, label: Codes) -> Floats:
    """The label cost k[n, c] of each pair and row, (K, n)."""
    return np.asarray(problem.label_price(rows)[:, label].T)


@dataclass(frozen=True, eq=False)
class TiltedMasses:
    """Feasible masses, shifted within each row by one tilt after the other.

    ``planes`` has an array (K, P + 1) for each tilt: the pull of a row is (x, 1) . plane.
    Mass without a pair has no pull.
    """

    start: MassSource
    planes: tuple[Floats, ...]

    def rows(self, problem: RobustProblem, rows: slice) -> Floats:
        mass, weight = self.start.rows(problem, rows), problem.weight[rows]
        block = with_ones(problem, rows)
        for plane in self.planes:
            mass = _tilted(mass, plane @ block.T, weight)
        return mass


def tilted(masses: Masses, plane: Floats) -> TiltedMasses:
    """The masses after one more tilt."""
    if isinstance(masses, TiltedMasses):
        return replace(masses, planes=(*masses.planes, plane))
    return TiltedMasses(as_source(masses), (plane,))


def _tilted(mass: Floats, pulls: Floats, weight: Floats) -> Floats:
    mean = (mass * pulls).sum(axis=0) / weight
    moved = mass * np.maximum(1.0 + pulls - mean, 0.0)
    rest = (weight - mass.sum(axis=0)) * np.maximum(1.0 - mean, 0.0)
    total = moved.sum(axis=0) + np.maximum(rest, 0.0)
    return np.asarray(moved * (weight / np.where(total > 0, total, 1.0)))


def with_ones(problem: RobustProblem, rows: slice) -> Floats:
    """(x_n, 1) of some rows."""
    block = dense_rows(problem.X[rows])
    return np.hstack([block, np.ones((len(block), 1))])


class Switch(NamedTuple):
    """A pair, a group of categories, the category it switches to, and the shares (from,)
    of the other categories' mass that switch."""

    pair: int
    group: CategoricalGroup
    to: int
    share: Floats


@dataclass(frozen=True, eq=False)
class SplitMasses:
    """The masses of the pairs without what they switch, then those of each switch."""

    start: MassSource
    switches: Sequence[Switch]

    def rows(self, problem: RobustProblem, rows: slice) -> Floats:
        start, block = self.start.rows(problem, rows), dense_rows(problem.X[rows])
        left, parts = start.copy(), []
        for pair, group, _, share in self.switches:
            wanted = start[pair] * (block[:, group.columns] @ share)
            parts.append(np.minimum(wanted, left[pair]))
            left[pair] -= parts[-1]
        return np.vstack([left, *parts])
