"""Newton steps on the smoothed risk."""

import sys

import numpy as np

from wdrsvm.solvers.newton.settings import NEWTON
from wdrsvm.solvers.newton.smoothed_risk import SmoothedRisk
from wdrsvm.solvers.newton.steps import NewtonSteps
from wdrsvm.solvers.scaling import Scaling

from .cases import many_rows


def test_a_round_of_many_steps_takes_the_curvature_of_all_rows(monkeypatch):
    problem = many_rows("l2")
    with problem.reduction() as reduction:
        smoothed = SmoothedRisk.over(problem, Scaling.of(problem), reduction)
        newton = NewtonSteps(smoothed, np.random.default_rng(0))
        limits = []
        first = newton.max_curvature_rows

        def step():
            limits.append(newton.max_curvature_rows)
            return np.inf if len(limits) < 15 else 0.0

        monkeypatch.setattr(newton, "_step", step)
        newton.settle(NEWTON.max_iter)
    assert limits == [first] * 10 + [sys.maxsize] * 5
    assert first < sys.maxsize
    assert newton._n_soft > 0
