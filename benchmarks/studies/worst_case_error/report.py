"""The tables of the study of worst-case errors, and its verdicts."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ..frame import print_tables

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


def mean_and_error(values: Any) -> tuple[float, float]:
    """A mean over tables, and its standard error."""
    known = values[~np.isnan(values)]
    error = known.std(ddof=1) / np.sqrt(len(known)) if len(known) > 1 else 0.0
    return float(known.mean()), float(error)


def cell(values: Any) -> str:
    """A mean over tables with its standard error."""
    if np.isnan(values).all():
        return "did not run"
    return "{:.1f} ({:.1f})".format(*mean_and_error(values))


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


class Verdict(NamedTuple):
    """Both aims in one ball, or over all of them: paired differences in points, each with
    its standard error over tables."""

    ball: str
    best: str
    above_best: tuple[float, float]
    below_logistic: tuple[float, float]

    @property
    def withstands(self) -> bool:
        return self.above_best[0] <= MOST_ABOVE_BEST

    @property
    def is_accurate(self) -> bool:
        return self.below_logistic[0] >= LEAST_BELOW_LOGISTIC


def judge(found: Sequence[Any], ball: Any = None) -> Verdict:
    """Whether the aims are reached; the best is that of the other methods."""
    values = {each: by_table(found, each, ball) for each in methods_of(found)}
    ours = values.pop(RAMP)
    best = min(values, key=lambda each: float(np.nanmean(values[each][:, 0])))
    return Verdict(
        "all" if ball is None else f"{ball[0]}, {ball[1]:g}",
        best,
        mean_and_error(ours[:, 0] - values[best][:, 0]),
        mean_and_error(values[TUNED][:, 1] - ours[:, 1]),
    )


def verdicts(found: Sequence[Any]) -> list[list[str]]:
    """Both aims, over all balls and in each of them."""
    lines = [["ball", "above the best other", "reached", "below logistic", "reached"]]
    for ball in (None, *balls_of(found)):
        each = judge(found, ball)
        above, below = (
            "{:.1f} ({:.1f})".format(*part)
            for part in (each.above_best, each.below_logistic)
        )
        reached = (
            "yes" if good else "failed" for good in (each.withstands, each.is_accurate)
        )
        lines.append([each.ball, above, next(reached), below, next(reached)])
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
