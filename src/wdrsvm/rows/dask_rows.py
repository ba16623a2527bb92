"""Rows in chunks that dask holds: the same reductions as in memory, made on the workers.

A worker receives a recipe: how to make a subject from a chunk, and the work to do.  The
worker then folds over the chunk exactly as over rows in memory.  Results are small: sums,
a few row numbers, the rows of a sample.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from ..arrays import Codes
from ..cached import cached_property
from .dask_engine import Delayed, Engine, calls, reduction
from .memory_rows import MemoryRows, SubjectOf, joined_rows, no_rows
from .reduce import Combine, Kept, MemoryReduction, Pick, Reduction, Subject, Work
from .threads import MIN_ROWS, Run, row_threads


@dataclass(frozen=True, eq=False)
class ChunkedRows:
    """Rows in chunks, each a delayed ``MemoryRows`` without rows of zero weight."""

    chunks: tuple[Delayed, ...]
    sizes: tuple[int, ...]
    n_features: int
    engine: Engine
    with_trust: bool = False

    @property
    def n_rows(self) -> int:
        return sum(self.sizes)

    @property
    def are_distributed(self) -> bool:
        return True

    @cached_property
    def starts(self) -> Codes:
        return np.concatenate([[0], np.cumsum(self.sizes)[:-1]]).astype(np.intp)

    def take(self, rows: Codes) -> MemoryRows:
        if not len(rows):
            return no_rows(self.n_features, self.with_trust)
        inside = np.split(rows, np.searchsorted(rows, self.starts[1:]))
        named = [i for i, some in enumerate(inside) if len(some)]
        chunks = [self.chunks[i] for i in named]
        places = [inside[i] - self.starts[i] for i in named]
        return joined_rows(self.engine.gather(calls(MemoryRows.take, chunks, places)))

    @contextmanager
    def reduction(self, subject_of: SubjectOf) -> Iterator[Reduction]:
        # Rows that are gathered here are enough to be worth threads.
        with row_threads(MIN_ROWS) as run:
            yield ChunkReduction(self, subject_of, run)

    def changed(self, change: Callable[[MemoryRows], MemoryRows]) -> ChunkedRows:
        """The chunks after a change that each chunk can make without the others."""
        chunks = tuple(self.engine.keep_rows(calls(change, self.chunks)))
        after = change(no_rows(self.n_features, self.with_trust))
        trusted = after.label_trust is not None
        return replace(self, chunks=chunks, n_features=after.n_features, with_trust=trusted)


@dataclass(frozen=True, eq=False)
class Recipe:
    """The instructions with which a worker folds over a chunk."""

    subject_of: SubjectOf
    work: Work
    combine: Combine

    def on(self, chunk: MemoryRows, first_row: int) -> MemoryReduction:
        return MemoryReduction(self.subject_of(replace(chunk, first_row=first_row)), map)


# Tasks for the workers.  A pair is the result of ``_fold_keeping``: sums, and an array with
# one entry for each row of the chunk.
def _fold(
    recipe: Recipe, chunk: MemoryRows, first_row: int, pair: Any = (None, None)
) -> Any:
    return recipe.on(chunk, first_row).fold(recipe.work, recipe.combine, pair[1])


def _fold_keeping(recipe: Recipe, chunk: MemoryRows, first_row: int) -> tuple[Any, Kept]:
    return recipe.on(chunk, first_row).fold_keeping(recipe.work, recipe.combine)


def _fold_picked(
    recipe: Recipe, pick: Pick, chunk: MemoryRows, first_row: int, pair: tuple[Any, Kept]
) -> Any:
    part = recipe.on(chunk, first_row)
    return part.fold_picked(pick, pair[1], recipe.work, recipe.combine)


def _sum_of(pair: tuple[Any, Kept]) -> Any:
    return pair[0]


@dataclass(frozen=True, eq=False)
class ChunkReduction:
    """Folds over chunks.

    ``kept`` is a list of pairs (sums, array), one per chunk.  Only the sums leave a worker.
    """

    rows: ChunkedRows
    subject_of: SubjectOf
    run: Run

    def fold(self, work: Work, combine: Combine, kept: Kept = None) -> Any:
        task = partial(_fold, Recipe(self.subject_of, work, combine))
        tasks = self._tasks(task) if kept is None else self._tasks(task, kept)
        return self._gathered(combine, tasks)

    def fold_keeping(self, work: Work, combine: Combine) -> tuple[Any, Kept]:
        task = partial(_fold_keeping, Recipe(self.subject_of, work, combine))
        pairs = self._tasks(task)
        total = reduction(combine, calls(_sum_of, pairs))
        pairs, result = self.rows.engine.keep(pairs, total)
        return result, pairs

    def fold_picked(self, pick: Pick, kept: Kept, work: Work, combine: Combine) -> Any:
        task = partial(_fold_picked, Recipe(self.subject_of, work, combine), pick)
        return self._gathered(combine, self._tasks(task, kept))

    def on(self, subject: Subject) -> MemoryReduction:
        return MemoryReduction(subject, self.run)

    def _tasks(self, task: Callable[..., Any], *kept: list[Delayed]) -> list[Delayed]:
        starts = [int(start) for start in self.rows.starts]
        return calls(task, self.rows.chunks, starts, *kept)

    def _gathered(self, combine: Combine, tasks: list[Delayed]) -> Any:
        return self.rows.engine.gather([reduction(combine, tasks)])[0]
