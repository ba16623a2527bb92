"""Names become solvers, and a wrong name becomes one clear sentence."""

import pytest

from wdrsvm.solvers import SOLVERS, solve

from .cases import rows_in_line


@pytest.mark.parametrize("name", SOLVERS)
def test_every_name_can_be_loaded(name):
    assert callable(SOLVERS[name].address.load())


@pytest.mark.parametrize("name", ["simplex", "", None, 1, ["auto"]])
def test_an_unknown_name_is_refused(name):
    with pytest.raises(ValueError, match="solver must be one of 'auto', 'interior-point'"):
        solve(rows_in_line(), name)
