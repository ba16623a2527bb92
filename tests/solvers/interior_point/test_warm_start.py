"""Interior points that begin near a known solution."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.datasets import make_classification

from wdrsvm import RobustLinearSVC
from wdrsvm.problem import RobustProblem, WassersteinBall
from wdrsvm.solvers import SolverSettings, Start, solve
from wdrsvm.solvers.chain import chain_of
from wdrsvm.solvers.interior_point.point import Iterate, ScaledData
from wdrsvm.solvers.interior_point.warm_start import PathMemory, placed, taken_over
from wdrsvm.solvers.scaling import Scaling

NORMS = ["l1", "l2", "linf", "triangle"]


def problem(norm, radius=0.02, label_cost=0.5, seed=0, **given):
    X, y = make_classification(
        80, 5, n_informative=4, n_redundant=0, n_classes=4, n_clusters_per_class=1,
        random_state=seed,
    )  # fmt: skip
    lipschitz = "triangle" if norm == "triangle" else "exact"
    ball = WassersteinBall(radius, label_cost, "l2" if norm == "triangle" else norm)
    weight = np.full(80, 1 / 80)
    return RobustProblem.of(X, y, weight, ball, n_classes=4, lipschitz=lipschitz, **given)


def data_of(problem):
    return ScaledData.of(problem, Scaling.of(problem))


def assert_interior(iterate):
    """Slacks are those of the variables, and everything is positive."""
    exists, data = iterate.rows.existing, iterate.data
    slack, mult, s, h = iterate.rows.arrays()
    z, n = iterate.coef @ data.columns, np.arange(len(data.y))
    margin = np.ones_like(z)
    margin[data.y, n] = 0.0
    assert slack[0] == pytest.approx(s - z + z[data.y, n] - margin)
    if len(slack) == 3:
        flips = s - h + z - 1 + iterate.lam * data.kappa.T
        assert slack[2][exists[2]] == pytest.approx(flips[exists[2]])
        assert slack[1][exists[1]] == pytest.approx((h - z)[exists[1]])
    assert (slack > 0).all()
    assert (mult[exists] > 0).all()


@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("label_cost", [0.5, np.inf])
def test_a_placed_classifier_is_inside(norm, label_cost):
    here = problem(norm, label_cost=label_cost)
    found = solve(here, "interior-point")
    start = Start(found.coef, found.intercept, found.certificate.lam)
    iterate = placed(data_of(here), here, start)
    assert_interior(iterate)
    alpha, beta, phi = iterate.rows.multipliers().sum(axis=2)
    assert alpha + phi == pytest.approx(iterate.data.weight)
    assert beta == pytest.approx(phi)


def test_a_constant_classifier_is_no_start():
    here = problem("l2")
    start = Start(np.zeros((4, 5)), np.zeros(4), 0.0)
    assert placed(data_of(here), here, start) is None


@pytest.mark.parametrize("norm", NORMS)
def test_a_start_leads_to_the_same_optimum_sooner(norm):
    here, there = problem(norm, 0.02), problem(norm, 0.025)
    found = solve(here, "interior-point")
    start = Start(found.coef, found.intercept, found.certificate.lam)
    cold = solve(there, "interior-point")
    warm = solve(there, "interior-point", start=start)
    assert warm.certificate.holds(1e-6)
    assert warm.certificate.objective == pytest.approx(cold.certificate.objective, abs=2e-6)
    assert warm.n_iter <= cold.n_iter + 2


@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize(("radius", "label_cost"), [(0.01, 0.5), (0.02, 0.55), (0.04, 0.4)])
def test_chains_reach_the_optimum_of_the_neighbour(norm, radius, label_cost):
    here, there = problem(norm), problem(norm, radius, label_cost)
    cold = solve(there, "interior-point")
    with chain_of(here, "interior-point", SolverSettings()) as chain:
        first = chain.solve(here, [])
        second = chain.solve(there, [first]).result
    assert second.certificate.holds(1e-6)
    assert second.certificate.objective == pytest.approx(
        cold.certificate.objective, abs=2e-6
    )


@pytest.mark.parametrize("norm", NORMS)
def test_a_neighbours_point_is_inside_too(norm):
    here, there = problem(norm), problem(norm, 0.01, 0.3)
    memory = PathMemory()
    iterate = Iterate(data_of(here), here.norm)
    for _ in range(15):
        iterate.run(1, 0.0)
        memory.look(iterate, iterate.gap / max(iterate.objective, 1e-2))
    point = memory.nearest(0.1)
    assert_interior(taken_over(data_of(there), there.norm, point))
    trusted = problem(norm, label_cost=np.inf)
    assert taken_over(data_of(trusted), trusted.norm, point) is None


@pytest.mark.parametrize("norm", NORMS)
def test_iterations_are_the_same_in_one_call_or_in_many(norm):
    here = problem(norm)
    one, other = (Iterate(data_of(here), here.norm) for _ in range(2))
    lines = one.run(9, 0.0)
    for line in lines:
        assert other.run(1, 0.0)[0, :2].tolist() == line[:2].tolist()
    np.testing.assert_array_equal(one.coef, other.coef)
    assert (one.objective, one.gap) == tuple(lines[-1, :2])


def test_untouchable_features():
    here = problem("l2")
    cost = np.array([1.0, np.inf, 2.0, 1.0, np.inf])
    here = replace(here, ball=replace(here.ball, feature_cost=cost))
    judged = solve(here, "clarabel").certificate
    assert solve(here, "interior-point").certificate.objective == pytest.approx(
        judged.objective, abs=1e-5
    )


def test_warm_starts_of_an_estimator():
    here = problem("l2")
    model = RobustLinearSVC(0.02, 0.5, warm_start=True).fit(here.X, here.y)
    model.set_params(radius=0.022).fit(here.X, here.y)
    cold = RobustLinearSVC(0.022, 0.5).fit(here.X, here.y)
    assert model.n_iter_ < cold.n_iter_
    assert model.objective_ == pytest.approx(cold.objective_, abs=2e-6)
