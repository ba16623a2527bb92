"""Chunks: their sizes, how they are joined, and who is asked to compute them."""

import sys

import numpy as np
import pytest

from wdrsvm.rows import dask_engine as chunks
from wdrsvm.rows.dask_engine import (
    ClusterEngine,
    LocalEngine,
    as_delayed,
    calls,
    current_engine,
    reduction,
)

pytest.importorskip("dask")


def test_a_delayed_value_is_not_looked_into():
    inside = as_delayed(1)
    (found,) = LocalEngine().gather([as_delayed([inside, 2])])
    assert found[0] is inside
    assert as_delayed(3).key != as_delayed(3).key
    assert as_delayed(3).key.startswith("wdrsvm-")


def test_calls_are_made_once_for_each_row_of_the_columns():
    tasks = calls(lambda a, b: (a, b), [as_delayed(1), as_delayed(2)], ["x", "y"])
    assert LocalEngine().gather(tasks) == [(1, "x"), (2, "y")]
    with pytest.raises(ValueError, match="shorter"):
        calls(max, [1, 2], [3])
    one, other = calls(np.random.default_rng, [0, 0])
    # Not one task, though the arguments are equal.
    assert one.key != other.key


def test_a_reduction_is_a_tree_that_skips_what_is_nothing(monkeypatch):
    monkeypatch.setattr(chunks, "FAN_IN", 3)
    sizes = []

    def combine(one, other):
        sizes.append(len(one) + len(other))
        return one + other

    values = [as_delayed([i] if i % 4 else None) for i in range(10)]
    (found,) = LocalEngine().gather([reduction(combine, values)])
    assert found == [1, 2, 3, 5, 6, 7, 9]
    assert len(sizes) == 6
    (nothing,) = LocalEngine().gather([reduction(combine, [as_delayed(None)] * 4)])
    assert nothing is None
    alone = as_delayed(7)
    assert reduction(combine, [alone]) is alone


def test_the_local_engine_keeps_labels_but_not_rows():
    made = []
    rows = calls(lambda i: made.append(i) or i, [1, 2])
    engine = LocalEngine()
    assert engine.keep_rows(rows) is rows
    assert made == []
    kept = engine.keep_labels(rows)
    assert sorted(made) == [1, 2]
    assert engine.gather(kept) == [1, 2]
    assert len(made) == 2
    values, small = engine.keep(rows, as_delayed("small"))
    assert (engine.gather(values), small) == ([1, 2], "small")


class Client:
    """What the engine asks of a client of a cluster."""

    def __init__(self, status="running", error=None):
        self.status, self.error, self.asked = status, error, []

    def persist(self, values):
        return self._told("persist", values)

    def compute(self, values):
        return self._told("compute", values)

    def gather(self, values):
        return self._told("gather", values)

    def _told(self, name, values):
        self.asked.append(name)
        if self.error is not None:
            self.status = self.error[1]
            raise self.error[0]
        return tuple(values)


def test_a_cluster_keeps_rows_and_gathers_what_is_small():
    client = Client()
    engine = ClusterEngine(client)
    assert engine.keep_rows([1, 2]) == [1, 2]
    labels = [3]
    assert engine.keep_labels(labels) is labels
    assert client.asked == ["persist"]
    assert engine.gather([4]) == [4]
    assert engine.keep([5, 6], 7) == ([5, 6], 7)
    assert client.asked == 2 * ["persist", "compute", "gather"]


def test_a_closed_client_is_named_whatever_it_made_of_the_call():
    with pytest.raises(RuntimeError, match="the dask client was closed"):
        ClusterEngine(Client("closed")).gather([1])
    cancelled = Client(error=(KeyError("lost"), "closed"))
    with pytest.raises(RuntimeError, match="the dask client was closed") as caught:
        ClusterEngine(cancelled).keep_rows([1])
    assert isinstance(caught.value.__cause__, KeyError)
    with pytest.raises(KeyError, match="lost"):
        ClusterEngine(Client(error=(KeyError("lost"), "running"))).keep_rows([1])
    with pytest.raises(KeyboardInterrupt):
        ClusterEngine(Client(error=(KeyboardInterrupt(), "closed"))).keep_rows([1])


def test_the_engine_is_the_client_that_there_is(monkeypatch):
    class Distributed:
        @staticmethod
        def get_client():
            return "client"

    monkeypatch.setitem(sys.modules, "distributed", Distributed)
    assert current_engine().client == "client"

    def none():
        raise ValueError("no client")

    monkeypatch.setattr(Distributed, "get_client", none)
    assert isinstance(current_engine(), LocalEngine)
    monkeypatch.delitem(sys.modules, "distributed")
    assert isinstance(current_engine(), LocalEngine)


def test_equal_calls_are_not_one_whatever_dask_is_told():
    dask = pytest.importorskip("dask")
    with dask.config.set(delayed_pure=True):
        one, other = calls(np.random.default_rng, [0, 0])
        assert one.key != other.key
        sums = [reduction(max, [one, other]) for _ in range(2)]
        assert sums[0].key != sums[1].key
