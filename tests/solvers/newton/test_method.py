"""Newton's method refuses what its dense matrix cannot hold."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse

from wdrsvm import RobustLinearSVC, RobustLogisticRegression
from wdrsvm.solvers import SolverSettings
from wdrsvm.solvers.newton import method
from wdrsvm.solvers.newton.settings import NEWTON
from wdrsvm.solvers.result import SolverStatus

from .products.test_loop import blobs

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


@pytest.mark.parametrize(("most", "left"), [(None, None), (1000, True), (3, False)])
def test_a_method_that_gave_up_leaves_its_steps_to_another(monkeypatch, most, left):
    problem, asked = blobs(n_classes=4), []

    def give_up(problem, settings, start):
        found = method.label_newton(problem, replace(settings, max_iter=3), start)
        return replace(found, status=SolverStatus.STALLED)

    def label_newton(problem, settings, start):
        asked.append(settings.max_iter)
        return solver(problem, settings, start)

    solver = method.label_newton
    monkeypatch.setattr(method, "product_newton", give_up)
    found = method.newton(problem, SolverSettings(tol=1e-3, max_iter=most))
    assert (found.status is SolverStatus.CONVERGED) is (left is not False)
    monkeypatch.setattr(method, "label_newton", label_newton)
    method.newton(problem, SolverSettings(tol=1e-3, max_iter=most))
    # The first call is that of the method that gives up.
    assert asked[1:] == {None: [None], True: [997], False: []}[left]
