"""What the first-order method keeps, where numbers end."""

import numpy as np
import pytest

from wdrsvm.solvers.first_order.state import Ascent

from ..cases import three_clusters


@pytest.mark.parametrize("size", [np.nan, np.inf, 1e200])
def test_a_first_order_run_away_is_noticed(size):
    ascent = Ascent(three_clusters(), None, seed=0)
    assert not ascent.has_run_away
    ascent.block.coef = np.full_like(ascent.block.coef, size)
    assert ascent.has_run_away
