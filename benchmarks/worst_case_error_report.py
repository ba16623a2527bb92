"""The tables of the study of worst-case errors, and its verdicts."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from .study import print_tables

# What the study was to show, in points.
MOST_ABOVE_BEST, LEAST_BELOW_LOGISTIC = 0.5, 3.0
RAMP, TUNED = "ramp", "logistic, worst case"


def by_table(found: Sequence[Any], method: str, ball: Any = None) -> Any:
    """Both errors in per cent, (tables, 2): means over splits, and over balls if None."""
    tables = dict.fromkeys(each.table for each in found)
    rows = []
    for table in tables:
        some = [
            (each.worst_case, each.plain)
            for each in found
            if each.table == table
            and each.method == method
            and ball in (None, (each.norm, each.radius))
        ]
        rows.append(100 * np.mean(some, axis=0) if some else np.full(2, np.nan))
    return np.array(rows)


def cell(values: Any) -> str:
    """A mean over tables with its standard error."""
    known = values[~np.isnan(values)]
    if not len(known):
        return "did not run"
    error = known.std(ddof=1) / np.sqrt(len(known)) if len(known) > 1 else 0.0
    return f"{known.mean():.1f} ({error:.1f})"


def methods_of(found: Sequence[Any]) -> list[str]:
    return list(dict.fromkeys(each.method for each in found))


def balls_of(found: Sequence[Any]) -> list[Any]:
    return list(dict.fromkeys((each.norm, each.radius) for each in found))


def errors_by_ball(found: Sequence[Any]) -> list[list[str]]:
    """Worst-case / plain error of each method (columns) in each ball (rows)."""
    methods = methods_of(found)
    lines = [["ball", *methods]]
    for ball in (*balls_of(found), None):
        name = "mean" if ball is None else f"{ball[0]}, {ball[1]:g}"
        cells = []
        for method in methods:
            worst, plain = by_table(found, method, ball).T
            cells.append(f"{np.nanmean(worst):.1f} / {np.nanmean(plain):.1f}")
        lines.append([name, *cells])
    return lines


def errors_by_table(found: Sequence[Any]) -> list[list[str]]:
    """The same for each table, over all balls."""
    methods, tables = methods_of(found), list(dict.fromkeys(each.table for each in found))
    values = {method: by_table(found, method) for method in methods}
    lines = [["table", *methods]]
    for index, table in enumerate(tables):
        pairs = (values[method][index] for method in methods)
        lines.append([table, *(f"{worst:.1f} / {plain:.1f}" for worst, plain in pairs)])
    return lines


def differences(found: Sequence[Any]) -> list[list[str]]:
    """Ramp less each other method, in points, with standard errors over tables."""
    lines = [["ramp less", "worst-case error", "plain error"]]
    ours = by_table(found, RAMP)
    for method in methods_of(found):
        if method != RAMP:
            worst, plain = (ours - by_table(found, method)).T
            lines.append([method, cell(worst), cell(plain)])
    return lines


def verdicts(found: Sequence[Any]) -> list[list[str]]:
    """Both aims, over all balls and in each of them."""
    lines = [["ball", "above the best", "reached", "below logistic", "reached"]]
    for ball in (None, *balls_of(found)):
        means = {
            each: np.nanmean(by_table(found, each, ball), axis=0)
            for each in methods_of(found)
        }
        above = means[RAMP][0] - min(worst for worst, _ in means.values())
        below = means[TUNED][1] - means[RAMP][1]
        lines.append(
            [
                "all" if ball is None else f"{ball[0]}, {ball[1]:g}",
                f"{above:.1f}",
                "yes" if above <= MOST_ABOVE_BEST else "failed",
                f"{below:.1f}",
                "yes" if below >= LEAST_BELOW_LOGISTIC else "failed",
            ]
        )
    return lines


def seconds(found: Sequence[Any]) -> list[list[str]]:
    """Processor seconds for one fit, or for a whole search."""
    lines = [["method", "median seconds"]]
    for method in methods_of(found):
        spent = [each.seconds for each in found if each.method == method]
        lines.append([method, f"{np.median(spent):.3f}"])
    return lines


def print_report(found: Sequence[Any], folder: Path | None = None) -> None:
    """Print all tables; write them as files if there is a folder."""
    parts = (errors_by_ball, errors_by_table, differences, verdicts, seconds)
    n_splits = len({each.seed for each in found})
    print(f"{n_splits} splits; worst-case / plain errors in per cent of the test rows")
    print_tables(parts, found, folder, prefix="worst-case", width=20)
