"""The progress of a long command: a bar on a terminal, else a line from time to time."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    SpinnerColumn,
    TaskProgressColumn,
    TextColumn,
    TimeElapsedColumn,
)
from rich.progress import Progress as RichProgress

from ..experiments import Progress

SECONDS_BETWEEN_LINES = 30.0
SECONDS_BETWEEN_FOLDS = 5.0
SECONDS_BETWEEN_SIGNS = 60.0
AT_WORK = "Cross-validation: at work"


class Bar:
    """Shows a :class:`~wdrsvm.experiments.Progress`, with the time left."""

    def __init__(
        self,
        title: str,
        console: Console,
        *,
        is_counted: bool = True,
        seconds_between: float = SECONDS_BETWEEN_LINES,
    ) -> None:
        self.title, self.console, self.is_counted = title, console, is_counted
        self.seconds_between = seconds_between
        # Counted commands are long, so their first line is printed at once.
        self.last_line = time.monotonic() - (seconds_between if is_counted else 0.0)
        self.has_lines = is_counted
        self.bar = RichProgress(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn() if is_counted else TaskProgressColumn(),
            TextColumn("{task.fields[left]}"),
            TimeElapsedColumn(),
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
        """Show the progress."""
        left = time_left(progress.seconds_left, is_guess=progress.unlike > 0)
        self.bar.update(self.task, completed=progress.done, total=progress.total, left=left)
        if not self.console.is_terminal:
            self._line(progress, left)

    def _line(self, progress: Progress, left: str) -> None:
        now = time.monotonic()
        finished = progress.done == progress.total and self.has_lines
        if finished or now - self.last_line >= self.seconds_between:
            self.last_line, self.has_lines = now, True
            line = f"{self.title}: {self._share(progress)} {left}"
            self.console.print(line.rstrip(), soft_wrap=True, highlight=False)

    def _share(self, progress: Progress) -> str:
        if self.is_counted:
            return f"{progress.done} of {progress.total}"
        return f"{100 * progress.done / progress.total:.0f} per cent"


class Clock:
    """Shows the current step of a command, and the time that the command has taken.

    A terminal shows both all the time.  Elsewhere, such as in a log, a line is printed
    from time to time, so that short commands print nothing.
    """

    def __init__(
        self, title: str, console: Console, seconds_between: float = SECONDS_BETWEEN_SIGNS
    ) -> None:
        self.title, self.console, self.seconds_between = title, console, seconds_between
        self.step, self.began, self.has_ended = title, time.monotonic(), threading.Event()
        self.bar = RichProgress(
            SpinnerColumn(),
            TextColumn("{task.description} ..."),
            TimeElapsedColumn(),
            console=console,
            transient=True,
            disable=not console.is_terminal,
        )
        self.task = self.bar.add_task(title, total=None)
        self.lines = threading.Thread(target=self._print_lines, daemon=True)

    def __enter__(self) -> Clock:
        self.bar.start()
        if not self.console.is_terminal:
            self.lines.start()
        return self

    def __exit__(self, *failure: Any) -> None:
        self.has_ended.set()
        if self.lines.is_alive():
            self.lines.join()
        self.bar.stop()

    def tell(self, step: str) -> None:
        """Show the name of the step that begins."""
        self.step = f"{self.title}: {step}"
        self.bar.update(self.task, description=self.step)

    def _print_lines(self) -> None:
        while not self.has_ended.wait(self.seconds_between):
            seconds = time.monotonic() - self.began
            line = f"{self.step}, {seconds:.0f} seconds so far"
            self.console.print(line, soft_wrap=True, highlight=False)


@contextmanager
def fold_bar(search: Any, verbose: bool = False) -> Iterator[None]:
    """Show the number of finished folds of a search, and the time of the others.

    The last fit, with the chosen radius and label cost, counts as a fold.  Folds can take
    long: a log gets a line each minute, and a terminal shows the time.
    """
    began, wait = time.monotonic(), 0.0 if verbose else SECONDS_BETWEEN_FOLDS
    console = Console(stderr=True)
    sign: AbstractContextManager[Any] = (
        nullcontext() if console.is_terminal else Clock(AT_WORK, console)
    )
    bar = Bar("Cross-validation", console, is_counted=False, seconds_between=wait)
    with sign, bar:

        def tell(done: int, n_folds: int) -> None:
            if done:
                left = (time.monotonic() - began) / done * (n_folds + 1 - done)
                bar.show(Progress(done, n_folds + 1, left))

        search._on_fold = tell
        try:
            yield
        finally:
            del search._on_fold
        bar.show(Progress(1, 1, 0.0))


def time_left(seconds: float | None, is_guess: bool = False) -> str:
    """The remaining time in words; empty if it is not known.

    Examples
    --------
    >>> time_left(90), time_left(7300, is_guess=True)
    ('2 minutes left', 'perhaps 2 hours left')
    """
    if seconds is None or seconds <= 0:
        return ""
    perhaps = "perhaps " if is_guess else ""
    for unit, length in (("hours", 3600), ("minutes", 60)):
        if seconds >= 1.45 * length:
            return f"{perhaps}{seconds / length:.0f} {unit} left"
    return f"{perhaps}{seconds:.0f} seconds left"
