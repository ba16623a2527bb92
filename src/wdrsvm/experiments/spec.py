"""What an experiment is: a list of tasks, a way to run one, and what to make of them all.

A task is a dictionary of plain values that says everything about itself: which data, which
model, which repetition.  Its seed follows from it, so that a task gives the same records
wherever and whenever it is run.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Any, TypeAlias

Task: TypeAlias = dict[str, Any]
Record: TypeAlias = dict[str, Any]
# Tables by name; pandas is imported by those who make them.
Tables: TypeAlias = dict[str, Any]

PRESETS = ("quick", "full")


def _no_table(task: Task) -> None:
    """For experiments whose data are drawn."""


@dataclass(frozen=True)
class Experiment:
    """An experiment.

    Parameters
    ----------
    name : str
        Name on the command line and of the folder of its results.
    title : str
        Title of its page.
    protocol : int
        Raised whenever the same task would give other records than before.
    tasks : callable
        ``tasks(preset, repetitions)`` lists the tasks, those of the first repetition
        first; ``repetitions`` None is the preset's own number.
    run : callable
        ``run(task)`` gives the records of one task.
    summarise : callable
        ``summarise(frame)`` gives small tables of all records.
    table : callable, default gives None
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
    """A text that is the same for equal tasks only."""
    return json.dumps(task, sort_keys=True, separators=(",", ":"))


def kind_of(task: Task) -> Task:
    """What repetitions of a task share."""
    return {name: value for name, value in task.items() if name != "repetition"}


def checked_preset(preset: str) -> str:
    """The preset, or an error that lists them."""
    if preset not in PRESETS:
        raise ValueError(f"preset must be one of {', '.join(PRESETS)}, got {preset!r}.")
    return preset


def checked_repetitions(repetitions: int | None) -> int | None:
    """The number of repetitions, None for the preset's own, or an error."""
    if repetitions is not None and (not _is_whole(repetitions) or repetitions < 1):
        raise ValueError(f"repetitions must be an integer >= 1, got {repetitions!r}.")
    return repetitions


def checked_jobs(jobs: int) -> int:
    """The number of processes, or an error."""
    if not _is_whole(jobs) or jobs < -1 or jobs == 0:
        raise ValueError(f"jobs must be an integer >= 1, or -1 for all, got {jobs!r}.")
    return jobs


def _is_whole(value: Any) -> bool:
    return isinstance(value, Integral) and not isinstance(value, bool)
