"""An experiment: a list of tasks, a function that runs a task, and a summary of all.

A task is a dictionary of plain values that describes it completely: data, model and
repetition.  The seed is computed from these values.  Therefore a task gives the same
records on every machine and at every time.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Any, TypeAlias

Task: TypeAlias = dict[str, Any]
Record: TypeAlias = dict[str, Any]
# pandas tables by name; pandas is imported only where tables are made.
Tables: TypeAlias = dict[str, Any]

PRESETS = ("quick", "full")


def _no_table(task: Task) -> None:
    """No table: for experiments with simulated data."""


@dataclass(frozen=True)
class Experiment:
    """An experiment.

    Parameters
    ----------
    name : str
        Name on the command line, and of the folder with the results.
    title : str
        Title of the page with the results.
    protocol : int
        Version number, raised whenever the same task would give other records than before.
    tasks : callable
        ``tasks(preset, repetitions)`` lists the tasks, first those of the first
        repetition.  If ``repetitions`` is None, the preset determines their number.
    run : callable
        ``run(task)`` returns the records of one task.
    summarise : callable
        ``summarise(frame)`` returns small tables from all records.
    table : callable, default returns None
        ``table(task)`` names the data set of :mod:`wdrsvm.datasets` that a task needs.

    Examples
    --------
    >>> from wdrsvm.experiments import EXPERIMENTS
    >>> simulation = EXPERIMENTS["simulation"]
    >>> task = simulation.tasks("full", None)[0]
    >>> task["n_classes"], task["n_features"], task["balance"]
    (4, 3, 'balanced')
    """

    name: str
    title: str
    protocol: int
    tasks: Callable[[str, int | None], Sequence[Task]]
    run: Callable[[Task], list[Record]]
    summarise: Callable[[Any], Tables]
    table: Callable[[Task], str | None] = _no_table


def key_of(task: Task) -> str:
    """A text that is equal for equal tasks, and different for different tasks."""
    return json.dumps(task, sort_keys=True, separators=(",", ":"))


def kind_of(task: Task) -> Task:
    """The values of a task without the number of the repetition."""
    return {name: value for name, value in task.items() if name != "repetition"}


def checked_preset(preset: str) -> str:
    """The preset if it is known, else an error that lists all presets."""
    if preset not in PRESETS:
        raise ValueError(f"preset must be one of {', '.join(PRESETS)}, got {preset!r}.")
    return preset


def checked_repetitions(repetitions: int | None) -> int | None:
    """The number of repetitions, or None for the number of the preset."""
    if repetitions is not None and (not _is_whole(repetitions) or repetitions < 1):
        raise ValueError(f"repetitions must be an integer >= 1, got {repetitions!r}.")
    return repetitions


def checked_jobs(jobs: int) -> int:
    """The number of processes; -1 stands for all processors."""
    if not _is_whole(jobs) or jobs < -1 or jobs == 0:
        raise ValueError(f"jobs must be an integer >= 1, or -1 for all, got {jobs!r}.")
    return jobs


def _is_whole(value: Any) -> bool:
    return isinstance(value, Integral) and not isinstance(value, bool)
