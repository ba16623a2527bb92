"""A problem whose rows are chunks elsewhere: the same formulas, folded where the rows are.

A worker is sent a recipe (ball, loss, sizes) and the work; it makes a problem of its chunk
and folds over it as memory does.  What comes back is small: sums, a few row numbers, the
rows of a sample.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, fields, replace
from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .bounded import RobustRisk
from .chunks import (
    Chunk,
    Delayed,
    Engine,
    calls,
    reduction,
    stacked,
)
from .flips_by_rate import FlipsByRate, spent_by_rate
from .objective import RobustProblem
from .row_threads import MIN_ROWS, Run, row_threads
from .sweeps import Combine, Kept, Pick, RowSweeps, Sweeps, Work

Floats = NDArray[np.float64]
Codes = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class ChunkedRows:
    """Rows in chunks, in place of a matrix: it has a shape, but cannot be indexed."""

    chunks: tuple[Delayed, ...]
    sizes: tuple[int, ...]
    n_features: int
    engine: Engine

    @property
    def shape(self) -> tuple[int, int]:
        return sum(self.sizes), self.n_features

    @cached_property
    def starts(self) -> Codes:
        return np.concatenate([[0], np.cumsum(self.sizes)[:-1]]).astype(np.intp)


@dataclass(frozen=True, eq=False)
class DistributedProblem(RobustProblem):
    """X is ``ChunkedRows``; labels, weights and trust are with the rows, and empty here
    (trust is None where there is none)."""

    @property
    def is_distributed(self) -> bool:
        return True

    @contextmanager
    def sweeps(self) -> Iterator[Sweeps]:
        # What is gathered here is as many rows as threads are made for.
        with row_threads(MIN_ROWS) as run:
            yield ChunkSweeps(self.X, self._without_rows, run)

    @property
    def _without_rows(self) -> RobustProblem:
        """The problem without its rows."""
        known = {f.name: getattr(self, f.name) for f in fields(RobustProblem)}
        return RobustProblem(**known | {"X": np.empty((0, self.n_features))})

    def take(self, rows: Any) -> RobustProblem:
        if not len(rows):
            return self._without_rows
        starts = self.X.starts
        inside = np.split(rows, np.searchsorted(rows, starts[1:]))
        named = [i for i, some in enumerate(inside) if len(some)]
        chunks = [self.X.chunks[i] for i in named]
        places = [inside[i] - starts[i] for i in named]
        parts = self.X.engine.gather(calls(_taken, chunks, places))
        return _of_chunk(self._without_rows, _joined_chunks(parts))

    def without_idle_rows(self) -> RobustProblem:
        return self

    def by_chunks(self, change: Callable[[RobustProblem], RobustProblem]) -> RobustProblem:
        changed = change(self._without_rows)
        chunks = calls(partial(_changed, self._without_rows, change), self.X.chunks)
        kept = tuple(self.X.engine.keep_rows(chunks))
        rows = replace(self.X, chunks=kept, n_features=changed.n_features)
        known = {f.name: getattr(changed, f.name) for f in fields(RobustProblem)}
        return DistributedProblem(**known | {"X": rows})

    def risk(self, coef: Floats, intercept: Floats) -> RobustRisk:
        """min over lam >= L(M) of F(M, b, lam): the knapsack, its flips counted by rate."""
        if self.is_bounded:
            raise ValueError(
                "a ball with support or categorical needs rows in memory, got a dask "
                "collection: compute it first."
            )
        move_rate = self.lipschitz(coef)
        count = partial(self._flips_by_rate, coef, intercept, move_rate)
        value, bought = spent_by_rate(count, self.radius, move_rate)
        return RobustRisk(value, bought.rate)

    def _flips_by_rate(
        self, coef: Floats, intercept: Floats, move_rate: float, edges: Floats
    ) -> FlipsByRate:
        work = partial(FlipsByRate.of, coef, intercept, move_rate, edges)
        with self.sweeps() as sweeps:
            counted: FlipsByRate = sweeps.fold(work, FlipsByRate.joined)
        return counted


def problem_type(X: Any) -> type[RobustProblem]:
    """The kind of problem that such rows make."""
    return DistributedProblem if isinstance(X, ChunkedRows) else RobustProblem


def _of_chunk(problem: RobustProblem, chunk: Chunk, first_row: int = 0) -> RobustProblem:
    return replace(
        problem,
        X=chunk.X,
        y=chunk.y,
        weight=chunk.weight,
        label_trust=chunk.label_trust,
        first_row=first_row,
    )


def _taken(chunk: Chunk, rows: Codes) -> Chunk:
    trust = chunk.label_trust
    return Chunk(
        chunk.X[rows],
        chunk.y[rows],
        chunk.weight[rows],
        None if trust is None else trust[rows],
    )


def _joined_chunks(parts: list[Chunk]) -> Chunk:
    trust = [part.label_trust for part in parts if part.label_trust is not None]
    return Chunk(
        stacked([part.X for part in parts]),
        np.concatenate([part.y for part in parts]),
        np.concatenate([part.weight for part in parts]),
        np.concatenate(trust) if trust else None,
    )


def _changed(
    problem: RobustProblem,
    change: Callable[[RobustProblem], RobustProblem],
    chunk: Chunk,
) -> Chunk:
    changed = change(_of_chunk(problem, chunk))
    return Chunk(changed.X, changed.y, changed.weight, changed.label_trust)


@dataclass(frozen=True, eq=False)
class Recipe:
    """What a worker is sent to fold over a chunk."""

    problem: RobustProblem
    work: Work
    combine: Combine

    def on(self, chunk: Chunk, first_row: int) -> RowSweeps:
        return RowSweeps(_of_chunk(self.problem, chunk, first_row), map)


# Tasks.  A pair is the result of ``_fold_keeping``: sums, and an array with an entry for
# each row.
def _fold(recipe: Recipe, chunk: Chunk, first_row: int, pair: Any = (None, None)) -> Any:
    return recipe.on(chunk, first_row).fold(recipe.work, recipe.combine, pair[1])


def _fold_keeping(recipe: Recipe, chunk: Chunk, first_row: int) -> tuple[Any, Kept]:
    return recipe.on(chunk, first_row).fold_keeping(recipe.work, recipe.combine)


def _fold_picked(
    recipe: Recipe, pick: Pick, chunk: Chunk, first_row: int, pair: tuple[Any, Kept]
) -> Any:
    sweeps = recipe.on(chunk, first_row)
    return sweeps.fold_picked(pick, pair[1], recipe.work, recipe.combine)


def _sum_of(pair: tuple[Any, Kept]) -> Any:
    return pair[0]


@dataclass(frozen=True, eq=False)
class ChunkSweeps:
    """Sweeps over chunks.  What is kept is a list of pairs (sums, array), one a chunk,
    of which only the sums ever leave the worker."""

    rows: ChunkedRows
    problem: RobustProblem
    run: Run

    def fold(self, work: Work, combine: Combine, kept: Kept = None) -> Any:
        task = partial(_fold, Recipe(self.problem, work, combine))
        tasks = self._tasks(task) if kept is None else self._tasks(task, kept)
        return self._gathered(combine, tasks)

    def fold_keeping(self, work: Work, combine: Combine) -> tuple[Any, Kept]:
        task = partial(_fold_keeping, Recipe(self.problem, work, combine))
        pairs = self._tasks(task)
        total = reduction(combine, calls(_sum_of, pairs))
        pairs, result = self.rows.engine.keep(pairs, total)
        return result, pairs

    def fold_picked(self, pick: Pick, kept: Kept, work: Work, combine: Combine) -> Any:
        task = partial(_fold_picked, Recipe(self.problem, work, combine), pick)
        return self._gathered(combine, self._tasks(task, kept))

    def on(self, problem: RobustProblem) -> RowSweeps:
        return RowSweeps(problem, self.run)

    def _tasks(self, task: Callable[..., Any], *kept: list[Delayed]) -> list[Delayed]:
        starts = [int(start) for start in self.rows.starts]
        return calls(task, self.rows.chunks, starts, *kept)

    def _gathered(self, combine: Combine, tasks: list[Delayed]) -> Any:
        return self.rows.engine.gather([reduction(combine, tasks)])[0]
