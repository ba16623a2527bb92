"""A point of the interior-point method, where numbers end."""

from dataclasses import replace

import numpy as np
import pytest

from wdrsvm.solvers.interior_point.point import Iterate, ScaledData
from wdrsvm.solvers.scaling import Scaling

from ..cases import three_clusters


@pytest.mark.parametrize("norm", ["l1", "l2", "linf"])
def test_an_interior_point_does_not_follow_an_overflow(norm):
    problem = three_clusters(norm=norm)
    data = ScaledData.of(problem, Scaling.of(problem))
    iterate = Iterate(replace(data, linear=np.full_like(data.linear, np.nan)), norm)
    before = iterate.coef.copy(), iterate.lam
    iterate.run(1, 0.0)
    assert iterate.is_stuck
    np.testing.assert_array_equal(iterate.coef, before[0])
    assert iterate.lam == before[1]
