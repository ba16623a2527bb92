"""An hour of mixed work: does memory stay flat, is every result right, does nothing hang?

``python -m benchmarks.soak [--minutes 60] [--json FILE]``

A third of the time four threads of one process fit, search and predict; a third, two
processes; a third, two dask workers, of which one is killed at random now and then.  Every
result is compared with that of the same work done alone: to the last bit in threads and
processes, within the certified gaps on the cluster.
"""

from __future__ import annotations

import argparse
import faulthandler
import importlib
import json
import os
import random
import signal
import sys
import threading
import time
import warnings
from collections.abc import Callable, Sequence
from concurrent.futures import (
    FIRST_COMPLETED,
    Executor,
    ProcessPoolExecutor,
    ThreadPoolExecutor,
    wait,
)
from dataclasses import dataclass, field
from functools import cache
from multiprocessing import get_context
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sklearn.datasets import make_classification

from wdrsvm import (
    RobustLinearSVC,
    RobustLinearSVCCV,
    RobustLogisticRegression,
    RobustLogisticRegressionCV,
    RobustOneVsRestSVC,
    RobustSVC,
    WassersteinBall,
    audit_labels,
    worst_case_error,
)

# A task that takes longer hangs: tracebacks of all threads are printed, and the run ends.
HANG_SECONDS = 600.0
KILL_SECONDS = 20.0
CLUSTER_TOL = 1e-4
# Memory may grow by this share between the second and the last quarter of a phase.
MOST_GROWTH = 0.05
KILOBYTES_PER_MEGABYTE = 1024


@cache
def rows(n_rows: int) -> tuple[Any, Any]:
    """Read-only rows that all tasks share."""
    X, y = make_classification(
        n_rows, 6, n_informative=5, n_redundant=0, n_classes=3, flip_y=0.1, random_state=0
    )
    X.flags.writeable = y.flags.writeable = False
    return X, y


def _scores(model: Any, n_rows: int) -> Any:
    X, y = rows(n_rows)
    return model.fit(X, y).decision_function(X[:50])


def _error() -> Any:
    X, y = rows(2000)
    model = RobustLogisticRegression(0.05, np.inf).fit(X, y)
    return np.array([worst_case_error(model, X, y, WassersteinBall(0.1))])


WORK: dict[str, Callable[[], Any]] = {
    "l1": lambda: _scores(RobustLinearSVC(norm="l1"), 300),
    "l2": lambda: _scores(RobustLinearSVC(norm="l2"), 300),
    "linf, trusted": lambda: _scores(RobustLinearSVC(0.05, np.inf, norm="linf"), 300),
    "newton": lambda: _scores(RobustLinearSVC(solver="newton", tol=1e-4), 5000),
    "first-order": lambda: _scores(RobustLinearSVC(solver="first-order", tol=1e-2), 500),
    "logistic": lambda: _scores(RobustLogisticRegression(), 2000),
    "kernel": lambda: _scores(RobustSVC(tol=1e-4), 80),
    "one-vs-rest": lambda: _scores(RobustOneVsRestSVC(), 300),
    "search": lambda: _scores(RobustLinearSVCCV(4, cv=3), 200),
    "doubt": lambda: _scores(RobustLogisticRegressionCV(label_noise="random", cv=3), 150),
    "audit": lambda: audit_labels(*rows(200)).row,
    "worst-case error": _error,
}


class Done(NamedTuple):
    """A task's result, and the memory of the process after it, in kilobytes."""

    name: str
    result: Any
    memory: int


def done(name: str) -> Done:
    """A task, done here."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return Done(name, WORK[name](), resident())


def resident() -> int:
    """Memory of this process in kilobytes."""
    status = Path("/proc/self/status").read_text()
    line = next(line for line in status.splitlines() if line.startswith("VmRSS"))
    return int(line.split()[1])


@dataclass
class Phase:
    """What was seen in one part of the run."""

    name: str
    n_tasks: int = 0
    n_killed: int = 0
    wrong: list[str] = field(default_factory=list)
    memory: list[int] = field(default_factory=list)
    longest: float = 0.0

    @property
    def growth(self) -> float:
        """Growth of memory from the second to the last quarter, as a share."""
        quarter = len(self.memory) // 4
        if quarter == 0:
            return 0.0
        before = np.median(self.memory[quarter : 2 * quarter])
        return float(np.median(self.memory[-quarter:]) / before - 1)

    @property
    def is_good(self) -> bool:
        return not self.wrong and self.growth <= MOST_GROWTH

    def record(self) -> dict[str, Any]:
        return {
            "phase": self.name,
            "tasks": self.n_tasks,
            "workers killed": self.n_killed,
            "wrong": self.wrong,
            "memory in MB": round(max(self.memory) / KILOBYTES_PER_MEGABYTE),
            "growth of memory": round(self.growth, 4),
            "longest task in seconds": round(self.longest, 1),
            "good": self.is_good,
        }


def in_pool(name: str, pool: Executor, n: int, expected: Any, seconds: float) -> Phase:
    """Random tasks, ``n`` at a time, until the time is over."""
    phase, draw, end = Phase(name), random.Random(0), time.monotonic() + seconds
    running: dict[Any, float] = {}
    while running or time.monotonic() < end:
        while len(running) < n and time.monotonic() < end:
            running[pool.submit(done, draw.choice(list(WORK)))] = time.monotonic()
        faulthandler.dump_traceback_later(HANG_SECONDS, exit=True)
        finished, _ = wait(running, return_when=FIRST_COMPLETED)
        faulthandler.cancel_dump_traceback_later()
        for future in finished:
            phase.longest = max(phase.longest, time.monotonic() - running.pop(future))
            found: Done = future.result()
            _note(phase, found, expected[found.name])
    return phase


def _note(phase: Phase, found: Done, expected: Any) -> None:
    phase.n_tasks += 1
    phase.memory.append(found.memory)
    if not np.array_equal(found.result, expected):
        phase.wrong.append(found.name)


def on_cluster(seconds: float) -> Phase:
    """Fits of dask arrays on two workers; one of them is killed at random."""
    dask, lazy_arrays, distributed = (
        importlib.import_module(name) for name in ("dask", "dask.array", "distributed")
    )
    X, y = rows(40_000)
    alone = RobustLinearSVC(tol=CLUSTER_TOL).fit(X, y)
    phase, end = Phase("two dask workers, killed at random"), time.monotonic() + seconds
    stop = threading.Event()
    patient = {"distributed.scheduler.allowed-failures": 1000}
    with (
        dask.config.set(patient),
        distributed.LocalCluster(
            2, threads_per_worker=1, dashboard_address=":0", silence_logs=50
        ) as up,
        distributed.Client(up) as client,
    ):
        killer = threading.Thread(target=_kill, args=(up, phase, stop))
        killer.start()
        lazy = lazy_arrays.from_array(X, chunks=(5000, -1))
        labels = lazy_arrays.from_array(y, chunks=5000)
        while time.monotonic() < end:
            client.wait_for_workers(1)
            began = time.monotonic()
            faulthandler.dump_traceback_later(HANG_SECONDS, exit=True)
            found = RobustLinearSVC(tol=CLUSTER_TOL).fit(lazy, labels)
            faulthandler.cancel_dump_traceback_later()
            phase.longest = max(phase.longest, time.monotonic() - began)
            phase.n_tasks += 1
            phase.memory.append(resident())
            if found.duality_gap_ > CLUSTER_TOL * found.objective_ or not _agree(
                found, alone
            ):
                phase.wrong.append(f"objective {found.objective_:.9g}")
        stop.set()
        killer.join()
    return phase


def _agree(found: Any, alone: Any) -> bool:
    """Whether two certified optima can be the same."""
    least = max(found.dual_bound_, alone.dual_bound_)
    return bool(least <= min(found.objective_, alone.objective_) * (1 + 1e-12))


def _kill(cluster: Any, phase: Phase, stop: threading.Event) -> None:
    draw = random.Random(1)
    while not stop.wait(KILL_SECONDS * (0.5 + draw.random())):
        workers = [worker for worker in cluster.workers.values() if _is_up(worker)]
        if workers:
            os.kill(draw.choice(workers).process.pid, signal.SIGKILL)
            phase.n_killed += 1


def _is_up(worker: Any) -> bool:
    """Whether a worker has started: one that dies before that is never replaced."""
    both = worker, worker.process
    return all(each is not None and each.status.name == "running" for each in both)


def soak(minutes: float) -> list[Phase]:
    """All three phases, each a third of the time."""
    seconds = 60 * minutes / 3
    expected = {name: done(name).result for name in WORK}
    with ThreadPoolExecutor(4) as pool:
        threads = in_pool("four threads", pool, 4, expected, seconds)
    with ProcessPoolExecutor(2, get_context("spawn")) as pool:
        processes = in_pool("two processes", pool, 2, expected, seconds)
    return [threads, processes, on_cluster(seconds)]


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=60.0)
    parser.add_argument("--json", type=Path, help="file for the results")
    given = parser.parse_args(arguments)
    phases = soak(given.minutes)
    text = json.dumps([phase.record() for phase in phases], indent=1)
    print(text)
    if given.json:
        given.json.write_text(text + "\n", encoding="utf-8")
    return int(not all(phase.is_good for phase in phases))


if __name__ == "__main__":
    sys.exit(main())
