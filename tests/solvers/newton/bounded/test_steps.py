"""Steps in boxes and with categories."""

import numpy as np
import pytest

from wdrsvm.solvers.interior_point.bounded.evaluation import BoundedEvaluation
from wdrsvm.solvers.newton.bounded.smoothed_risk import BoundedSmoothedRisk
from wdrsvm.solvers.newton.bounded.steps import BoundedNewton, PairStep

from .test_rounds import mixed_table


def far_from_finite(step):
    return PairStep(*(np.multiply(part, np.nan) for part in step))


@pytest.mark.parametrize("norm", ["l1", "l2", "linf"])
def test_a_step_that_overflows_leaves_the_point_as_it_was(norm, monkeypatch):
    problem = mixed_table(60, norm)
    evaluation = BoundedEvaluation.of(problem)
    with evaluation.normalised.reduction() as reduction:
        smoothed = BoundedSmoothedRisk.over(
            evaluation.normalised, evaluation.layout(), reduction
        )
        newton = BoundedNewton(smoothed, np.random.default_rng(0))
        newton.settle(3)
        before, risk = newton._position(), newton.risk
        unfolded = newton._unfolded
        monkeypatch.setattr(newton, "_unfolded", lambda *a: far_from_finite(unfolded(*a)))
        assert newton._step() == 0.0
        monkeypatch.undo()
        assert all(map(np.array_equal, newton._position(), before))
        assert newton.risk == risk
        assert newton._step() > 0
        assert newton.risk < risk
