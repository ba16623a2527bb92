"""Fits side by side: the same numbers, no deadlock, nothing left behind."""

import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from functools import partial

import numpy as np
import pytest
from sklearn.datasets import make_classification

from wdrsvm import (
    RobustLinearSVC,
    RobustLinearSVCCV,
    RobustLogisticRegression,
    RobustOneVsRestSVC,
    RobustSVC,
    robust_path,
)
from wdrsvm.experiments.running.store import FILE, LOCK
from wdrsvm.rows import threads as row_threads

# Enough rows for threads that share them.
MANY_ROWS = 5000
TIME_LIMIT = 240
posix = pytest.mark.skipif(os.name != "posix", reason="forks, or sends a POSIX signal")


def data(n_rows, seed=0):
    return make_classification(
        n_rows, 5, n_informative=4, n_redundant=0, n_classes=3, random_state=seed
    )


JOBS = [
    (RobustLinearSVC(norm="l1"), 200),
    (RobustLinearSVC(norm="l2", radius=0.1), 200),
    (RobustLinearSVC(norm="linf", label_cost=np.inf), 200),
    (RobustLinearSVC(solver="newton", norm="l1", tol=1e-4), MANY_ROWS),
    (RobustLinearSVC(solver="first-order", tol=1e-2), 400),
    (RobustLogisticRegression(), 200),
    (RobustSVC(tol=1e-4), 60),
    (RobustOneVsRestSVC(), 200),
]


def scores_of(job):
    model, n_rows = job
    X, y = data(n_rows)
    return model.fit(X, y).decision_function(X[:50])


@pytest.fixture(scope="module")
def alone():
    return [scores_of(job) for job in JOBS]


def test_threads_give_the_same_bits(alone):
    with ThreadPoolExecutor(4) as pool:
        for turn in range(2):
            found = list(pool.map(scores_of, JOBS[::-1] if turn else JOBS))
            for one, other in zip(alone, found[::-1] if turn else found, strict=True):
                np.testing.assert_array_equal(one, other)


def test_searches_in_parallel_give_the_same_bits():
    X, y = data(60)
    found = [
        RobustLinearSVCCV([0.3, 0.05], [1.0, np.inf], norm="l1", cv=2, n_jobs=n_jobs)
        .fit(X, y)
        .decision_function(X)
        for n_jobs in (None, 2)
    ]
    np.testing.assert_array_equal(*found)


def test_paths_in_parallel_differ_by_no_more_than_the_gap():
    """Label costs that are not solved together do not learn from each other."""
    X, y = data(100)
    one, other = (
        robust_path(X, y, [0.3, 0.05], [1.0, np.inf], norm="l1", n_jobs=n_jobs)
        for n_jobs in (None, 2)
    )
    assert (one.dual_bound <= other.objective + 1e-12).all()
    assert (other.dual_bound <= one.objective + 1e-12).all()


@pytest.mark.parametrize("solver", ["newton", "first-order"])
def test_the_number_of_threads_does_not_matter(solver, monkeypatch):
    X, y = data(MANY_ROWS)
    found = []
    for n_threads in (1, 2, 7):
        monkeypatch.setattr(row_threads, "n_processors", lambda count=n_threads: count)
        found.append(RobustLinearSVC(solver=solver, norm="l1", tol=1e-2).fit(X, y).coef_)
    np.testing.assert_array_equal(found[0], found[1])
    np.testing.assert_array_equal(found[0], found[2])


def run(script, *arguments, **environment):
    """Run a script in a process of its own, with a time limit."""
    return subprocess.run(
        [sys.executable, "-W", "ignore", "-c", script, *arguments],
        env=os.environ | environment,
        stdout=subprocess.PIPE,
        text=True,
        timeout=TIME_LIMIT,
        check=True,
    ).stdout


PROCESSES = """
import joblib, numpy as np
from sklearn.datasets import make_classification
from wdrsvm import RobustLinearSVC, RobustLogisticRegression, RobustSVC

jobs = [
    (RobustLinearSVC(norm="l1"), 200),
    (RobustLinearSVC(solver="newton", norm="l1", tol=1e-4), 5000),
    (RobustLogisticRegression(), 200),
    (RobustSVC(tol=1e-4), 60),
]

def scores_of(model, n_rows):
    X, y = make_classification(
        n_rows, 5, n_informative=4, n_redundant=0, n_classes=3, random_state=0
    )
    return model.fit(X, y).decision_function(X[:50])

alone = [scores_of(*job) for job in jobs]
found = joblib.Parallel(n_jobs=2)(joblib.delayed(scores_of)(*job) for job in jobs)
print(all(map(np.array_equal, alone, found)))
"""


def test_processes_give_the_same_bits():
    pytest.importorskip("joblib")
    assert run(PROCESSES) == "True\n"


FIT_AND_TELL = """
import json
from sklearn.datasets import make_classification
from wdrsvm import RobustLinearSVC
X, y = make_classification(
    5000, 5, n_informative=4, n_redundant=0, n_classes=3, random_state=0
)
for solver in ("interior-point", "newton"):
    model = RobustLinearSVC(solver=solver, tol=1e-4).fit(X[::10], y[::10])
    print(json.dumps([model.objective_, model.dual_bound_]))
"""


@pytest.mark.slow
def test_the_threads_of_libraries_change_no_more_than_the_gap():
    names = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
    told = [run(FIT_AND_TELL, **dict.fromkeys(names, count)) for count in ("1", "2")]
    for one, other in zip(*(text.splitlines() for text in told), strict=True):
        first, second = json.loads(one), json.loads(other)
        assert first[1] <= second[0] + 1e-12
        assert second[1] <= first[0] + 1e-12


# Workers that are forked after threads were used.  While a thread is in the middle of BLAS
# or of the compiler no fork is safe, ours or anyone's.
FORK = """
import multiprocessing
import numpy as np
from sklearn.datasets import make_classification
from wdrsvm import RobustLinearSVC, RobustSVC

X, y = make_classification(
    5000, 5, n_informative=4, n_redundant=0, n_classes=3, random_state=0
)
models = [
    RobustLinearSVC(solver="newton", norm="l1", tol=1e-4),
    RobustLinearSVC(solver="interior-point", norm="l1", tol=1e-3, max_iter=50),
    RobustSVC(tol=1e-3),
]
sizes = [5000, 300, 60]

def scores(number):
    model, rows = models[number], slice(sizes[number])
    return model.fit(X[rows], y[rows]).decision_function(X[:20])

alone = [scores(number) for number in range(3)]
context = multiprocessing.get_context("fork")
for _ in range(3):
    with context.Pool(2) as pool:
        found = pool.map_async(scores, range(3)).get(timeout=100)
    assert all(np.array_equal(one, other) for one, other in zip(alone, found))
print("the same")
"""


@posix
@pytest.mark.slow
def test_forked_workers_do_not_deadlock():
    assert run(FORK) == "the same\n"


# Forks while the lock of the solvers is held, which no pool would do on purpose.
FORK_IN_A_FIT = """
import os, signal
from threadpoolctl import threadpool_info, threadpool_limits
from wdrsvm.solvers.runtime import blas_threads as threads
import scipy.linalg

def blas():
    return {each["num_threads"] for each in threadpool_info() if each["user_api"] == "blas"}

with threadpool_limits(limits=3, user_api="blas"), threads.single_threaded_blas():
    with threads._lock:
        child = os.fork()
        if not child:
            signal.alarm(60)
            with threads.single_threaded_blas():
                assert blas() == {1}
            os._exit(0)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


@posix
def test_a_fork_in_the_middle_of_a_fit_does_not_inherit_its_lock():
    assert run(FORK_IN_A_FIT) == "0\n"


@posix
@pytest.mark.slow
@pytest.mark.parametrize("jobs", ["1", "2"])
def test_an_interrupted_reproduction_leaves_a_page_and_no_processes(tmp_path, jobs):
    pytest.importorskip("typer")
    out, temporary = tmp_path / "out", tmp_path / "temporary"
    temporary.mkdir()
    shared = set(os.listdir("/dev/shm")) if os.path.isdir("/dev/shm") else set()
    command = ["-m", "wdrsvm", "reproduce", "simulation", "--jobs", jobs, "--out", str(out)]
    with subprocess.Popen(
        [sys.executable, *command],
        env=os.environ | {"TMPDIR": str(temporary)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        # A shell's background jobs ignore interrupts, and so would their children.
        preexec_fn=partial(signal.signal, signal.SIGINT, signal.SIG_DFL),
    ) as process:
        wait_until(lambda: n_rows(out / "simulation-quick" / FILE))
        os.killpg(process.pid, signal.SIGINT)
        told = process.communicate(timeout=TIME_LIMIT)[1]
    assert process.returncode == 130, told
    assert "Traceback" not in told
    wait_until(lambda: not group_lives(process.pid))
    # What is done is kept, with a page of it; nothing is half written.
    page = {"index.html", "results.csv", "results.parquet"}
    left = {each.name for each in (out / "simulation-quick").iterdir()}
    assert left == {FILE, LOCK, *page}
    assert list(temporary.iterdir()) == []
    if shared:
        left = set(os.listdir("/dev/shm")) - shared
        assert not [name for name in left if f"_{process.pid}_" in name]


def n_rows(path):
    """How many outcomes a store has; its table may not be there yet."""
    if not path.exists():
        return 0
    with closing(sqlite3.connect(path)) as database, suppress(sqlite3.OperationalError):
        return database.execute("SELECT count(*) FROM outcomes").fetchone()[0]


def wait_until(holds, seconds=TIME_LIMIT):
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end, "not in time"
        time.sleep(0.1)


def group_lives(group):
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    return True


def test_an_interrupted_command_leaves_no_file(tmp_path, monkeypatch, capsys):
    pytest.importorskip("typer")
    from wdrsvm.cli.main import INTERRUPTED, main

    X, y = data(60)
    table = tmp_path / "table.csv"
    rows = [
        "a,b,c,d,e,kind",
        *(",".join(map(str, [*x, k])) for x, k in zip(X, y, strict=True)),
    ]
    table.write_text("\n".join(rows))

    def interrupted(*given, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr("wdrsvm.estimators.fitting.steps.solve", interrupted)
    before = sorted(tmp_path.iterdir())
    command = ["fit", str(table), "--target", "kind", "--out", str(tmp_path / "model")]
    assert main(command) == INTERRUPTED
    assert sorted(tmp_path.iterdir()) == before
    assert capsys.readouterr().err == "wdrsvm: Interrupted; what is done is kept.\n"


def test_a_failed_run_on_a_cluster_cancels_what_waits(tmp_path):
    distributed = pytest.importorskip("distributed")
    from wdrsvm.experiments import Experiment, run_experiment

    def work(task):
        if task["x"] == 0:
            raise ValueError("This one fails.")
        time.sleep(0.2)
        return [{"x": task["x"]}]

    failing = Experiment(
        "failing",
        "Failing",
        1,
        tasks=lambda preset, repetitions: [{"x": x} for x in range(200)],
        run=work,
        summarise=lambda frame: {},
    )
    with (
        distributed.LocalCluster(
            1, processes=False, threads_per_worker=1, dashboard_address=None
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        with pytest.raises(ValueError, match="This one fails") as caught:
            run_experiment(failing, out=tmp_path, client=client)
        # The error, which holds on to the frames it passed, is still there.
        assert caught.value.__notes__
        wait_until(lambda: not client.futures, 20)
    assert {each.name for each in tmp_path.rglob("*") if each.is_file()} == {FILE, LOCK}
