"""Threads that share blocks of rows.

Results come back in the order of the blocks, so that sums over them do not depend on how
many threads there are; few blocks are ahead of the one asked for, so that memory does not
depend on how many blocks there are.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any, TypeAlias

# A map, of one function over the items of one sequence.
Run: TypeAlias = Callable[[Callable[[Any], Any], Iterable[Any]], Iterable[Any]]

# Fewer rows than these are done before a thread has begun.
MIN_ROWS = 4096
BLOCKS_AHEAD = 2


@contextmanager
def row_threads(n_rows: int) -> Iterator[Run]:
    """A map over blocks: threads for many rows, the plain one for few."""
    if n_rows < MIN_ROWS:
        yield map
        return
    n_threads = n_processors()
    with ThreadPoolExecutor(n_threads) as pool:
        yield lambda work, items: _in_order(pool, n_threads * BLOCKS_AHEAD, work, items)


def n_processors() -> int:
    """The processors this process may use, not all that the machine has."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not on every system
        return os.cpu_count() or 1


def _in_order(
    pool: ThreadPoolExecutor,
    n_ahead: int,
    work: Callable[[Any], Any],
    items: Iterable[Any],
) -> Iterator[Any]:
    """Results in the order of the items, at most ``n_ahead`` of them waiting."""
    begun: deque[Future[Any]] = deque()
    try:
        for item in items:
            if len(begun) == n_ahead:
                yield begun.popleft().result()
            begun.append(pool.submit(work, item))
        while begun:
            yield begun.popleft().result()
    finally:
        for future in begun:
            future.cancel()
