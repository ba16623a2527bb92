"""Differences and ranks by hand."""

import numpy as np
import pytest

from wdrsvm.experiments.statistics import (
    average_ranks,
    difference_of_means,
    paired_difference,
    signed_rank_p_value,
)


def test_the_error_of_two_means_adds_their_variances():
    found = difference_of_means(10.0, 3.0, 9, 8.0, 4.0, 16)
    assert found == (2.0, pytest.approx(np.sqrt(2.0)))
    assert found.in_errors == pytest.approx(np.sqrt(2.0))


def test_no_error_and_a_difference_is_infinitely_far():
    assert difference_of_means(1.0, 0.0, 5, 0.0, 0.0, 5).in_errors == np.inf
    assert difference_of_means(1.0, 0.0, 5, 1.0, 0.0, 5).in_errors == 0.0


def test_pairs_cancel_what_they_share():
    shared = np.random.default_rng(0).normal(size=50) * 100
    found = paired_difference(shared + 1.0, shared)
    assert found.mean == pytest.approx(1.0)
    assert found.error == pytest.approx(0.0, abs=1e-9)


def test_repetitions_of_one_table_are_one_observation():
    gaps = np.repeat([1.0, 3.0], 100)
    assert paired_difference(gaps, 0 * gaps, np.repeat(["a", "b"], 100)) == (2.0, 1.0)


def test_ranks_share_ties():
    pandas = pytest.importorskip("pandas")
    table = pandas.DataFrame({"a": [3.0, 1.0], "b": [2.0, 1.0], "c": [1.0, 0.0]})
    assert average_ranks(table).to_dict() == {"a": 1.25, "b": 1.75, "c": 3.0}


def test_equal_models_have_p_value_one():
    assert signed_rank_p_value([0.0, 0.0]) == 1.0
    assert signed_rank_p_value(np.arange(1.0, 12.0)) < 0.01
