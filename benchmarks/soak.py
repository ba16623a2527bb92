"""An hour of mixed work: does memory stay flat, is every result right, does nothing hang?

``python -m benchmarks.soak [--minutes 60] [--only PHASE] [--json FILE]``

A third of the time four threads of one process fit, search and predict; a third, two
processes; a third, two dask workers, of which one is killed at random now and then.  Every
result is compared with that of the same work done alone: to the last bit in threads and
processes, within the certified gaps on the cluster.  ``--only dask-alone`` does sums on the
same cluster without this package, for comparison.
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
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import (
    FIRST_COMPLETED,
    Executor,
    ProcessPoolExecutor,
    ThreadPoolExecutor,
    wait,
)
from contextlib import contextmanager
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
PATIENT = {
    "distributed.scheduler.allowed-failures": 1000,
    # So long after a loss a cluster closes the worker if it is away at that very moment,
    # even if it was back in between.  After the last worker, nothing goes on.
    "distributed.deploy.lost-worker-timeout": "24h",
}
# Dask remembers a thousand events, messages, profiles and more, and dead workers for an
# hour.  These histories are full within a minute: what grows after that is no history.
FORGETFUL = {
    "distributed.admin.low-level-log-length": 50,
    "distributed.admin.system-monitor.log-length": 50,
    "distributed.diagnostics.computations.max-history": 5,
    "distributed.diagnostics.erred-tasks.max-history": 5,
    "distributed.scheduler.events-cleanup-delay": "10s",
}


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
    X, y = rows(40_000)
    alone = RobustLinearSVC(tol=CLUSTER_TOL).fit(X, y)

    def fit(lazy: Any, labels: Any) -> str:
        found = RobustLinearSVC(tol=CLUSTER_TOL).fit(lazy, labels)
        reached = found.duality_gap_ <= CLUSTER_TOL * found.objective_
        right = reached and _agree(found, alone)
        return "" if right else f"objective {found.objective_:.9g}"

    with _two_workers(FORGETFUL, {"extensions": _without_spans()}) as up:
        return _while_killed("two dask workers, killed at random", up, fit, seconds)


def dask_alone(seconds: float) -> Phase:
    """Sums of the same arrays without this package, with dask's defaults."""
    total = rows(40_000)[0].sum()

    def add(lazy: Any, labels: Any) -> str:
        kept = lazy.persist()
        found = [float((kept + n).sum().compute()) - n * lazy.size for n in range(20)]
        return "" if np.allclose(found, total) else f"sums {found}"

    with _two_workers({}, {}) as up:
        return _while_killed("two dask workers, without this package", up, add, seconds)


def _while_killed(
    name: str, cluster: Any, task: Callable[[Any, Any], str], seconds: float
) -> Phase:
    """Repeat a task, which says what is wrong, while workers are killed."""
    lazy_arrays = importlib.import_module("dask.array")
    X, y = rows(40_000)
    lazy = lazy_arrays.from_array(X, chunks=(5000, -1))
    labels = lazy_arrays.from_array(y, chunks=5000)
    phase, end = Phase(name), time.monotonic() + seconds
    with cluster.get_client() as client, _killer(cluster, phase):
        while time.monotonic() < end:
            client.wait_for_workers(1)
            began = time.monotonic()
            faulthandler.dump_traceback_later(HANG_SECONDS, exit=True)
            wrong = task(lazy, labels)
            faulthandler.cancel_dump_traceback_later()
            phase.longest = max(phase.longest, time.monotonic() - began)
            phase.n_tasks += 1
            phase.memory.append(resident())
            phase.wrong += [wrong] if wrong else []
    return phase


@contextmanager
def _two_workers(config: dict[str, Any], scheduler: dict[str, Any]) -> Iterator[Any]:
    """A cluster with more patience than dask has by default."""
    dask, distributed = (importlib.import_module(n) for n in ("dask", "distributed"))
    told = {"dashboard_address": ":0", "silence_logs": 50, "scheduler_kwargs": scheduler}
    with (
        dask.config.set(PATIENT | config),
        distributed.LocalCluster(2, threads_per_worker=1, **told) as cluster,
    ):
        yield cluster


def _without_spans() -> dict[str, Any]:
    """The scheduler's extensions, of which the one for spans keeps nothing.

    Dask's scheduler keeps a span for each computation, and its groups of tasks, as long as
    it lives (dask/distributed, issue 7977).
    """
    scheduler = importlib.import_module("distributed.scheduler")
    keeps_nothing = {"observe_tasks": lambda *_, **__: {}, "heartbeat": lambda *_: None}
    kept: dict[str, Any] = dict(scheduler.DEFAULT_EXTENSIONS)
    return kept | {"spans": type("NoSpans", (kept["spans"],), keeps_nothing)}


@contextmanager
def _killer(cluster: Any, phase: Phase) -> Iterator[None]:
    """Workers are killed until the end."""
    stop = threading.Event()
    killer = threading.Thread(target=_kill, args=(cluster, phase, stop))
    killer.start()
    try:
        yield
    finally:
        stop.set()
        killer.join()


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


def _expected() -> dict[str, Any]:
    """The result of each task, done alone."""
    return {name: done(name).result for name in WORK}


def in_threads(seconds: float) -> Phase:
    """Random tasks in four threads of this process."""
    with ThreadPoolExecutor(4) as pool:
        return in_pool("four threads", pool, 4, _expected(), seconds)


def in_processes(seconds: float) -> Phase:
    """Random tasks in two processes."""
    with ProcessPoolExecutor(2, get_context("spawn")) as pool:
        return in_pool("two processes", pool, 2, _expected(), seconds)


PHASES: dict[str, Callable[[float], Phase]] = {
    "threads": in_threads,
    "processes": in_processes,
    "cluster": on_cluster,
}
CONTROL = {"dask-alone": dask_alone}


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=60.0, help="of all three phases")
    parser.add_argument("--only", choices=list(PHASES | CONTROL), help="one, a third of it")
    parser.add_argument("--json", type=Path, help="file for the results")
    given = parser.parse_args(arguments)
    names = [given.only] if given.only else list(PHASES)
    seconds = 60 * given.minutes / len(PHASES)
    phases = [(PHASES | CONTROL)[name](seconds) for name in names]
    text = json.dumps([phase.record() for phase in phases], indent=1)
    print(text)
    if given.json:
        given.json.write_text(text + "\n", encoding="utf-8")
    return int(not all(phase.is_good for phase in phases))


if __name__ == "__main__":
    sys.exit(main())
