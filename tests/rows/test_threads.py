"""Threads that share blocks: order, bounded memory, processors that may be used."""

import importlib
import os
import threading
import time

import pytest
from joblib import Parallel, cpu_count, delayed, parallel_config
from threadpoolctl import threadpool_limits

from wdrsvm.rows import threads as module
from wdrsvm.rows.threads import BLOCKS_AHEAD, MIN_ROWS, at_most, n_processors, row_threads


def test_few_rows_need_no_threads():
    with row_threads(MIN_ROWS - 1) as run:
        assert run is map
    assert module.are_few(MIN_ROWS - 1) is True
    assert module.are_few(MIN_ROWS) is False


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


def without_limits(monkeypatch):
    """As if the user had not limited threads before the tests."""
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    monkeypatch.setattr(module, "_told_by_openmp", lambda otherwise: otherwise)


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="no affinity here")
def test_threads_are_as_many_as_processors_may_be_used(monkeypatch):
    without_limits(monkeypatch)
    allowed = os.sched_getaffinity(0)
    assert n_processors() == len(allowed)
    try:
        os.sched_setaffinity(0, {min(allowed)})
        assert n_processors() == 1
    finally:
        os.sched_setaffinity(0, allowed)


def test_the_processors_asked_for_are_those_of_this_process(monkeypatch):
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: range(pid, 3), raising=False)
    monkeypatch.setattr(os, "cpu_count", lambda: 8)
    without_limits(monkeypatch)
    assert n_processors() == 3


def test_where_a_container_has_fewer_processors_these_count(monkeypatch):
    monkeypatch.setattr("joblib.cpu_count", lambda: 1)
    assert n_processors() == 1


@pytest.mark.parametrize(
    ("told", "count"), [("3", 3), ("2,1", 2), (" 1 ", 1), ("0", 1), ("many", 8), ("", 8)]
)
def test_the_environment_limits_threads(told, count, monkeypatch):
    monkeypatch.setattr("joblib.cpu_count", lambda: 8)
    monkeypatch.setattr(module, "_told_by_openmp", lambda otherwise: otherwise)
    monkeypatch.setenv("OMP_NUM_THREADS", told)
    assert n_processors() == count


def test_limits_of_threadpoolctl_hold(monkeypatch):
    monkeypatch.setattr("joblib.cpu_count", lambda: 8)
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    # A library with threads of OpenMP, which an earlier count may have missed.
    importlib.import_module("sklearn.utils._openmp_helpers")
    module._libraries.cache_clear()
    with threadpool_limits(limits=1):
        assert n_processors() == 1
    with threadpool_limits(limits=3):
        assert n_processors() == 3


def widths(monkeypatch, n_workers, **parallel):
    """How many threads run blocks at once, in fits side by side."""
    monkeypatch.setattr(module, "n_processors", lambda: 4)
    busy, most, lock = [0], [0], threading.Lock()

    def block(item):
        with lock:
            busy[0] += 1
            most[0] = max(most[0], busy[0])
        time.sleep(0.005)
        with lock:
            busy[0] -= 1

    def fit(_):
        with row_threads(MIN_ROWS) as run:
            list(run(block, range(40)))

    Parallel(n_jobs=n_workers, **parallel)(delayed(fit)(k) for k in range(n_workers))
    return most[0]


def test_alone_a_fit_has_all_threads(monkeypatch):
    assert widths(monkeypatch, 1) == 4


def test_fits_in_threads_of_joblib_have_no_more_threads_than_processors(monkeypatch):
    assert widths(monkeypatch, 3, backend="threading") <= 4


def test_fits_in_threads_of_others_share_what_there_is(monkeypatch):
    monkeypatch.setattr(module, "n_processors", lambda: 4)
    begun, granted = threading.Barrier(3), []

    def fit():
        with module._granted(module._wanted()) as n_threads:
            granted.append(n_threads)
            begun.wait(10)

    threads = [threading.Thread(target=fit) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(granted) == [1, 1, 4]
    assert module._taken == {}


def test_a_reduction_within_a_reduction_has_threads_too(monkeypatch):
    monkeypatch.setattr(module, "n_processors", lambda: 4)
    with module._granted(4) as outer, module._granted(4) as inner:
        assert (outer, inner) == (4, 4)
    assert module._taken == {}


@pytest.mark.parametrize(("share", "expected"), [(0, 1), (1, 1), (2, 2), (99, 4)])
def test_a_share_limits_threads(share, expected, monkeypatch):
    monkeypatch.setattr(module, "n_processors", lambda: 4)
    with at_most(share):
        assert module._wanted() == expected
    assert module._wanted() == 4


def of_a_worker(_):
    return n_processors()


@pytest.mark.parametrize("limit", [None, 1])
def test_workers_of_joblib_share_the_processors(limit):
    options = {} if limit is None else {"inner_max_num_threads": limit}
    with parallel_config("loky", **options):
        counts = Parallel(n_jobs=2)(delayed(of_a_worker)(k) for k in range(2))
    assert max(counts) <= max(1, cpu_count() // 2)


def test_the_main_thread_is_not_one_of_many():
    assert module._is_one_of_many() is False
    found = Parallel(2, backend="threading")(
        delayed(module._is_one_of_many)() for _ in range(2)
    )
    assert found == [True, True]


def test_the_environment_tells_by_one_name(monkeypatch):
    for told, expected in (("3", 3), ("2,1", 2), (" 1 ", 1), ("many", 8), ("", 8)):
        monkeypatch.setenv("OMP_NUM_THREADS", told)
        assert module._told_by_environment(8) == expected
    monkeypatch.delenv("OMP_NUM_THREADS")
    assert module._told_by_environment(8) == 8
