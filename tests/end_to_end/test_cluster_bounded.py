"""Bounds and categories on a cluster: the same fits, workers lost, bytes moved."""

import os
import signal
from functools import cache, partial

import numpy as np
import pytest
from scipy import sparse

from wdrsvm import RobustLinearSVC, RobustLogisticRegression, WassersteinBall
from wdrsvm.inputs.dask_collections import LazyRows, checked_block, observed_rows
from wdrsvm.problem import RobustProblem
from wdrsvm.problem.bounded.certificate import bounded_dual_bound
from wdrsvm.solvers.interior_point.bounded.evaluation import BoundedEvaluation
from wdrsvm.solvers.newton.bounded.smoothed_risk import BoundedSmoothedRisk
from wdrsvm.solvers.newton.bounded.steps import BoundedNewton

from .test_cluster import ENVELOPE, at_pass, bytes_sent, client, cluster

distributed = pytest.importorskip("distributed")
dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")

__all__ = ["client", "cluster"]

pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning")

N_ROWS, CHUNKS, TOL = 1500, (300, 0, 700, 500), 1e-5
GROUPS = [([2, 3, 4], 0.5)]
SUPPORT = (-4.0, np.array([np.inf, 5.0, 1.0, 1.0, 1.0]))


@cache
def rows(n_rows=N_ROWS, seed=0):
    """Two numbers, and a category that tells something of the class."""
    rng = np.random.default_rng(seed)
    y = rng.integers(3, size=n_rows)
    numbers = np.clip(rng.normal(size=(n_rows, 2)) + 0.8 * y[:, None], -4.0, 5.0)
    category = np.where(rng.random(n_rows) < 0.5, y, rng.integers(3, size=n_rows))
    X = np.hstack([numbers, np.eye(3)[category]])
    return X, y, rng.exponential(size=n_rows)


def lazy(values):
    return da.from_array(values, chunks=(CHUNKS, *values.shape[1:]))


CASES = [
    (RobustLinearSVC(norm="l1"), np.asarray),
    (RobustLinearSVC(norm="l2"), sparse.csr_matrix),
    (RobustLinearSVC(norm="linf", label_cost=np.inf), np.asarray),
    (RobustLogisticRegression(norm="l1", label_cost=1.0), np.asarray),
]


def bounded(model, **more):
    limits = {"support": SUPPORT, "categorical": GROUPS}
    return type(model)(**(model.get_params() | limits | {"radius": 0.1, "tol": TOL} | more))


@pytest.mark.parametrize(("model", "kind"), CASES)
def test_a_fit_is_that_in_memory(client, model, kind):
    X, y, weight = rows()
    expected = bounded(model, solver="newton").fit(X, y, sample_weight=weight)
    there = lazy(X).map_blocks(kind)
    found = bounded(model).fit(there, lazy(y), sample_weight=lazy(weight))
    gap = TOL * expected.objective_
    assert max(found.duality_gap_, expected.duality_gap_) <= gap
    assert abs(found.objective_ - expected.objective_) <= gap
    here = found.worst_case_risk(X, y, sample_weight=weight)
    assert here <= found.objective_ + 1e-10
    again = found.worst_case_risk(there, lazy(y), sample_weight=lazy(weight))
    assert again == pytest.approx(here, rel=1e-12)
    errors = [found.worst_case_error(*data) for data in ((X, y), (there, lazy(y)))]
    assert errors[1] == pytest.approx(errors[0], rel=1e-9)


def test_a_killed_worker_costs_time_not_the_fit(client, monkeypatch):
    X, y, _ = rows()
    expected = bounded(RobustLinearSVC(norm="l1")).fit(lazy(X), lazy(y))
    process = min(client.run(os.getpid).values())
    passes = at_pass(monkeypatch, 20, partial(os.kill, process, signal.SIGKILL))
    found = bounded(RobustLinearSVC(norm="l1")).fit(lazy(X), lazy(y))
    assert len(passes) > 40
    client.wait_for_workers(2)
    assert process not in client.run(os.getpid).values()
    assert found.n_iter_ == expected.n_iter_
    np.testing.assert_allclose(found.coef_, expected.coef_, rtol=1e-7, atol=1e-9)
    assert found.objective_ == pytest.approx(expected.objective_, rel=1e-10)
    assert found.dual_bound_ == pytest.approx(expected.dual_bound_, rel=1e-10)


def some_rows(n_rows, seed):
    return rows(n_rows, seed)[0]


def passes_bytes(client, n_rows, n_chunks=6):
    """Bytes moved by a value with its gradient, a curvature, a risk and a bound."""
    size = n_rows // n_chunks
    parts = [dask.delayed(some_rows)(size, seed) for seed in range(n_chunks)]
    X = da.concatenate([da.from_delayed(part, (size, 5), float) for part in parts])
    told = LazyRows.of(checked_block, X, X[:, 0] > X[:, 1], None, None)
    chunked, classes = observed_rows(told, None)
    ball = WassersteinBall(0.1, 2.0, "l1", support=SUPPORT, categorical=GROUPS)
    problem = RobustProblem(chunked, ball, len(classes))
    evaluation, rng = BoundedEvaluation.of(problem), np.random.default_rng(0)
    normalised, sent = evaluation.normalised, []
    with normalised.reduction() as reduction:
        passes = BoundedSmoothedRisk.over(normalised, evaluation.layout(), reduction)
        newton = BoundedNewton(passes, rng)
        for work in (newton._look, newton._step, lambda: certified(evaluation, newton)):
            before = bytes_sent(client)
            work()
            sent.append(bytes_sent(client) - before)
    assert newton.now.n_soft > 0.9 * n_rows
    return np.array(sent)


def certified(evaluation, newton):
    """The sums of one bound that is not tilted, and one risk at a given lam."""
    plan = evaluation.plan(
        newton.layout, newton.smoothed.masses(newton.at), newton.moves.mults()
    )
    moves = evaluation.problem.moves
    moves.plan(*evaluation.classifier(newton), 1.0)
    return bounded_dual_bound(evaluation.normalised, plan)


def test_bytes_moved_do_not_grow_with_the_rows(client):
    few, many = passes_bytes(client, 600), passes_bytes(client, 120_000)
    n_chunks, n_tilts = 6, 20
    # A look is one reduction, a step a few; a bound has some for each tilt.
    assert many[0] <= n_chunks * 2 * ENVELOPE
    assert (many[:2] <= few[:2] + n_chunks * 4 * ENVELOPE).all()
    assert many[2] <= n_chunks * n_tilts * 4 * ENVELOPE
    # Softness alone, a number for each row, would be more.
    assert many[:2].max() < 120_000


def test_a_box_that_does_not_contain_the_rows_is_refused(client):
    X, y, _ = rows()
    with pytest.raises(ValueError, match="support must contain the data"):
        bounded(RobustLinearSVC(norm="l1"), support=(-1.0, 9.0)).fit(lazy(X), lazy(y))
    with pytest.raises(ValueError, match="one-hot"):
        bounded(RobustLinearSVC(norm="l1"), categorical=[([1, 2], 1.0)]).fit(
            lazy(X), lazy(y)
        )
    with pytest.raises(ValueError, match="dask collection"):
        bounded(RobustLinearSVC(norm="l1"), support="auto").fit(lazy(X), lazy(y))
