"""How far a long command is: a bar on a terminal, a line now and then elsewhere."""

from __future__ import annotations

import time
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn
from rich.progress import Progress as RichProgress

from ..experiments import Progress

SECONDS_BETWEEN_LINES = 30.0


class Bar:
    """Shows a :class:`~wdrsvm.experiments.Progress`, with the time left."""

    def __init__(self, title: str, console: Console) -> None:
        self.title, self.console = title, console
        self.last_line = -SECONDS_BETWEEN_LINES
        self.bar = RichProgress(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("{task.fields[left]}"),
            console=console,
            disable=not console.is_terminal,
        )
        self.task = self.bar.add_task(title, total=None, left="")

    def __enter__(self) -> Bar:
        self.bar.start()
        return self

    def __exit__(self, *failure: Any) -> None:
        self.bar.stop()

    def show(self, progress: Progress) -> None:
        """Show how far it is."""
        left = time_left(progress.seconds_left)
        self.bar.update(self.task, completed=progress.done, total=progress.total, left=left)
        if not self.console.is_terminal:
            self._line(progress, left)

    def _line(self, progress: Progress, left: str) -> None:
        now = time.monotonic()
        finished = progress.done == progress.total
        if finished or now - self.last_line >= SECONDS_BETWEEN_LINES:
            self.last_line = now
            line = f"{self.title}: {progress.done} of {progress.total} {left}"
            self.console.print(line.rstrip(), soft_wrap=True, highlight=False)


def time_left(seconds: float | None) -> str:
    """The time left in words; nothing where it is not known.

    Examples
    --------
    >>> time_left(90)
    '2 minutes left'
    """
    if seconds is None or seconds <= 0:
        return ""
    for unit, length in (("hours", 3600), ("minutes", 60)):
        if seconds >= 1.45 * length:
            return f"{seconds / length:.0f} {unit} left"
    return f"{seconds:.0f} seconds left"
