"""Distances to the nearest rival are those of explicit movements."""

import numpy as np
import pytest

from wdrsvm.problem.norms import NORMS
from wdrsvm.problem.rivals import leads_in, nearest_rival, rival_rates


@pytest.mark.parametrize("norm", ["l1", "l2", "linf"])
def test_the_distance_is_the_least_over_all_rivals(norm):
    rng = np.random.default_rng(0)
    coef, scores = rng.normal(size=(4, 3)), rng.normal(size=(4, 9))
    y, cost = rng.integers(4, size=9), np.array([1.0, 2.0, np.inf])
    rates = rival_rates(coef, norm, cost)
    found = nearest_rival(leads_in(scores, y), rates, y)
    for n in range(9):
        known = [
            (scores[y[n], n] - scores[j, n])
            / NORMS[norm].dual_of_rows((coef[y[n]] - coef[j])[:2] / cost[:2])
            for j in range(4)
            if j != y[n]
        ]
        assert found[n] == pytest.approx(min(known))


def test_a_rival_that_no_movement_brings_closer_has_caught_up_or_never_does():
    rates = rival_rates(np.ones((2, 3)), "l2", np.ones(3))
    leads = leads_in(np.array([[1.0, 0.0], [0.0, 1.0]]), np.array([0, 0]))
    found = nearest_rival(leads, rates, np.array([0, 0]))
    np.testing.assert_array_equal(found, [np.inf, 0.0])


def test_leads_are_written_where_they_are_wanted():
    scores = np.array([[1.0, 0.0], [0.0, 3.0]])
    assert leads_in(scores, np.array([0, 0]), out=scores) is scores
    np.testing.assert_array_equal(scores, [[np.inf, np.inf], [1.0, -3.0]])
