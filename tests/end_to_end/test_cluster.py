"""Fits on a cluster of two processes: the same results, workers lost, bytes moved."""

import os
import signal
import threading
from functools import cache, partial

import numpy as np
import pytest
from scipy import sparse
from sklearn.model_selection import GridSearchCV

from wdrsvm import RobustLinearSVC, RobustLogisticRegression
from wdrsvm.inputs.dask_collections import LazyRows, checked_block, observed_rows
from wdrsvm.problem import LOSSES, RobustProblem, WassersteinBall
from wdrsvm.rows.dask_engine import ClusterEngine
from wdrsvm.solvers.newton.products.design import At, Design, in_columns
from wdrsvm.solvers.newton.products.flips.cluster import ClusterFlipDesign, Lessons
from wdrsvm.solvers.newton.products.flips.label_shares import LabelShares
from wdrsvm.solvers.newton.smoothed_risk import SmoothedRisk
from wdrsvm.solvers.scaling import Scaling

distributed = pytest.importorskip("distributed")
dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")
joblib = pytest.importorskip("joblib")

# Threads of the cluster end when they like; it is not ours to wait for them.
pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning")

N_ROWS, N_FEATURES, N_CLASSES = 2000, 4, 3
CHUNKS = (300, 0, 700, 400, 600)
TOL = 1e-6
# Bytes that a message has around its numbers.
ENVELOPE = 4000


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    settings = {
        "distributed.scheduler.work-stealing": False,
        "distributed.admin.log-format": "%(message)s",
    }
    with (
        dask.config.set(settings),
        distributed.LocalCluster(
            n_workers=2,
            threads_per_worker=1,
            processes=True,
            dashboard_address=":0",
            local_directory=tmp_path_factory.mktemp("workers"),
            silence_logs=50,
        ) as started,
    ):
        yield started


@pytest.fixture
def client(cluster):
    with distributed.Client(cluster) as connected:
        connected.wait_for_workers(2)
        yield connected


@cache
def rows():
    rng = np.random.default_rng(0)
    y = rng.integers(N_CLASSES, size=N_ROWS)
    X = rng.normal(size=(N_ROWS, N_FEATURES))
    X[np.arange(N_ROWS), y] += 1.5
    return X, y, rng.exponential(size=N_ROWS)


def lazy(values):
    return da.from_array(values, chunks=(CHUNKS, *values.shape[1:]))


def assert_same(found, expected, weight):
    """The objective within the gap, recomputed in memory, and the coefficients."""
    X, y, _ = rows()
    gap = TOL * expected.objective_
    assert found.duality_gap_ <= gap
    assert abs(found.objective_ - expected.objective_) <= gap
    risk = found.worst_case_risk(X, y, sample_weight=weight)
    assert risk == pytest.approx(found.objective_, abs=1e-10)
    np.testing.assert_allclose(found.coef_, expected.coef_, atol=5e-3)
    np.testing.assert_allclose(found.intercept_, expected.intercept_, atol=5e-3)


CASES = [
    (RobustLinearSVC(norm="l1"), np.asarray, False),
    (RobustLinearSVC(norm="l2"), sparse.csr_matrix, True),
    (RobustLinearSVC(norm="linf", fit_intercept=False), np.asarray, True),
    (RobustLogisticRegression(), sparse.csr_matrix, False),
]


@pytest.mark.parametrize(("model", "kind", "weighted"), CASES)
def test_a_fit_is_that_in_memory(client, model, kind, weighted):
    X, y, weight = rows()
    model.set_params(radius=0.02, tol=TOL)
    there = lazy(X).map_blocks(kind)
    given = lazy(weight) if weighted else None
    found = type(model)(**model.get_params()).fit(there, lazy(y), sample_weight=given)
    expected = model.set_params(solver="newton")
    expected.fit(X, y, sample_weight=weight if weighted else None)
    assert_same(found, expected, weight if weighted else None)
    predicted = found.predict(there)
    assert isinstance(predicted, da.Array)
    np.testing.assert_array_equal(predicted.compute(), found.predict(X))


@cache
def undisturbed():
    X, y, _ = rows()
    return RobustLinearSVC(radius=0.02).fit(lazy(X), lazy(y))


def at_pass(monkeypatch, number, action):
    """Do something when the passes of a fit have come to a number."""
    gather, count = ClusterEngine.gather, []

    def counted(engine, values):
        count.append(1)
        if len(count) == number:
            action()
        return gather(engine, values)

    monkeypatch.setattr(ClusterEngine, "gather", counted)
    return count


def test_a_killed_worker_costs_time_not_the_fit(client, monkeypatch):
    """Its chunks are made again where there is a worker; sums keep their order, so that
    only the last bits, in which memory is aligned, may change."""
    expected = undisturbed()
    process = min(client.run(os.getpid).values())
    passes = at_pass(monkeypatch, 8, partial(os.kill, process, signal.SIGKILL))
    X, y, _ = rows()
    found = RobustLinearSVC(radius=0.02).fit(lazy(X), lazy(y))
    assert len(passes) > 12
    client.wait_for_workers(2)
    assert process not in client.run(os.getpid).values()
    assert found.n_iter_ == expected.n_iter_
    np.testing.assert_allclose(found.coef_, expected.coef_, rtol=1e-9)
    assert found.objective_ == pytest.approx(expected.objective_, rel=1e-12)
    assert found.dual_bound_ == pytest.approx(expected.dual_bound_, rel=1e-12)


def test_a_closed_client_is_an_error_that_says_so(client, monkeypatch):
    X, y, _ = rows()
    model = RobustLinearSVC().fit(X, y)
    before = vars(model).copy()
    closing = threading.Thread(target=client.close)
    passes = at_pass(monkeypatch, 8, closing.start)
    with pytest.raises(RuntimeError, match="client was closed"):
        model.set_params(tol=1e-9).fit(lazy(X), lazy(y))
    closing.join()
    assert len(passes) >= 8
    assert vars(model) == before | {"tol": 1e-9}


def bytes_sent(client):
    """Bytes that have left the workers so far, for each other and for us."""
    logs = client.run(lambda dask_worker: list(dask_worker.transfer_outgoing_log))
    return sum(record["total"] for log in logs.values() for record in log)


def block_of(size, seed):
    X = np.random.default_rng(seed).normal(size=(size, N_FEATURES))
    return X


def passes_bytes(client, n_rows, n_chunks=6):
    """Bytes moved by a pass for value and gradient, and by one for curvature."""
    X = da.concatenate(
        [
            da.from_delayed(
                dask.delayed(block_of)(n_rows // n_chunks, i),
                (n_rows // n_chunks, N_FEATURES),
                float,
            )
            for i in range(n_chunks)
        ]
    )
    lazy = LazyRows.of(checked_block, X, X[:, 0] > 0, None, None)
    chunked, classes = observed_rows(lazy, None)
    problem = RobustProblem(chunked, WassersteinBall(0.05, 2.0), len(classes))
    scaling = Scaling.of(problem)
    coef = np.zeros((problem.n_classes, scaling.n_columns))
    with problem.reduction() as reduction:
        passes = SmoothedRisk.over(problem, scaling, reduction)
        sent = [bytes_sent(client)]
        now = passes.evaluate(coef, 0.5, 0.5)
        sent.append(bytes_sent(client))
        passes.curvature(coef, 0.5, 0.5, now, 1.0, 0)
        sent.append(bytes_sent(client))
    assert now.n_soft == n_rows
    return np.diff(sent), (coef.size + 1) ** 2 * 8


def test_bytes_moved_do_not_grow_with_the_rows(client):
    few, _ = passes_bytes(client, 600)
    many, gram = passes_bytes(client, 600_000)
    n_chunks = 6
    assert (many <= n_chunks * (gram + ENVELOPE)).all()
    assert (many <= few + n_chunks * ENVELOPE).all()
    # Softness alone, a number a row, would be more.
    assert many.max() < 600_000


WIDE = {"n_features": 300, "n_classes": 20}


def wide_rows(n_rows):
    rng = np.random.default_rng(1)
    y = np.arange(n_rows) % WIDE["n_classes"]
    centres = rng.normal(size=(WIDE["n_classes"], WIDE["n_features"]))
    return rng.normal(size=(n_rows, WIDE["n_features"])) + centres[y], y


def in_chunks(values, n_chunks=4):
    return da.from_array(values, chunks=(len(values) // n_chunks, *values.shape[1:]))


@pytest.mark.parametrize("label_cost", [np.inf, 0.5])
def test_a_killed_worker_does_not_harm_a_fit_with_many_coefficients(
    client, monkeypatch, label_cost
):
    X, y = wide_rows(1200)
    model = RobustLogisticRegression(radius=0.05, label_cost=label_cost, tol=1e-2)
    expected = model.fit(X, y).objective_
    process = min(client.run(os.getpid).values())
    passes = at_pass(monkeypatch, 8, partial(os.kill, process, signal.SIGKILL))
    found = model.fit(in_chunks(X), in_chunks(y))
    assert len(passes) > 12
    client.wait_for_workers(2)
    assert process not in client.run(os.getpid).values()
    assert found.objective_ == pytest.approx(expected, rel=2e-2)
    assert found.duality_gap_ <= 1e-2 * found.objective_


def product_bytes(client, n_rows, label_cost):
    """Bytes moved by a pass of the method in matrix products, and by a preconditioner."""
    X, y = wide_rows(n_rows)
    lazy = LazyRows.of(checked_block, in_chunks(X), in_chunks(y), None, None)
    chunked, classes = observed_rows(lazy, None)
    ball, loss = WassersteinBall(0.05, label_cost), LOSSES["logistic"]
    problem = RobustProblem(chunked, ball, len(classes), loss=loss)
    scaling = Scaling.of(problem)
    coef = np.zeros((problem.n_classes, scaling.n_columns))
    at = At(coef, price=np.inf if label_cost == np.inf else 0.0)
    prepared = problem.by_chunks(partial(in_columns, scaling, np.float32))
    with prepared.reduction() as reduction:
        design = Design(scaling, reduction)
        if label_cost < np.inf:
            lessons = Lessons(LabelShares.first(coef.shape, 0.1))
            design = ClusterFlipDesign(scaling, reduction, budget=0.1, lessons=lessons)
        sent = [bytes_sent(client)]
        price = design.evaluate(at).price
        sent.append(bytes_sent(client))
        design.curvature(at._replace(price=price))
        sent.append(bytes_sent(client))
    return np.diff(sent), 8 * coef.size, 8 * scaling.n_columns**2


# Searching the price of a flip moves a few numbers several times.
@pytest.mark.parametrize(("label_cost", "n_small"), [(np.inf, 0), (0.5, 12)])
def test_a_pass_of_the_method_in_products_moves_sums_as_large_as_the_coefficients(
    client, label_cost, n_small
):
    for n_rows in (800, 3200):
        (by_pass, by_build), coefs, square = product_bytes(client, n_rows, label_cost)
        n_chunks = 4
        assert 0 < by_pass <= n_chunks * (coefs + (1 + n_small) * ENVELOPE)
        assert by_build <= n_chunks * (coefs + square + ENVELOPE)


def test_cross_validation_runs_on_the_client(client):
    X, y, _ = rows()
    search = GridSearchCV(RobustLinearSVC(), {"radius": [0.02, 0.2]}, cv=2, n_jobs=2)
    with joblib.parallel_config(backend="dask"):
        search.fit(X[:300], y[:300])
    alone = GridSearchCV(RobustLinearSVC(), {"radius": [0.02, 0.2]}, cv=2)
    alone.fit(X[:300], y[:300])
    assert search.best_params_ == alone.best_params_
    np.testing.assert_allclose(search.best_estimator_.coef_, alone.best_estimator_.coef_)
