"""One thread per BLAS call while a solver runs.

The solvers' products are small or thin.  Large data are divided among threads by rows
(``rows/threads.py``).  On a busy machine, more threads inside each product cost much more
time than they save.  The limit holds for the whole process, so that fits at the same time
share it.  The first fit sets the limit, and the last fit restores the old one.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from importlib import import_module
from typing import Any

import threadpoolctl  # type: ignore[import-untyped]

_lock = threading.RLock()
_active: dict[str, Any] = {"fits": 0, "limited": []}


def _hold() -> None:
    """Wait until no thread is setting the limit.

    BLAS has its own lock for the limit.  If another thread holds this lock during a fork,
    the lock is never released in the forked process, because the thread is missing there.
    """
    _lock.acquire()


def _release() -> None:
    _lock.release()


def _forget_fits() -> None:
    """Reset the count of fits: a forked process does not have the parent's threads."""
    global _lock
    _lock = threading.RLock()
    _active.update(fits=0, limited=[])


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_hold, after_in_parent=_release, after_in_child=_forget_fits)


@contextmanager
def forks_wait() -> Iterator[None]:
    """Let forks by other threads wait for the end: a child born in the middle of an import
    would wait for ever for the thread that began it."""
    with _lock:
        yield


@lru_cache
def _libraries() -> tuple[Any, ...]:
    # Reading the list of loaded libraries takes milliseconds, so it is read once.  SciPy's
    # BLAS must be in the list; importing scipy.linalg loads it.
    import_module("scipy.linalg")
    found = threadpoolctl.ThreadpoolController().select(user_api="blas")
    return tuple(found.lib_controllers)


def _take_control() -> None:
    """Let this thread change the limit, even if another thread changed it before.

    Recent versions of threadpoolctl silently ignore changes by all threads except the first
    one.  Here the thread that ends last restores the limit, and then releases control.
    """
    openblas = getattr(threadpoolctl, "OpenBLASController", None)
    if openblas is not None and hasattr(openblas, "clear_controlling_thread"):
        openblas.clear_controlling_thread(force=True)


def _limit() -> list[tuple[Any, int]]:
    """Give each library one thread; the libraries that had more, with their numbers.

    threadpoolctl's own limits would collect all that it knows of the libraries, each time.
    """
    _take_control()
    before = [(library, library.num_threads) for library in _libraries()]
    limited = [(library, number) for library, number in before if (number or 1) > 1]
    for library, _ in limited:
        library.set_num_threads(1)
    return limited


def _restore(limited: list[tuple[Any, int]]) -> None:
    _take_control()
    for library, number in limited:
        library.set_num_threads(number)
    _take_control()


@contextmanager
def single_threaded_blas() -> Iterator[None]:
    """Limit BLAS to one thread until the last of the overlapping contexts ends."""
    with _lock:
        if _active["fits"] == 0:
            _active["limited"] = _limit()
        _active["fits"] += 1
    try:
        yield
    finally:
        with _lock:
            _active["fits"] -= 1
            if _active["fits"] == 0:
                _restore(_active["limited"])
