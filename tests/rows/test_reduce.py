"""Folds: every row once, in order, however they are shared out."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from wdrsvm.problem.subgradient import Subgradient
from wdrsvm.rows import blocks
from wdrsvm.rows import reduce as reductions
from wdrsvm.rows.reduce import MemoryReduction, accumulated, added, joined

from ..agreement.instances import random_problem


def numbers(problem, rows, *kept):
    start, stop, _ = rows.indices(problem.n_rows)
    return [*range(start, stop), *(entry for part in kept for entry in part)]


@pytest.fixture(params=["map", "threads"])
def over(request, monkeypatch):
    monkeypatch.setattr(blocks, "BLOCK_ENTRIES", 30)
    monkeypatch.setattr(reductions, "PICKED_BLOCK", 4)
    problem = random_problem(5)
    if request.param == "map":
        yield MemoryReduction(problem, map)
        return
    with ThreadPoolExecutor(3) as pool:
        yield MemoryReduction(problem, pool.map)


def test_a_fold_sees_every_row_in_order(over):
    everything = list(range(over.subject.n_rows))
    assert over.fold(numbers, joined) == everything


def test_what_is_kept_comes_back_with_its_rows(over):
    def work(problem, rows):
        return 1, 10.0 * np.array(numbers(problem, rows))

    n_blocks, kept = over.fold_keeping(work, added)
    assert n_blocks == len(list(over.subject.blocks())) > 1
    found = over.fold(lambda problem, rows, part: [(rows.start, part[0])], joined, kept)
    assert [10.0 * first for first, _ in found] == [entry for _, entry in found]


def test_rows_are_picked_by_what_is_kept(over):
    kept = np.arange(over.subject.n_rows) % 3
    pick = lambda problem, kept: np.flatnonzero(kept == 1)  # noqa: E731
    found = over.fold_picked(pick, kept, lambda problem, rows: list(rows), joined)
    assert found == list(range(1, over.subject.n_rows, 3))
    none = over.fold_picked(lambda problem, kept: kept[:0], kept, numbers, joined)
    assert none is None


def test_sums_go_entry_by_entry():
    assert added((1, None, np.ones(2)), (2, None, np.ones(2)))[:2] == (3, None)
    assert added(None, 3) == added(3, None) == 3
    total = added(subgradient_pair(1.0), subgradient_pair(2.0))
    assert isinstance(total, Subgradient)
    assert total.lam == 3.0


def subgradient_pair(lam):
    return Subgradient(np.ones(1), np.ones(1), lam)


def test_folds_over_other_rows_are_run_in_the_same_way(over):
    few = over.subject.take(np.arange(5))
    others = over.on(few)
    assert others.run == over.run
    assert others.fold(numbers, joined) == list(range(5))


def test_picked_rows_come_in_blocks(over):
    kept = np.arange(9)
    sizes = over.fold_picked(
        lambda problem, kept: kept, kept, lambda problem, rows: [len(rows)], joined
    )
    assert sizes == [4, 4, 1]


def test_tuples_are_added_as_what_they_are():
    assert added((1, (2, 3)), (10, (20, 30))) == (11, (22, 33))
    assert type(added((1,), (2,))) is tuple
    with pytest.raises(ValueError, match="shorter"):
        added((1, 2), (1,))
    assert joined((1,), [2]) == [1, 2]


def test_sums_of_one_owner_are_written_to():
    total, few = np.ones(3), np.float32(0.1) * np.ones(3, np.float32)
    found = accumulated((total, 1, None), (few, 2, None))
    assert found[0] is total
    assert found[1:] == (3, None)
    np.testing.assert_array_equal(total, 1.0 + few.astype(np.float64))
    point = subgradient_pair(1.0)
    assert type(accumulated(point, subgradient_pair(2.0))) is Subgradient
    assert accumulated((1,), (2,)) == (3,)


def test_parts_in_single_precision_have_a_sum_in_double():
    large, small = np.ones(2, np.float32), np.full(2, 1e-9, np.float32)
    found = accumulated(accumulated(large, small), small)
    assert found.dtype == np.float64
    np.testing.assert_allclose(found - 1.0, 2e-9, rtol=1e-6)
    assert large.dtype == np.float32
