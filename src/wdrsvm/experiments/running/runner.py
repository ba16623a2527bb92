"""The runner of all experiments: parallel and resumable, with seeds from the tasks."""

from __future__ import annotations

import importlib.util
import os
import platform
import signal
import threading
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, NamedTuple

from joblib import Parallel, delayed
from sklearn.exceptions import ConvergenceWarning
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from ...datasets._missing import missing_files
from ...datasets._sources import DATA_VARIABLE
from ...estimators import DisbeliefWarning, RadiusWarning
from ...files import replaced_whole
from .pace import Pace
from .spec import Experiment, Task, checked_jobs, checked_preset, checked_repetitions
from .store import Outcome, Store

PACKAGES = ("wdrsvm", "numpy", "scipy", "scikit-learn", "highspy", "clarabel")


class Progress(NamedTuple):
    """The state of a run; ``seconds_left`` is None before the first task is done.

    ``unlike`` is the number of waiting tasks without a finished repetition.  Their time is
    estimated from the most similar tasks.

    Examples
    --------
    >>> from wdrsvm.experiments import Progress
    >>> Progress(done=1, total=3, seconds_left=20.0).total
    3
    """

    done: int
    total: int
    seconds_left: float | None
    unlike: int = 0


@dataclass(frozen=True)
class Results:
    """The results of a run.

    Attributes
    ----------
    experiment : Experiment
        The experiment.
    preset : str
        The name of its size.
    folder : Path
        The folder of the files.
    frame : pandas DataFrame
        All records, one per row.
    about : dict
        Numbers of tasks and of complete repetitions, minutes, versions, machine.

    Examples
    --------
    >>> import tempfile
    >>> from wdrsvm.experiments import EXPERIMENTS, collect
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     results = collect(EXPERIMENTS["simulation"], out=folder)
    >>> results.about["missing"] == results.about["tasks"]
    True
    """

    experiment: Experiment
    preset: str
    folder: Path
    frame: Any
    about: dict[str, Any]


def run_experiment(
    experiment: Experiment,
    preset: str = "quick",
    out: Path | str = "reproduce",
    *,
    jobs: int = 1,
    repetitions: int | None = None,
    client: Any = None,
    progress: Callable[[Progress], None] = lambda _: None,
) -> Results:
    """Run the missing tasks of an experiment, and collect all results.

    A run can be killed at any time.  The next run with the same folder continues it.

    Parameters
    ----------
    experiment : Experiment
        The experiment to run.
    preset : {"quick", "full"}, default="quick"
        The size of the experiment.
    out : path, default="reproduce"
        Folder; the results are in its subfolder ``<experiment>-<preset>``.
    jobs : int, default=1
        Number of processes; -1 is one per processor.
    repetitions : int, default=None
        Number of repetitions; None is the number of the preset.
    client : dask Client, default=None
        Client that runs the tasks instead of processes on this machine.
    progress : callable, default does nothing
        Called with a :class:`Progress` at the start and after each task.

    Returns
    -------
    Results
        All records, and facts about the run.

    Examples
    --------
    >>> import tempfile
    >>> from wdrsvm.experiments import Experiment, run_experiment
    >>> squares = Experiment(
    ...     "squares", "Squares", 1,
    ...     tasks=lambda preset, repetitions: [{"x": x} for x in range(3)],
    ...     run=lambda task: [{"square": task["x"] ** 2}],
    ...     summarise=lambda frame: {},
    ... )
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     run_experiment(squares, out=folder).frame["square"].tolist()
    [0, 1, 4]
    """
    checked_jobs(jobs)
    folder, tasks = _folder_and_tasks(experiment, preset, out, repetitions)
    store = Store(folder, experiment.protocol)
    with store.locked():
        missing = [task for task in tasks if task not in store]
        check_data(experiment, missing)
        pace = Pace(missing, _n_workers(jobs, client))
        for task in tasks:
            if task in store:
                pace.took(task, store[task].seconds)
        report = _Reporter(progress, len(tasks), pace)
        for task, outcome in _executed(experiment, missing, jobs, client):
            store.add(task, outcome)
            report.task_done(task, outcome.seconds)
    return collect(experiment, preset, out, repetitions=repetitions)


def collect(
    experiment: Experiment,
    preset: str = "quick",
    out: Path | str = "reproduce",
    *,
    repetitions: int | None = None,
) -> Results:
    """The results of an experiment so far, finished or not, without running anything.

    Parameters
    ----------
    experiment : Experiment
        The experiment.
    preset : {"quick", "full"}, default="quick"
        The size of the experiment.
    out : path, default="reproduce"
        Folder that was given to :func:`run_experiment`.
    repetitions : int, default=None
        Number of repetitions; None is the number of the preset.

    Returns
    -------
    Results
        The records so far; ``about`` has the number of missing tasks.

    Examples
    --------
    >>> import tempfile
    >>> from wdrsvm.experiments import EXPERIMENTS, collect
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     len(collect(EXPERIMENTS["subgradient"], out=folder).frame)
    0
    """
    folder, tasks = _folder_and_tasks(experiment, preset, out, repetitions)
    store = Store(folder, experiment.protocol)
    frame = importlib.import_module("pandas").DataFrame(store.records(tasks))
    _write_tables(folder, frame)
    return Results(experiment, preset, folder, frame, _about(store, tasks))


def waiting_tasks(
    experiment: Experiment,
    preset: str = "quick",
    out: Path | str = "reproduce",
    *,
    repetitions: int | None = None,
) -> list[Task]:
    """The tasks of an experiment that are not done, without running or writing anything."""
    folder, tasks = _folder_and_tasks(experiment, preset, out, repetitions)
    store = Store(folder, experiment.protocol)
    return [task for task in tasks if task not in store]


def check_data(experiment: Experiment, tasks: Sequence[Task]) -> None:
    """Refuse to begin if data files of the tasks are missing; the error names them all."""
    names = dict.fromkeys(name for task in tasks if (name := experiment.table(task)))
    missing = missing_files(names)
    if missing:
        package = ' (penguins.csv: or pip install "wdrsvm[data]")'
        raise FileNotFoundError(
            f"{experiment.title} needs {', '.join(missing)}, not found on this machine nor "
            f"in the network: put these files in a folder and set {DATA_VARIABLE} to "
            f"that folder{package if 'penguins.csv' in missing else ''}."
        )


def _n_workers(jobs: int, client: Any) -> int:
    if client is not None:
        return max(sum(client.nthreads().values()), 1)
    return (os.cpu_count() or 1) if jobs == -1 else jobs


def _folder_and_tasks(
    experiment: Experiment, preset: str, out: Path | str, repetitions: int | None
) -> tuple[Path, Sequence[Task]]:
    folder = Path(out) / f"{experiment.name}-{checked_preset(preset)}"
    return folder, experiment.tasks(preset, checked_repetitions(repetitions))


def _executed(
    experiment: Experiment, tasks: Sequence[Task], jobs: int, client: Any
) -> Iterator[tuple[Task, Outcome]]:
    """Pairs of a task and its outcome, in the order in which the tasks finish."""
    if client is not None:
        as_completed = importlib.import_module("distributed").as_completed
        futures = client.map(_timed, [experiment.run] * len(tasks), tasks, pure=False)
        try:
            for future in as_completed(futures):
                yield future.result()
        finally:
            # Cancel the waiting tasks if one has failed or the run is interrupted.
            client.cancel(futures)
    elif jobs == 1:
        yield from (_timed(experiment.run, task) for task in tasks)
    else:
        run = delayed(_timed)
        pool = Parallel(n_jobs=jobs, return_as="generator_unordered")
        with _interrupts_for_this_process_alone():
            outcomes = pool(run(experiment.run, task) for task in tasks)
        yield from outcomes


@contextmanager
def _interrupts_for_this_process_alone() -> Iterator[None]:
    """Processes that start meanwhile, for some milliseconds, ignore interrupts for good.

    A console sends its interrupt to all of them, and a worker would answer with a
    traceback; this process stops them anyhow.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _timed(run: Callable[[Task], Any], task: Task) -> tuple[Task, Outcome]:
    """Run a task with one thread; an error names the task."""
    began = time.perf_counter()
    with threadpool_limits(1), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("ignore", RadiusWarning)
        warnings.simplefilter("ignore", DisbeliefWarning)
        warnings.simplefilter("always", ConvergenceWarning)
        try:
            records = run(task)
        except Exception as error:
            error.add_note(f"This was the task {task}; all others that are done are kept.")
            raise
    unconverged = sum(issubclass(each.category, ConvergenceWarning) for each in caught)
    return task, Outcome(records, time.perf_counter() - began, unconverged)


class _Reporter:
    """Counts finished tasks and reports the progress."""

    def __init__(self, tell: Callable[[Progress], None], total: int, pace: Pace) -> None:
        self.tell, self.total, self.pace = tell, total, pace
        self._tell()

    def task_done(self, task: Task, seconds: float) -> None:
        self.pace.done(task, seconds)
        self._tell()

    def _tell(self) -> None:
        left, unlike = self.pace.seconds_left(), self.pace.n_unlike()
        self.tell(Progress(self.total - self.pace.n_waiting, self.total, left, unlike))


def _write_tables(folder: Path, frame: Any) -> None:
    """Write all records as CSV, and as Parquet if pyarrow is installed."""
    folder.mkdir(parents=True, exist_ok=True)
    with replaced_whole(folder / "results.csv") as draft:
        frame.to_csv(draft, index=False)
    if importlib.util.find_spec("pyarrow") is not None:
        with replaced_whole(folder / "results.parquet") as draft:
            frame.to_parquet(draft, index=False)


def _about(store: Store, tasks: Sequence[Task]) -> dict[str, Any]:
    done = [store[task] for task in tasks if task in store]
    asked = {task.get("repetition") for task in tasks}
    begun = {task.get("repetition") for task in tasks if task not in store}
    return {
        "tasks": len(tasks),
        "missing": len(tasks) - len(done),
        "whole_repetitions": sorted(asked - begun),
        "minutes": sum(outcome.seconds for outcome in done) / 60,
        "unconverged": sum(outcome.unconverged for outcome in done),
        "versions": {name: _version(name) for name in PACKAGES},
        "machine": f"{platform.machine()}, {os.cpu_count()} processors, "
        f"Python {platform.python_version()}",
    }


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "not installed"
