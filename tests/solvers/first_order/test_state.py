"""The state of the first-order method, where numbers end."""

import numpy as np
import pytest

from wdrsvm.problem import LOSSES
from wdrsvm.solvers import SolverSettings, SolverStatus, solve
from wdrsvm.solvers.first_order.kernels import Price, class_metric, flow_length
from wdrsvm.solvers.first_order.norms.l2 import EuclideanBlock
from wdrsvm.solvers.first_order.state import Ascent

from ..cases import three_clusters

every_loss = pytest.mark.parametrize("loss", LOSSES.values(), ids=LOSSES)


@pytest.mark.parametrize("size", [np.nan, np.inf, 1e200])
def test_a_first_order_run_away_is_noticed(size):
    ascent = Ascent(three_clusters(), None, seed=0)
    assert not ascent.has_run_away
    ascent.block.coef = np.full_like(ascent.block.coef, size)
    assert ascent.has_run_away


def test_a_first_order_run_away_keeps_what_was_known(monkeypatch):
    monkeypatch.setattr(Ascent, "has_run_away", property(lambda ascent: True))
    found = solve(three_clusters(), "first-order", SolverSettings(max_iter=20))
    assert found.status is SolverStatus.STALLED
    assert found.certificate.objective == pytest.approx(1.0)
    assert found.certificate.dual_bound == 0.0


@pytest.mark.tiny
@pytest.mark.parametrize("damping", [0.0, -1.0, np.nan])
def test_a_metric_that_cannot_be_inverted_is_no_number(damping):
    assert np.isnan(class_metric(1 - np.eye(3), Price(1.0, 1.0), damping)).all()


class Failing:
    """A damping that makes the metric definite so many times."""

    def __init__(self, n_good):
        self.n_good, self.sound = n_good, EuclideanBlock._new_damping

    def __call__(self, block):
        self.n_good -= 1
        return self.sound(block) if self.n_good >= 0 else -1.0


@pytest.mark.tiny
@pytest.mark.parametrize("label_cost", [2.0, np.inf])
@every_loss
def test_a_fit_without_a_metric_ends_where_it_began(monkeypatch, loss, label_cost):
    monkeypatch.setattr(EuclideanBlock, "_new_damping", lambda block: Failing(0)(block))
    problem = three_clusters(label_cost=label_cost, loss=loss)
    found = solve(problem, "first-order", SolverSettings(max_iter=20))
    assert found.status is SolverStatus.STALLED
    assert found.certificate.objective == pytest.approx(loss.of_equal_scores(3))
    assert found.certificate.dual_bound == 0.0


@pytest.mark.tiny
@pytest.mark.parametrize("label_cost", [2.0, np.inf])
@every_loss
def test_a_fit_that_loses_its_metric_keeps_the_best_it_had(monkeypatch, loss, label_cost):
    problem = three_clusters(label_cost=label_cost, loss=loss)
    settings = SolverSettings(max_iter=60, tol=1e-14)
    failing = Failing(9)
    monkeypatch.setattr(EuclideanBlock, "_new_damping", lambda block: failing(block))
    found = solve(problem, "first-order", settings)
    assert found.status is SolverStatus.STALLED
    assert np.isfinite(found.coef).all()
    assert found.certificate.objective < 0.9 * loss.of_equal_scores(3)
    assert 0.0 < found.certificate.dual_bound <= found.certificate.objective
    assert problem.risk(found.coef, found.intercept).value == pytest.approx(
        found.certificate.objective
    )


@pytest.mark.tiny
@pytest.mark.parametrize("entry", [np.nan, np.inf])
def test_a_flow_without_numbers_is_as_long_as_can_be(entry):
    """So that the bound is zero, and not wrong."""
    pairs = np.full((3, 3), entry)
    assert flow_length(np.eye(3), pairs) == np.inf
