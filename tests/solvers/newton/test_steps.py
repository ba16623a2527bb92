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


def test_a_risk_of_minus_infinity_is_no_fall(monkeypatch):
    """Scores beyond floating point may lead to one."""
    problem = many_rows("l2")
    with problem.reduction() as reduction:
        smoothed = SmoothedRisk.over(problem, Scaling.of(problem), reduction)
        newton = NewtonSteps(smoothed, np.random.default_rng(0))
        plain, lengths = newton._merit_after, []

        def merit_after(length):
            lengths.append(length)
            return -np.inf if length > 0.3 else plain(length)

        monkeypatch.setattr(newton, "_merit_after", merit_after)
        assert newton._step() > 0
    assert max(lengths) > 0.3 >= lengths[-1] > 0
    assert np.isfinite(newton.risk)
