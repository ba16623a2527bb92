"""One reduction over the rows of a problem, wherever they are.

All that a solver and the certificate need of many rows is a fold: a function of some rows,
whose results are small and are combined in the order of the rows.  What is as long as the
rows stays with them (``Kept``) for the next fold.  Functions are given the subject whose
rows they look at, mostly a problem: the whole one in memory, a chunk of it on a worker.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any, Protocol, TypeAlias

import numpy as np

from ..arrays import Codes
from .threads import Run

# Work on some rows: (subject, rows), and what is kept of these rows where there is any.
Work: TypeAlias = Callable[..., Any]
Combine: TypeAlias = Callable[[Any, Any], Any]
# Which rows: (subject, what is kept of all its rows) -> row numbers.
Pick: TypeAlias = Callable[..., Codes]
# Arrays with an entry for each row, held where the rows are.
Kept: TypeAlias = Any

# Rows that were picked are worked on in blocks of this many.
PICKED_BLOCK = 4096


class Subject(Protocol):
    """Whatever has rows that can be visited in blocks."""

    def blocks(self) -> Iterable[slice]: ...


class Reduction(Protocol):
    """Folds over all rows, in their order."""

    def fold(self, work: Work, combine: Combine, kept: Kept = None) -> Any:
        """Combine ``work(subject, rows)`` over blocks of rows, or with what is kept of
        each block, ``work(subject, rows, kept)``."""
        ...

    def fold_keeping(self, work: Work, combine: Combine) -> tuple[Any, Kept]:
        """The same for work that returns a pair, whose second part is kept."""
        ...

    def fold_picked(self, pick: Pick, kept: Kept, work: Work, combine: Combine) -> Any:
        """Combine work over the rows that ``pick`` names; None if there are none."""
        ...

    def on(self, subject: Subject) -> Reduction:
        """Folds over other rows, which are in memory."""
        ...


@dataclass(frozen=True, eq=False)
class MemoryReduction:
    """Folds over rows in memory or in a memory map, blocks shared out by ``run``."""

    subject: Subject
    run: Run

    def fold(self, work: Work, combine: Combine, kept: Kept = None) -> Any:
        subject = self.subject

        def block(rows: slice) -> Any:
            return work(subject, rows, *(() if kept is None else (kept[rows],)))

        return reduce(combine, self.run(block, subject.blocks()))

    def fold_keeping(self, work: Work, combine: Combine) -> tuple[Any, Kept]:
        parts = self.run(lambda rows: work(self.subject, rows), self.subject.blocks())
        small, kept = zip(*parts, strict=True)
        return reduce(combine, small), np.concatenate(kept)

    def fold_picked(self, pick: Pick, kept: Kept, work: Work, combine: Combine) -> Any:
        picked = pick(self.subject, kept)
        if not len(picked):
            return None
        starts = range(0, len(picked), PICKED_BLOCK)
        blocks = [picked[start : start + PICKED_BLOCK] for start in starts]
        return reduce(combine, self.run(lambda rows: work(self.subject, rows), blocks))

    def on(self, subject: Subject) -> MemoryReduction:
        return MemoryReduction(subject, self.run)


def added(one: Any, other: Any) -> Any:
    """The sum, entry by entry for tuples of the same kind; None is nothing."""
    if one is None or other is None:
        return one if other is None else other
    if isinstance(one, tuple):
        sums = (added(a, b) for a, b in zip(one, other, strict=True))
        return type(one)(*sums) if hasattr(one, "_fields") else tuple(sums)
    return one + other


def joined(one: Sequence[Any], other: Sequence[Any]) -> list[Any]:
    """One list after the other."""
    return [*one, *other]
