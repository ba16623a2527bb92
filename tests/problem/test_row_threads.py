"""Threads that share blocks: order, bounded memory, processors that may be used."""

import os
import threading
import time
from contextlib import suppress

import pytest

from wdrsvm.rows import threads as module
from wdrsvm.rows.threads import BLOCKS_AHEAD, MIN_ROWS, n_processors, row_threads


def test_few_rows_need_no_threads():
    with row_threads(MIN_ROWS - 1) as run:
        assert run is map


@pytest.mark.parametrize("n_items", [0, 1, 3, 50])
def test_results_come_in_the_order_of_the_items(n_items, monkeypatch):
    monkeypatch.setattr(module, "n_processors", lambda: 3)

    def late_when_early(item):
        time.sleep(0.001 * (item % 3 == 0))
        return item, threading.current_thread()

    with row_threads(MIN_ROWS) as run:
        results = list(run(late_when_early, iter(range(n_items))))
    assert [item for item, _ in results] == list(range(n_items))
    assert threading.main_thread() not in {thread for _, thread in results}


def test_few_blocks_are_ahead_of_the_one_asked_for(monkeypatch):
    monkeypatch.setattr(module, "n_processors", lambda: 2)
    begun = []
    with row_threads(MIN_ROWS) as run:
        for n_taken, _ in enumerate(run(begun.append, range(100)), start=1):
            assert len(begun) <= n_taken + 2 * BLOCKS_AHEAD
    assert sorted(begun) == list(range(100))


def test_an_error_ends_the_work():
    begun = []

    def fail_at_three(item):
        begun.append(item)
        if item == 3:
            raise KeyError(item)

    n_threads = threading.active_count()
    with pytest.raises(KeyError), row_threads(MIN_ROWS) as run:
        list(run(fail_at_three, range(1000)))
    assert max(begun) <= 3 + n_processors() * BLOCKS_AHEAD
    assert threading.active_count() == n_threads


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="no affinity here")
def test_threads_are_as_many_as_processors_may_be_used():
    allowed = os.sched_getaffinity(0)
    assert n_processors() == len(allowed)
    try:
        os.sched_setaffinity(0, {min(allowed)})
        assert n_processors() == 1
    finally:
        os.sched_setaffinity(0, allowed)


def test_where_affinity_is_unknown_all_processors_count(monkeypatch):
    with suppress(AttributeError):
        monkeypatch.delattr(os, "sched_getaffinity")
    monkeypatch.setattr(os, "cpu_count", lambda: 7)
    assert n_processors() == 7
    monkeypatch.setattr(os, "cpu_count", lambda: None)
    assert n_processors() == 1


def test_the_processors_asked_for_are_those_of_this_process(monkeypatch):
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: range(pid, 3), raising=False)
    assert n_processors() == 3
