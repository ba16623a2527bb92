"""How far a search is: who is told of folds that are done."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TypeAlias

# Called with the number of folds done and of all, first with none done.
Tell: TypeAlias = Callable[[int, int], None]


def silent(done: int, n_folds: int) -> None:
    """Say nothing."""


def print_bar(done: int, n_folds: int) -> None:
    """A bar that grows in its line on the screen."""
    bar = "#" * (20 * done // n_folds)
    end = "\n" if done == n_folds else ""
    print(f"\rfolds [{bar:<20}] {done}/{n_folds}", end=end, file=sys.stderr, flush=True)
