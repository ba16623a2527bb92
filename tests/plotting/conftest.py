"""A search and a path that displays are drawn of."""

import pytest

from wdrsvm import RobustLinearSVCCV, robust_path

from .cases import COSTS, RADII, X, y


@pytest.fixture(scope="module")
def search():
    return RobustLinearSVCCV(RADII, COSTS, cv=3).fit(X, y)


@pytest.fixture(scope="module")
def path():
    return robust_path(X, y, RADII, COSTS)
