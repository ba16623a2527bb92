"""Estimates the time of the waiting tasks from the tasks that are done.

The times of an experiment's tasks differ by factors of thousands, but repetitions of a task
take about the same time.  If no repetition of a task is done, the estimate uses the tasks
that share most values with this task.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence

import numpy as np

from .spec import Task, key_of, kind_of


class Pace:
    """Estimates the remaining time.

    Parameters
    ----------
    waiting : sequence of tasks
        The tasks that are not done.
    n_workers : int
        Number of tasks that run at the same time.

    Examples
    --------
    >>> from wdrsvm.experiments.running.pace import Pace
    >>> waiting = [{"n": n, "repetition": r} for r in (0, 1) for n in (1, 100)]
    >>> pace = Pace(waiting, n_workers=1)
    >>> pace.done({"n": 1, "repetition": 0}, 1.0)
    >>> pace.done({"n": 100, "repetition": 0}, 60.0)
    >>> pace.seconds_left()
    61.0
    """

    def __init__(self, waiting: Sequence[Task], n_workers: int) -> None:
        self.n_workers = n_workers
        kinds = {_key(task): kind_of(task) for task in waiting}
        self._kinds = kinds
        self._waiting = Counter(_key(task) for task in waiting)
        self._seconds: dict[str, list[float]] = defaultdict(list)

    @property
    def n_waiting(self) -> int:
        return self._waiting.total()

    def took(self, task: Task, seconds: float) -> None:
        """Record the time of a task, also of one from an earlier run."""
        self._kinds[_key(task)] = kind_of(task)
        self._seconds[_key(task)].append(seconds)

    def done(self, task: Task, seconds: float) -> None:
        """Record the time of a task that was waiting and is now done."""
        self._waiting[_key(task)] -= 1
        self.took(task, seconds)

    def n_unlike(self) -> int:
        """Number of waiting tasks without a finished repetition."""
        return sum(n for key, n in self._waiting.items() if key not in self._seconds)

    def seconds_left(self) -> float | None:
        """The time of all waiting tasks; None if no task is done yet."""
        if not self._seconds:
            return None
        means = {key: float(np.mean(took)) for key, took in self._seconds.items()}
        costs = [
            (n, means[key] if key in means else self._guess(key, means))
            for key, n in self._waiting.items()
            if n
        ]
        if not costs:
            return 0.0
        total = sum(n * seconds for n, seconds in costs)
        # One task runs on one worker, so the longest task is a lower limit.
        return max(total / self.n_workers, max(seconds for _, seconds in costs))

    def _guess(self, key: str, means: dict[str, float]) -> float:
        """The mean over the kinds of tasks that share most values with this kind."""
        kind = self._kinds[key].items()
        shared = {other: len(kind & self._kinds[other].items()) for other in means}
        most = max(shared.values())
        return float(np.mean([means[other] for other, n in shared.items() if n == most]))


def _key(task: Task) -> str:
    return key_of(kind_of(task))
