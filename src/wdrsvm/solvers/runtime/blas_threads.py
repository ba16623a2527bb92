"""One thread a BLAS call while a solver runs.

The solvers' products are small or thin, and large data are shared out to threads by rows
(``passes``); threads inside each product on top of that cost many times the time they
save as soon as the machine is busy.  The limit is the process's own, so that fits running
side by side share it: the first sets it, the last puts back what it found.
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
_active: dict[str, Any] = {"fits": 0, "limit": None}


def _hold() -> None:
    """Wait until no thread is setting the limit.

    BLAS has a lock of its own for that; held by a thread that a forked process does not
    have, it would never be released there.
    """
    _lock.acquire()


def _release() -> None:
    _lock.release()


def _forget_fits() -> None:
    """A forked process has none of its parent's other threads, whatever they were at."""
    global _lock
    _lock = threading.RLock()
    _active.update(fits=0, limit=None)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_hold, after_in_parent=_release, after_in_child=_forget_fits)


@contextmanager
def forks_wait() -> Iterator[None]:
    """Let forks by other threads wait for the end: a child born in the middle of an import
    would wait for ever for the thread that began it."""
    with _lock:
        yield


@lru_cache
def _controller() -> Any:
    # Reading the list of loaded libraries takes milliseconds: once is enough, as long as
    # scipy's own BLAS, which comes with its linear algebra, is among them.
    import_module("scipy.linalg")
    return threadpoolctl.ThreadpoolController()


def _take_control() -> None:
    """Let this thread change the limit, whichever changed it last.

    Recent versions of threadpoolctl silently ignore all threads but the one that was
    first; here the thread that ends last puts the limit back, and then nobody holds it.
    """
    openblas = getattr(threadpoolctl, "OpenBLASController", None)
    if openblas is not None and hasattr(openblas, "clear_controlling_thread"):
        openblas.clear_controlling_thread(force=True)


@contextmanager
def single_threaded_blas() -> Iterator[None]:
    """Limit BLAS to one thread until the last of the overlapping contexts ends."""
    with _lock:
        if _active["fits"] == 0:
            _take_control()
            _active["limit"] = _controller().limit(limits=1, user_api="blas")
        _active["fits"] += 1
    try:
        yield
    finally:
        with _lock:
            _active["fits"] -= 1
            if _active["fits"] == 0:
                _take_control()
                _active["limit"].restore_original_limits()
                _take_control()
