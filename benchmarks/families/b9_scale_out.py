"""B9, scale-out: dask workers of one thread each against one process, relative gap 1e-4.

Chunks are made on the workers by seed, so that nothing but results ever travels.

========  ==========================================================================
case      what is measured
========  ==========================================================================
scaling   one worker, two workers and one process of one thread, all on the same rows
memory    two workers, each limited to less memory than the rows take: peak memory
killed    two workers, one of them killed in mid-fit and started again by its nanny
========  ==========================================================================

Objectives are recomputed in this process, from the coefficients and all rows.  Wall time
says little on a busy machine: ``cpu_ratio`` is what one worker's processor took for what
the busier of two did.
"""

from __future__ import annotations

import os
import re
import signal
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple
from unittest import mock

import numpy as np

from wdrsvm import RobustLinearSVC
from wdrsvm.problem import WassersteinBall
from wdrsvm.rows.dask_engine import ClusterEngine

from ..data import Rows, as_problem
from ..family import Family, Options, Record
from ..processes import held_to_cpus

RADIUS, LABEL_COST, TOL = 1e-2, 0.5, 1e-4
MEGABYTE = 1e6
# Rows stay where they are also when another worker is idle.
STAYING = {"distributed.scheduler.work-stealing": False}
# Where an interpreter takes half of a worker's memory, rows must leave sooner than dask
# lets them by default.
SPILLING = {
    "distributed.worker.memory.target": 0.25,
    "distributed.worker.memory.spill": 0.75,
    "distributed.worker.memory.pause": 0.9,
}
# The pass of a fit in which a worker is killed.
FATAL_PASS = 10


class Case(NamedTuple):
    """``limit_mb`` is the memory of a worker, 0 for no limit."""

    case: str
    N: int
    P: int
    C: int
    n_chunks: int
    limit_mb: int = 0


def cases(options: Options) -> list[Case]:
    if options.tiny:
        return [Case("killed", 3000, 4, 3, 4)]
    return [
        Case("scaling", 1_000_000, 20, 6, 16),
        Case("memory", 800_000, 80, 3, 64, 450),
        Case("killed", 100_000, 20, 6, 8),
    ]


def block(case: Case, number: int) -> Rows:
    """One chunk: clusters around the corners of a simplex, some of them far out."""
    rng = np.random.default_rng([number, case.N])
    y = rng.integers(case.C, size=case.N // case.n_chunks)
    X = rng.normal(size=(len(y), case.P)) * rng.choice([1.0, 2.0], size=(len(y), 1))
    X[np.arange(len(y)), y] += 2.0
    return Rows(X, y.astype(np.intp))


def run(case: Case, options: Options) -> Record:
    measured = {"scaling": _scaling, "memory": _memory, "killed": _killed}[case.case](case)
    return case._asdict() | {"data_mb": 8 * case.N * case.P / MEGABYTE} | measured


class Fit(NamedTuple):
    """A fit on a cluster, and what it took."""

    model: RobustLinearSVC
    seconds: float
    cpu_seconds: float
    passes: int
    moved_mb: float
    peak_mb: float


def _scaling(case: Case) -> Record:
    one, two = (_fit_on_cluster(case, n_workers) for n_workers in (1, 2))
    alone = _alone(case)
    return _judged(case, two) | {
        "one_worker": one.seconds,
        "two_workers": two.seconds,
        "ratio": one.seconds / two.seconds,
        "cpu_ratio": one.cpu_seconds / two.cpu_seconds,
        "one_worker_cpu": one.cpu_seconds,
        "one_process": alone,
    }


def _memory(case: Case) -> Record:
    fit = _fit_on_cluster(case, 2)
    return _judged(case, fit) | {"two_workers": fit.seconds}


def _killed(case: Case) -> Record:
    with _cluster(2, case.limit_mb) as client:
        _load_compiled_code(case)
        calm, disturbed = (_fit(client, case, kill) for kill in (False, True))
    difference = np.abs(calm.model.coef_ - disturbed.model.coef_).max()
    return _judged(case, disturbed) | {
        "two_workers": calm.seconds,
        "with_a_loss": disturbed.seconds,
        "difference": float(difference),
    }


def _judged(case: Case, fit: Fit) -> Record:
    """The objective, recomputed here over all chunks, and what the fit claims."""
    model = fit.model
    rows = Rows(*(np.concatenate(part) for part in zip(*_blocks(case), strict=True)))
    ball = WassersteinBall(RADIUS, LABEL_COST)
    objective = as_problem(*rows, ball, True).risk(model.coef_, model.intercept_).value
    gap = (objective - model.dual_bound_) / max(objective, 1e-2)
    return {
        "gap": gap,
        "reached": bool(gap <= TOL * (1 + 1e-9)),
        "passes": fit.passes,
        "moved_mb": fit.moved_mb,
        "peak_mb": fit.peak_mb,
    }


def _blocks(case: Case) -> Iterator[Rows]:
    return (block(case, number) for number in range(case.n_chunks))


def _alone(case: Case) -> float:
    rows = [np.concatenate(part) for part in zip(*_blocks(case), strict=True)]
    with held_to_cpus(1):
        _model().fit(rows[0][:20_000], rows[1][:20_000])
        began = time.perf_counter()
        _model().fit(*rows)
        return time.perf_counter() - began


def _model() -> RobustLinearSVC:
    return RobustLinearSVC(RADIUS, LABEL_COST, tol=TOL, solver="newton")


def _fit_on_cluster(case: Case, n_workers: int) -> Fit:
    with _cluster(n_workers, case.limit_mb) as client:
        _load_compiled_code(case)
        return _fit(client, case)


def _load_compiled_code(case: Case) -> None:
    """On the workers, by a small fit, before the clock starts."""
    _model().fit(*_collections(case._replace(N=2000 * case.n_chunks)))


def _fit(client: Any, case: Case, kill: bool = False) -> Fit:
    X, y = _collections(case)
    before, sent = _processor_seconds(client), _bytes_sent(client)
    disturb = partial(_kill_one, client) if kill else None
    with _counted_passes(disturb) as count:
        began = time.perf_counter()
        model = _model().fit(X, y)
        seconds = time.perf_counter() - began
    took = _processor_seconds(client)
    # A worker that took another's place has its own clock and log.
    cpu = max(took[name] - before.get(name, 0.0) for name in took)
    moved = max(_bytes_sent(client) - sent, 0) / MEGABYTE
    peak = max(client.run(_peak_memory).values()) / MEGABYTE
    return Fit(model, seconds, cpu, len(count), moved, peak)


@contextmanager
def _cluster(n_workers: int, limit_mb: int) -> Iterator[Any]:
    dask: Any = import_module("dask")
    distributed: Any = import_module("distributed")
    with (
        dask.config.set(STAYING | (SPILLING if limit_mb else {})),
        tempfile.TemporaryDirectory() as folder,
        distributed.LocalCluster(
            n_workers=n_workers,
            threads_per_worker=1,
            processes=True,
            dashboard_address=":0",
            memory_limit=f"{limit_mb}MB" if limit_mb else 0,
            local_directory=folder,
            silence_logs=50,
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


def _collections(case: Case) -> tuple[Any, Any]:
    """The rows as dask arrays whose chunks are made where they are computed."""
    dask: Any = import_module("dask")
    da: Any = import_module("dask.array")
    size = case.N // case.n_chunks
    pairs = [dask.delayed(block, nout=2)(case, i) for i in range(case.n_chunks)]
    X = [da.from_delayed(pair[0], (size, case.P), float) for pair in pairs]
    y = [da.from_delayed(pair[1], (size,), np.intp) for pair in pairs]
    return da.concatenate(X), da.concatenate(y)


@contextmanager
def _counted_passes(disturb: Callable[[], None] | None) -> Iterator[list[int]]:
    """A list that grows by one a pass; ``disturb`` is called in one of them."""
    gather, count = ClusterEngine.gather, list[int]()

    def counted(engine: ClusterEngine, values: list[Any]) -> list[Any]:
        count.append(len(count))
        if disturb is not None and len(count) == FATAL_PASS:
            disturb()
        return gather(engine, values)

    with mock.patch.object(ClusterEngine, "gather", counted):
        yield count


def _kill_one(client: Any) -> None:
    os.kill(min(client.run(os.getpid).values()), signal.SIGKILL)


def _processor_seconds(client: Any) -> dict[str, float]:
    seconds: dict[str, float] = client.run(time.process_time)
    return seconds


def _bytes_sent(client: Any) -> int:
    """Bytes that left the workers, for each other and for this process."""
    logs = client.run(lambda dask_worker: list(dask_worker.transfer_outgoing_log))
    return sum(record["total"] for log in logs.values() for record in log)


def _peak_memory() -> int:
    """Bytes; 0 where the system does not tell."""
    status = Path("/proc/self/status")
    found = re.search(r"VmHWM:\s+(\d+) kB", status.read_text()) if status.exists() else None
    return 1024 * int(found[1]) if found else 0


FAMILY = Family(
    name="b9",
    title="B9 scale-out: dask workers of one thread, relative gap 1e-4",
    cases=cases,
    run=run,
    columns=(
        *("case", "N", "P", "C", "data_mb", "limit_mb", "peak_mb", "passes", "moved_mb"),
        *("one_worker", "two_workers", "ratio", "cpu_ratio", "one_process"),
        *("with_a_loss", "difference", "gap"),
    ),
)
