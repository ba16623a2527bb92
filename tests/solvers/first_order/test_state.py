"""The state of the first-order method, where numbers end."""

import numpy as np
import pytest

from wdrsvm.solvers import SolverSettings, SolverStatus, solve
from wdrsvm.solvers.first_order.state import Ascent

from ..cases import three_clusters


@pytest.mark.parametrize("size", [np.nan, np.inf, 1e200])
def test_a_first_order_run_away_is_noticed(size):
    ascent = Ascent(three_clusters(), None, seed=0)
    assert not ascent.has_run_away
    ascent.block.coef = np.full_like(ascent.block.coef, size)
    assert ascent.has_run_away


def test_a_first_order_run_away_keeps_what_was_known(monkeypatch):
    monkeypatch.setattr(Ascent, "has_run_away", property(lambda ascent: True))
    found = solve(three_clusters(), "first-order", SolverSettings(max_iter=20))
    assert found.status is SolverStatus.STALLED
    assert found.certificate.objective == pytest.approx(1.0)
    assert found.certificate.dual_bound == 0.0
