"""Newton's method refuses what its dense matrix cannot hold."""

import numpy as np
import pytest
from scipy import sparse

from wdrsvm import RobustLinearSVC, RobustLogisticRegression
from wdrsvm.solvers.newton.settings import NEWTON

ROWS = sparse.csr_array(np.eye(4000, 4000))
LABELS = np.arange(4000) % 8


@pytest.mark.parametrize("model", [RobustLinearSVC, RobustLogisticRegression])
@pytest.mark.parametrize("norm", ["l1", "l2"])
def test_too_many_unknowns_are_named_in_a_sentence(model, norm):
    told = rf"32008 unknowns.* 4000 features and 8 classes.* {NEWTON.max_unknowns} are"
    with pytest.raises(ValueError, match=told):
        model(0.01, solver="newton", norm=norm).fit(ROWS, LABELS)


def test_few_rows_of_many_features_are_few_unknowns():
    few = sparse.csr_array(np.eye(8, 4000))
    found = RobustLogisticRegression(0.01, solver="newton").fit(few, np.arange(8))
    assert found.n_iter_ > 0
