"""Rows that exceed the memory of every worker are trained on, from disk."""

import re
import sys
from pathlib import Path

import numpy as np
import pytest

from wdrsvm import RobustLinearSVC

distributed = pytest.importorskip("distributed")
dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="reads /proc"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
]

N_CHUNKS, CHUNK_ROWS, N_FEATURES = 56, 10_000, 100
LIMIT = 420 * 10**6
# An interpreter takes half of this little memory: rows must leave soon.
SPILLING = {
    "distributed.worker.memory.target": 0.25,
    "distributed.worker.memory.spill": 0.75,
    "distributed.worker.memory.pause": 0.9,
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


def peak_memory():
    status = Path("/proc/self/status").read_text()
    return 1024 * int(re.search(r"VmHWM:\s+(\d+) kB", status)[1])


def test_rows_beyond_memory_are_trained_on(tmp_path, record_property):
    X, y = rows()
    assert X.nbytes > LIMIT
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
        model = RobustLinearSVC(radius=0.02, tol=0.1).fit(X, y)
        peaks = list(client.run(peak_memory).values())
    record_property("peak_memory", max(peaks))
    assert model.duality_gap_ <= 0.1 * model.objective_
    assert max(peaks) < LIMIT < X.nbytes
    # The first chunks alone give nearly the same classifier.
    few = [np.concatenate(part) for part in zip(*map(block, range(6)), strict=True)]
    risk = RobustLinearSVC(radius=0.02).fit(*few).objective_
    assert model.objective_ == pytest.approx(risk, rel=0.15)
