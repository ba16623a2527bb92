"""One reduction over the rows of a problem, in memory or on dask workers.

Solvers and the certificate visit the rows only by folds.  A fold applies a function to each
block of rows.  The results are small and are combined in the order of the rows.  Arrays
with one entry for each row stay in the place of the rows (``Kept``) for the next fold.  The
function receives the subject that has the rows, mostly a problem: the whole problem in
memory, or one chunk of the problem on a worker.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any, Protocol, TypeAlias

import numpy as np

from ..arrays import Codes
from .threads import Run

# Work on some rows: a function of (subject, rows), or of (subject, rows, kept).
Work: TypeAlias = Callable[..., Any]
Combine: TypeAlias = Callable[[Any, Any], Any]
# Choice of rows: a function of (subject, kept) that returns row numbers.
Pick: TypeAlias = Callable[..., Codes]
# Arrays with one entry for each row, held in the place of the rows.
Kept: TypeAlias = Any

# Number of picked rows per block.
PICKED_BLOCK = 4096


class Subject(Protocol):
    """An object whose rows can be visited in blocks."""

    def blocks(self) -> Iterable[slice]: ...


class Reduction(Protocol):
    """Folds over all rows, in their order."""

    def fold(self, work: Work, combine: Combine, kept: Kept = None) -> Any:
        """Combine ``work(subject, rows)`` over all blocks of rows.

        With ``kept``, combine ``work(subject, rows, kept[rows])``.
        """
        ...

    def fold_keeping(self, work: Work, combine: Combine) -> tuple[Any, Kept]:
        """The same for work that returns a pair; the second parts are kept."""
        ...

    def fold_picked(self, pick: Pick, kept: Kept, work: Work, combine: Combine) -> Any:
        """Combine work over the rows that ``pick`` returns; None if it returns no row."""
        ...

    def on(self, subject: Subject) -> Reduction:
        """Folds over the rows of another subject, in memory."""
        ...


@dataclass(frozen=True, eq=False)
class MemoryReduction:
    """Folds over rows in memory or in a memory map; ``run`` maps the work over blocks."""

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
    """The sum, entry by entry for tuples of the same kind; None counts as zero."""
    if one is None or other is None:
        return one if other is None else other
    if isinstance(one, tuple):
        sums = (added(a, b) for a, b in zip(one, other, strict=True))
        return type(one)(*sums) if hasattr(one, "_fields") else tuple(sums)
    return one + other


def accumulated(total: Any, part: Any) -> Any:
    """The sum like ``added``, but written into the arrays of ``total``.

    They must be the fold's own.  Parts may be in single precision; their sum is in double.
    """
    if isinstance(total, tuple):
        sums = (accumulated(a, b) for a, b in zip(total, part, strict=True))
        return type(total)(*sums) if hasattr(total, "_fields") else tuple(sums)
    if not isinstance(total, np.ndarray):
        return added(total, part)
    if total.dtype != np.float64:
        total = total.astype(np.float64)
    return np.add(total, part, out=total)


def joined(one: Sequence[Any], other: Sequence[Any]) -> list[Any]:
    """One list after the other."""
    return [*one, *other]
