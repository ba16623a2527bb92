"""Threads that share blocks of rows.

Results are returned in the order of the blocks.  Therefore sums over the blocks do not
depend on the number of threads.  Only a few blocks are computed in advance.  Therefore
memory does not depend on the number of blocks.

All fits of a process together use no more threads than the process may use.  The first fit
takes all of these threads, and every fit that runs beside it uses only its own thread.
"""

from __future__ import annotations

import os
import re
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import lru_cache
from importlib import import_module
from typing import Any, TypeAlias

import threadpoolctl  # type: ignore[import-untyped]

# A function like ``map``, for one function and the items of one sequence.
Run: TypeAlias = Callable[[Callable[[Any], Any], Iterable[Any]], Iterable[Any]]

# With fewer rows, starting threads takes longer than the work.
MIN_ROWS = 4096
# Blocks per thread that are computed in advance.
BLOCKS_AHEAD = 2

_lock = threading.Lock()
# For each thread that runs a fit, by its identifier: the number of threads of this fit.
_taken: dict[int, int] = {}
# The largest number of threads for fits in this thread, if ``at_most`` has set it.
_share = threading.local()


def _forget_threads() -> None:
    """Start with no threads in a forked process, which has none of its parent's."""
    global _lock
    _lock = threading.Lock()
    _taken.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_threads)


def row_threads(n_rows: int) -> AbstractContextManager[Run]:
    """A map over blocks: in threads for many rows, the built-in ``map`` for few."""
    return nullcontext(map) if are_few(n_rows) else _mapped_in_threads()


def are_few(n_rows: int) -> bool:
    """Whether one thread does the work of so many rows sooner than several would."""
    return n_rows < MIN_ROWS


@contextmanager
def _mapped_in_threads() -> Iterator[Run]:
    with _granted(_wanted()) as n_threads:
        if n_threads == 1:
            yield map
            return
        with ThreadPoolExecutor(n_threads) as pool:
            yield lambda work, items: _in_order(pool, n_threads * BLOCKS_AHEAD, work, items)


@contextmanager
def at_most(n_threads: int) -> Iterator[None]:
    """Limit the number of threads for fits in this thread."""
    before = getattr(_share, "most", None)
    _share.most = n_threads
    try:
        yield
    finally:
        _share.most = before


def n_processors() -> int:
    """Number of processors that this process may use, at most those of the machine.

    joblib's count respects the affinity of the process and the limits of a container.
    ``OMP_NUM_THREADS``, which joblib sets in its workers, and the limits of threadpoolctl
    lower the number further.
    """
    found = _counted(import_module("joblib").cpu_count, _affinity())
    return max(1, min(found, _told_by_environment(found), _told_by_openmp(found)))


def _affinity() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 0


@lru_cache
def _counted(count: Callable[[], int], affinity: int) -> int:
    # Reading the limits of a container from files takes longer than a small reduction.
    return count()


def _wanted() -> int:
    most: int | None = getattr(_share, "most", None)
    if most is not None:
        return max(1, min(most, n_processors()))
    return 1 if _is_one_of_many() else n_processors()


def _is_one_of_many() -> bool:
    """Whether this thread belongs to joblib, which already uses all allowed threads."""
    if threading.current_thread() is threading.main_thread():
        return False
    backend, _ = import_module("joblib.parallel").get_active_backend()
    return bool((getattr(backend, "nesting_level", 0) or 0) > 0)


@contextmanager
def _granted(n_threads: int) -> Iterator[int]:
    """At most ``n_threads`` threads that no other fit has taken, but at least one."""
    own = threading.get_ident()
    with _lock:
        before = _taken.get(own, 0)
        others = sum(taken for thread, taken in _taken.items() if thread != own)
        granted = max(1, n_threads - others)
        # In a context inside another, the threads of the outer context are idle.
        _taken[own] = max(before, granted)
    try:
        yield granted
    finally:
        with _lock:
            _taken[own] = before
            if not before:
                del _taken[own]


def _told_by_environment(otherwise: int) -> int:
    told = re.match(r"\s*(\d+)", os.environ.get("OMP_NUM_THREADS", ""))
    return int(told[1]) if told else otherwise


def _told_by_openmp(otherwise: int) -> int:
    libraries = _libraries().select(user_api="openmp").info()
    return min((each["num_threads"] for each in libraries), default=otherwise)


@lru_cache
def _libraries() -> Any:
    # Reading the list of loaded libraries takes milliseconds: once is enough.
    return threadpoolctl.ThreadpoolController()


def _in_order(
    pool: ThreadPoolExecutor,
    n_ahead: int,
    work: Callable[[Any], Any],
    items: Iterable[Any],
) -> Iterator[Any]:
    """Results in the order of the items; at most ``n_ahead`` items are in work."""
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
