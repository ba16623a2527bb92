"""Progress of a search: functions that report the number of finished folds."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TypeAlias

# Called with the numbers of finished folds and of all folds; first before any fold.
Tell: TypeAlias = Callable[[int, int], None]


def silent(done: int, n_folds: int) -> None:
    """Print nothing."""


def print_bar(done: int, n_folds: int) -> None:
    """Print a bar that grows within one line."""
    bar = "#" * (20 * done // n_folds)
    end = "\n" if done == n_folds else ""
    print(f"\rfolds [{bar:<20}] {done}/{n_folds}", end=end, file=sys.stderr, flush=True)
