"""Without a budget, separable data are settled at once and exactly."""

import warnings

import numpy as np
import pytest
from sklearn.datasets import make_blobs

from wdrsvm import RobustSVC, WassersteinBall
from wdrsvm.problem import LOSSES, RobustProblem
from wdrsvm.solvers import SolverSettings, SolverStatus, solve
from wdrsvm.solvers.shortcuts.separable import separated


def wide_problem(loss="crammer-singer", label_cost=2.0, radius=0.0):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(30, 60)), np.arange(30) % 3
    ball = WassersteinBall(radius, label_cost)
    return RobustProblem.of(X, y, np.full(30, 1 / 30), ball, 3, loss=LOSSES[loss])


@pytest.mark.parametrize("loss", ["crammer-singer", "logistic"])
def test_independent_rows_are_separated(loss):
    problem = wide_problem(loss)
    found = separated(problem, SolverSettings())
    risk = problem.risk(found.coef, found.intercept).value
    assert found.status is SolverStatus.CONVERGED
    assert found.certificate.dual_bound == 0
    assert found.certificate.objective == risk <= 1e-8


def test_nothing_is_said_of_other_data():
    problem = wide_problem()
    settings = SolverSettings()
    assert separated(wide_problem(radius=0.1), settings) is None
    assert separated(wide_problem(label_cost=0.0), settings) is None
    twice = np.r_[problem.X, problem.X]
    other = np.r_[problem.y, (problem.y + 1) % 3]
    torn = RobustProblem.of(twice, other, np.full(60, 1 / 60), problem.ball, 3)
    assert separated(torn, settings) is None
    assert solve(torn).certificate.objective > 0.5


def test_a_kernel_machine_without_a_budget_takes_a_moment():
    X, y = make_blobs(250, 10, random_state=0, centers=3)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = RobustSVC(radius=0).fit(X, y)
    assert model.objective_ == model.dual_bound_ == 0
    assert model.n_iter_ <= 10
    assert model.score(X, y) == 1
