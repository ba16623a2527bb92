"""Parts that several pages share: panels in which one size grows, and a missing verdict."""

from __future__ import annotations

from typing import Any

# The text in place of a verdict.
NO_ERROR = "one repetition has no standard error, so there is no verdict."
PANEL_NAMES = {
    "C": "number of classes C",
    "P": "number of features P",
    "N": "number of training rows N",
}


def panel(table: Any, sizes: list[tuple[int, int, int]], axis: str) -> Any:
    """Rows of a table whose (N, P, C) is in the panel, sorted by the growing size."""
    keys = list(zip(table["N"], table["P"], table["C"], strict=True))
    return table[[key in sizes for key in keys]].sort_values(axis)


def panels_present(
    table: Any, *choices: dict[str, list[tuple[int, int, int]]]
) -> dict[str, list[tuple[int, int, int]]]:
    """The first set of panels whose sizes are all in the table, else the last set."""
    there = set(zip(table["N"], table["P"], table["C"], strict=True))
    for panels in choices:
        if {size for sizes in panels.values() for size in sizes} <= there:
            return panels
    return choices[-1]
