"""Rows that exceed the memory that a worker keeps them in are trained on, from disk.

A small version of the benchmark's, in which the limit is that of the whole process.
"""

import numpy as np
import pytest

from wdrsvm import RobustLinearSVC
from wdrsvm.rows.dask_engine import ClusterEngine

distributed = pytest.importorskip("distributed")
dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")

pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning")

N_CHUNKS, CHUNK_ROWS, N_FEATURES = 24, 2500, 20
CHUNK_BYTES = 8 * CHUNK_ROWS * N_FEATURES
LIMIT = 4 * 10**9
# What a worker keeps of its rows in memory: a few chunks.
KEPT = 4 * CHUNK_BYTES
SPILLING = {
    "distributed.worker.memory.target": KEPT / LIMIT,
    "distributed.scheduler.work-stealing": False,
}


def block(seed):
    rng = np.random.default_rng(seed)
    y = rng.integers(2, size=CHUNK_ROWS)
    X = rng.normal(size=(CHUNK_ROWS, N_FEATURES))
    X[:, 0] += 2.0 * y
    return X, y


def rows():
    pairs = [dask.delayed(block, nout=2)(seed) for seed in range(N_CHUNKS)]
    shape = (CHUNK_ROWS, N_FEATURES)
    X = [da.from_delayed(pair[0], shape, float) for pair in pairs]
    y = [da.from_delayed(pair[1], shape[:1], int) for pair in pairs]
    return da.concatenate(X), da.concatenate(y)


def memory_of(dask_worker):
    """Bytes of results that a worker has in memory, and on disk."""
    data = dask_worker.data
    return data.fast.total_weight, data.spilled_total.disk


def test_rows_beyond_memory_are_trained_on(tmp_path, monkeypatch, record_property):
    X, y = rows()
    assert X.nbytes > 4 * KEPT
    seen, gather = [], ClusterEngine.gather
    with (
        dask.config.set(SPILLING),
        distributed.LocalCluster(
            n_workers=2,
            threads_per_worker=1,
            dashboard_address=":0",
            memory_limit=LIMIT,
            local_directory=tmp_path,
            silence_logs=50,
        ) as cluster,
        distributed.Client(cluster) as client,
    ):

        def watched(engine, values):
            seen.extend(client.run(memory_of).values())
            return gather(engine, values)

        monkeypatch.setattr(ClusterEngine, "gather", watched)
        model = RobustLinearSVC(radius=0.02, tol=1e-3).fit(X, y)
    in_memory, on_disk = np.max(seen, axis=0)
    record_property("peak_memory", int(in_memory))
    assert in_memory <= KEPT + CHUNK_BYTES
    assert on_disk > KEPT
    assert model.duality_gap_ <= 1e-3 * model.objective_
    whole = [
        np.concatenate(part) for part in zip(*map(block, range(N_CHUNKS)), strict=True)
    ]
    risk = model.worst_case_risk(*whole)
    assert risk == pytest.approx(model.objective_, abs=1e-10)
