"""The state of the first-order method: which rows it visits, and where numbers end."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse

from wdrsvm.problem import LOSSES, RobustProblem, WassersteinBall
from wdrsvm.solvers import SolverSettings, SolverStatus, solve
from wdrsvm.solvers.first_order.kernels import Price, class_metric, flow_length
from wdrsvm.solvers.first_order.norms.l2 import EuclideanBlock
from wdrsvm.solvers.first_order.settings import FIRST_ORDER
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


def rows_in_two_forms(label_cost, loss=LOSSES["crammer-singer"]):
    """The same rows, dense and sparse, without an intercept that centres one of them."""
    rng = np.random.default_rng(3)
    y = np.arange(110) % 5
    X = rng.normal(size=(110, 7)) + rng.normal(size=(5, 7))[y]
    ball = WassersteinBall(0.05, label_cost, "l2")
    weight = np.full(110, 1 / 110)
    return [
        RobustProblem.of(rows, y, weight, ball, 5, fit_intercept=False, loss=loss)
        for rows in (X, sparse.csr_array(X))
    ]


def test_rows_in_blocks_move_as_one_by_one():
    dense, scattered = (Ascent(form, None, 0) for form in rows_in_two_forms(np.inf))
    for ascent in (dense, scattered):
        # So fine a tolerance that rounding decides about no move.
        ascent.block.sweep(np.arange(110), 1e-12, 0.1)
    for in_block, alone in zip(dense.duals, scattered.duals, strict=True):
        assert_allclose(in_block, alone, atol=1e-9)


def test_rows_at_rest_are_visited_now_and_then(monkeypatch):
    """Sparse rows: dense ones are settled among their places."""
    ascent = Ascent(rows_in_two_forms(np.inf)[1], None, 0)
    visited = []
    monkeypatch.setattr(ascent.block, "sweep", lambda order, *_: visited.append(order))
    ascent.duals.alpha[7, ascent.rows.y[7]] /= 2
    for _ in range(FIRST_ORDER.sweeps_per_turn + 1):
        ascent.sweep()
    assert len(visited[0]) == len(visited[-1]) == 110
    assert all(list(order) == [7] for order in visited[1:-1])


def test_all_rows_of_a_smooth_loss_are_in_play(monkeypatch):
    ascent = Ascent(rows_in_two_forms(np.inf, LOSSES["logistic"])[0], None, 0)
    visited = []
    monkeypatch.setattr(ascent.block, "sweep", lambda order, *_: visited.append(order))
    ascent.sweep()
    ascent.sweep()
    assert [len(order) for order in visited] == [110, 110]


@pytest.mark.tiny
@pytest.mark.parametrize(
    ("divergence", "shortest"), [([3.0, -3.0], 3.0), ([2.0, -1.0, -1.0], 2.0)]
)
def test_the_shortest_flow_of_classes_in_a_line_is_found(divergence, shortest):
    """One class sends straight to each of the others; weights begin far from that."""
    n_classes = len(divergence)
    factor = np.zeros((n_classes, n_classes))
    factor[0] = divergence
    pairs = 1.0 + np.add.outer(np.arange(n_classes), np.arange(n_classes))
    np.fill_diagonal(pairs, 0.0)
    assert flow_length(factor, pairs / pairs.sum()) == pytest.approx(shortest, rel=1e-6)
