"""How much memory a fit adds to its data, and data that would not fit in memory."""

import json
import os
import subprocess
import sys

import numpy as np
import pytest

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="reads /proc and limits memory"),
]

N_ROWS, N_FEATURES, N_CLASSES = 500_000, 80, 3
DATA_BYTES = 8 * N_ROWS * N_FEATURES
BLOCK = 20_000

# Fits in a process of its own: what is limited, and what is left of a test before, must
# not meet.  Memory grows with the number of threads, so that is the same everywhere.
FIT_AND_TELL = """
import json, os, re, resource, sys
from pathlib import Path

os.cpu_count = lambda: 2
os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:2])

import numpy as np
from wdrsvm import RobustLinearSVC

def memory(entry):
    status = Path("/proc/self/status").read_text()
    return 1024 * int(re.search(rf"{entry}:\\s+(\\d+) kB", status)[1])

folder, mode, limit = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
rows = "narrow.npy" if mode == "narrow" else "X.npy"
model = RobustLinearSVC(tol=1e-3)
rng = np.random.default_rng(1)
warm_up = rng.normal(size=(120_000, 20))
model.fit(warm_up, warm_up[:, :3].argmax(axis=1))
del warm_up
X = np.load(folder / rows, mmap_mode=None if mode in ("loaded", "copied") else "r")
y = np.load(folder / "y.npy")
if limit:
    limit += memory("VmData")
    resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))
Path("/proc/self/clear_refs").write_text("5")  # forget the peak
before = memory("VmRSS")
model.fit(np.array(X) if mode == "copied" else X, y)
print(json.dumps({
    "coef": model.coef_.tolist(),
    "objective": model.objective_,
    "solver": model.solver_,
    "added": memory("VmHWM") - before,
}))
"""


def run_fit(folder, mode, limit=0):
    # Memory is to go back to the system when it is freed, or the limit means little.
    malloc = {"MALLOC_ARENA_MAX": "1", "MALLOC_MMAP_THRESHOLD_": "65536"}
    command = [sys.executable, "-c", FIT_AND_TELL, str(folder), mode, str(limit)]
    return subprocess.run(
        command, env=os.environ | malloc, capture_output=True, text=True, check=False
    )


def told(process):
    assert process.returncode == 0, process.stderr
    return json.loads(process.stdout)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Clusters of rows in a file, written a block at a time."""
    folder = tmp_path_factory.mktemp("large")
    rng = np.random.default_rng(0)
    y = rng.integers(N_CLASSES, size=N_ROWS)
    centre = 0.3 * rng.normal(size=(N_CLASSES, N_FEATURES))
    X = np.lib.format.open_memmap(folder / "X.npy", "w+", float, (N_ROWS, N_FEATURES))
    for start in range(0, N_ROWS, BLOCK):
        labels = y[start : start + BLOCK]
        X[start : start + BLOCK] = centre[labels] + rng.normal(size=(BLOCK, N_FEATURES))
    X.flush()
    narrow = np.lib.format.open_memmap(
        folder / "narrow.npy", "w+", np.float32, X.shape, fortran_order=True
    )
    for d in range(N_FEATURES):
        narrow[:, d] = X[:, d]
    narrow.flush()
    np.save(folder / "y.npy", y)
    yield folder
    (folder / "X.npy").unlink()
    (folder / "narrow.npy").unlink()


@pytest.fixture(scope="module")
def in_memory(folder):
    return told(run_fit(folder, "loaded"))


def test_a_fit_adds_less_than_half_of_its_data(in_memory):
    assert in_memory["solver"] == "newton"
    assert in_memory["added"] < DATA_BYTES / 2


def test_data_twice_as_large_as_memory(folder, in_memory):
    mapped = told(run_fit(folder, "mapped", DATA_BYTES // 2))
    assert mapped["objective"] == pytest.approx(in_memory["objective"], rel=1e-12)
    np.testing.assert_allclose(mapped["coef"], in_memory["coef"], rtol=1e-9, atol=1e-12)


def test_narrow_numbers_in_fortran_order_are_not_converted_whole(folder, in_memory):
    narrow = told(run_fit(folder, "narrow", DATA_BYTES // 2))
    assert narrow["objective"] == pytest.approx(in_memory["objective"], rel=1e-5)


def test_the_limit_is_felt(folder):
    # Otherwise the test above proves nothing.
    process = run_fit(folder, "copied", DATA_BYTES // 2)
    assert process.returncode != 0
    assert "MemoryError" in process.stderr
