"""Sums of the curvature of the loss over the rows: what the preconditioner is made of."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np

from .....arrays import Floats
from .....problem import RobustProblem
from .heavy_rows import HeavyCurvature, HeavyEntries, HeavyRows
from .principal_axes import moment

if TYPE_CHECKING:
    from ..design import ScoredBlock

# Rows of a block, and the curvature (C, n) of their scores.
Spread: TypeAlias = "Callable[[RobustProblem, slice], tuple[ScoredBlock, Floats]]"


class CurvatureSums(NamedTuple):
    """Sums of the curvature q_nc of each score alone, over the rows of the class itself and
    over all others: its mass (C, 2) and q x' (C, 2, Q); and over all rows (sum_c q) x x'
    (Q, Q), or its diagonal (Q,) in principal columns or in a ``basis`` (Q, Q).

    If the rows of the classes themselves are taken as they are, ``own``, the sums are those
    over all others alone: (C, 1) and (C, 1, Q)."""

    mass: Floats
    first: Floats
    second: Floats
    basis: Floats | None = None
    own: HeavyRows | None = None


def curvature_sums(
    spread_of: Spread, every: int, moment_of: Any, problem: RobustProblem, rows: slice
) -> CurvatureSums:
    return curvature_of(*spread_of(problem, rows), every, moment_of)


def curvature_of_others(
    spread_of: Spread,
    every: int,
    moment_of: Any,
    own: Floats,
    problem: RobustProblem,
    rows: slice,
) -> CurvatureSums:
    """One row out of ``every`` at the labels of others; curvatures at own ones fill
    ``own`` (N,)."""
    block, spread = spread_of(problem, rows)
    places = block.y, np.arange(len(block.y))
    own[rows], spread[places] = spread[places], 0.0
    some, spread = block.rows[::every], spread[:, ::every]
    second = np.asarray(moment_of(some, spread.sum(axis=0)), dtype=np.float64)
    mass = spread.sum(axis=1, dtype=np.float64)[:, None]
    first = (spread @ some).astype(np.float64)[:, None]
    return CurvatureSums(every * mass, every * first, every * second)


def curvature_of(
    block: ScoredBlock, spread: Floats, every: int, moment_of: Any = moment
) -> CurvatureSums:
    """The sums of a block of which one row out of ``every`` was visited."""
    spread = spread.astype(block.rows.dtype, copy=False)
    second = np.asarray(moment_of(block.rows, spread.sum(axis=0)), dtype=np.float64)
    mass, first = block.own_and_others(spread)
    return CurvatureSums(every * mass, every * first, every * second)


def heavy_curvature(
    spread_of: Spread, every: int, count: int, problem: RobustProblem, rows: slice
) -> HeavyCurvature:
    """The sums and the largest entries of a block of which one row out of ``every`` was
    visited."""
    block, spread = spread_of(problem, rows)
    heavy = HeavyEntries.of(spread, np.arange(rows.start, rows.stop, every), count)
    mass, first = block.own_and_others(spread)
    return HeavyCurvature(every * mass, every * first, heavy)
