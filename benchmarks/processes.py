"""Processors and processes: what a measurement may use, and where it runs."""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from multiprocessing.connection import Connection
from typing import Any


@contextmanager
def held_to_cpus(count: int) -> Iterator[int]:
    """Hold this thread, and those it starts, to ``count`` processors; gives how many.

    The only limit that holds for threads of every kind.  Not all systems have it.
    """
    if not hasattr(os, "sched_setaffinity"):
        yield os.cpu_count() or 1
        return
    before = os.sched_getaffinity(0)
    chosen = sorted(before)[:count]
    os.sched_setaffinity(0, chosen)
    try:
        yield len(chosen)
    finally:
        os.sched_setaffinity(0, before)


def in_fresh_process(
    prepare: Callable[[], Any],
    work: Callable[[Any], Any],
    time_limit: float | None = None,
) -> Any:
    """``work(prepare())`` in a new interpreter; None if ``work`` takes longer than that.

    Both functions must be importable: they are sent, not inherited.
    """
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=_serve, args=(prepare, work, theirs))
    process.start()
    theirs.close()
    try:
        ours.recv()  # prepared: the clock starts
        return ours.recv() if ours.poll(time_limit) else None
    except EOFError:
        raise RuntimeError("the measuring process failed; it said why above") from None
    finally:
        process.kill()
        process.join()


def _serve(
    prepare: Callable[[], Any], work: Callable[[Any], Any], pipe: Connection
) -> None:
    prepared = prepare()
    pipe.send("prepared")
    pipe.send(work(prepared))
