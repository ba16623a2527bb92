"""Facts about columns that are read in blocks."""

import numpy as np
import pytest

from wdrsvm import WassersteinBall
from wdrsvm.problem import RobustProblem
from wdrsvm.problem.bounded.columns import column_facts
from wdrsvm.rows import blocks


def mixed_problem():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.uniform(size=40), np.eye(2)[rng.integers(2, size=40)]])
    weight = rng.uniform(size=40)
    groups = [([1, 2], 1.0)]
    ball = WassersteinBall(0.1, 2.0, "l1", support=(0.0, 1.0), categorical=groups)
    return RobustProblem.of(X, np.arange(40) % 2, weight / weight.sum(), ball, 2)


@pytest.mark.parametrize("entries", [4, 40, 10**6])
def test_blocks_have_the_facts_of_all_rows(entries, monkeypatch):
    problem = mixed_problem()
    monkeypatch.setattr(blocks, "BLOCK_ENTRIES", entries)
    facts = column_facts(problem)
    np.testing.assert_array_equal(facts.low, problem.X.min(axis=0))
    np.testing.assert_array_equal(facts.high, problem.X.max(axis=0))
    np.testing.assert_allclose(facts.mean, problem.weight @ problem.X)
    assert facts.weight == pytest.approx(1.0)
    assert facts.is_one_hot.tolist() == [True]


@pytest.mark.parametrize("row", [0, 17, 39])
def test_one_row_without_a_category_is_noticed_in_any_block(row, monkeypatch):
    problem = mixed_problem()
    problem.X[row, 1:] = 0.0
    monkeypatch.setattr(blocks, "BLOCK_ENTRIES", 40)
    assert column_facts(problem).is_one_hot.tolist() == [False]
