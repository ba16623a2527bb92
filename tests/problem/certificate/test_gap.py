"""Certificates: what an objective and a bound prove together."""

import numpy as np
import pytest

from wdrsvm.problem import Certificate


def test_a_bound_far_above_the_objective_proves_nothing():
    assert Certificate(0.5, 0.5 + 1e-9, 0.0).holds(1e-6)
    assert not Certificate(0.5, 0.6, 0.0).holds(1e-6)


@pytest.mark.parametrize(
    ("objective", "bound", "holds"),
    [
        (1.0, 0.99, True),
        (1.0, 0.9899, False),
        (1e-4, 0.0, True),
        (1.1e-4, 0.0, False),
        (np.inf, 0.0, False),
        (1.0, -np.inf, False),
    ],
)
def test_certificate_holds_when_the_relative_gap_is_small(objective, bound, holds):
    assert Certificate(objective, bound, 0.0).holds(0.01 + 1e-9) is holds


def test_relative_gaps_are_measured_against_a_hundredth_at_least():
    assert Certificate(1.0, 0.75, 0.0).holds(0.25)
    assert not Certificate(1.0, 0.74, 0.0).holds(0.25)
    assert Certificate(1e-3, 0.91e-3, 0.0).holds(1e-2)
    assert not Certificate(1e-3, 0.89e-3, 0.0).holds(1e-2)
    assert not Certificate(np.inf, -np.inf, 0.0).holds(0.5)
    assert not Certificate(np.inf, np.inf, 0.0).holds(0.5)
