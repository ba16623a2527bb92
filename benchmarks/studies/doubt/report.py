"""The tables of the study of doubtful labels, and its verdicts."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ..frame import print_tables

# What the study was to show, in points.
MOST_BEHIND_CLEAN, LEAST_AHEAD, MOST_BEHIND_CROWD = 0.3, 1.0, 0.5
OURS, TUNED, CLEANED = "doubting", "logistic, accuracy", "CleanLearning"
BY_LOG_LOSS = "logistic, log-loss"
UNIFORM = ("10 %", "20 %", "30 %")


def names(found: Sequence[Any], field: str) -> list[str]:
    return list(dict.fromkeys(getattr(each, field) for each in found))


def paired(found: Sequence[Any], noise: str, method: str) -> dict[str, Any]:
    """Gains of the two lines over a method, in points, split by split, for each table."""
    accuracy = {(e.table, e.seed, e.method): e.accuracy for e in found if e.noise == noise}
    gains: dict[str, list[float]] = {}
    for (table, seed, name), ours in accuracy.items():
        if name == OURS and (table, seed, method) in accuracy:
            gain = 100 * (ours - accuracy[table, seed, method])
            gains.setdefault(table, []).append(gain)
    return {table: np.array(each) for table, each in gains.items()}


def over_tables(gains: dict[str, Any]) -> tuple[float, float]:
    """The mean over tables, and its standard error.

    One table alone has the error of its splits.
    """
    values = np.array([each.mean() for each in gains.values()])
    if len(values) == 1:
        values = next(iter(gains.values()))
    error = values.std(ddof=1) / np.sqrt(len(values)) if len(values) > 1 else np.nan
    return float(values.mean()), float(error)


def shown(gains: dict[str, Any]) -> str:
    return "{:+.2f} ({:.2f})".format(*over_tables(gains)) if gains else "did not run"


def accuracies(found: Sequence[Any]) -> list[list[str]]:
    """Mean accuracy of each method (columns) under each kind of wrong labels (rows)."""
    methods = names(found, "method")
    lines = [["wrong labels", *methods]]
    for noise in names(found, "noise"):
        line = [noise]
        for method in methods:
            values = [
                [e.accuracy for e in found if (e.noise, e.method, e.table) == key]
                for key in ((noise, method, table) for table in names(found, "table"))
            ]
            means = [np.mean(each) for each in values if each]
            line.append(f"{100 * np.mean(means):.1f}" if means else "-")
        lines.append(line)
    return lines


def gains(found: Sequence[Any]) -> list[list[str]]:
    """Gains over each other method, with standard errors over tables."""
    methods = [each for each in names(found, "method") if each != OURS]
    lines = [["gain over", *methods]]
    for noise in names(found, "noise"):
        lines.append([noise, *(shown(paired(found, noise, each)) for each in methods)])
    return lines


def gains_by_table(found: Sequence[Any]) -> list[list[str]]:
    """Gains over LogisticRegression tuned by accuracy, with standard errors over splits."""
    noises = names(found, "noise")
    lines = [["gain", *noises]]
    for table in names(found, "table"):
        line = [table]
        for noise in noises:
            each = paired(found, noise, TUNED)
            line.append(shown({table: each[table]}) if table in each else "-")
        lines.append(line)
    return lines


def verdicts(found: Sequence[Any]) -> list[list[str]]:
    """The aims, each with the gain and whether it was reached."""
    lines = [["aim", "gain", "reached"]]
    for method in (TUNED, BY_LOG_LOSS):
        aim = f"clean: at most {MOST_BEHIND_CLEAN} behind {method}"
        lines.append(_line(aim, paired(found, "clean", method), -MOST_BEHIND_CLEAN, 0))
    for noise in UNIFORM:
        for method in (TUNED, BY_LOG_LOSS, CLEANED):
            aim = f"{noise}: {LEAST_AHEAD:g} ahead of {method}, two standard errors"
            lines.append(_line(aim, paired(found, noise, method), LEAST_AHEAD, 2))
    for noise in (each for each in names(found, "noise") if each.startswith("crowd")):
        for method in (TUNED, BY_LOG_LOSS):
            aim = f"{noise}: at most {MOST_BEHIND_CROWD} behind {method}"
            lines.append(_line(aim, paired(found, noise, method), -MOST_BEHIND_CROWD, 0))
    return lines


def _line(aim: str, each: dict[str, Any], least: float, n_errors: float) -> list[str]:
    """The mean must reach ``least``, and be ``n_errors`` standard errors above 0."""
    if not each:
        return [aim, "did not run", "failed"]
    mean, error = over_tables(each)
    clear = n_errors == 0 or mean > n_errors * error
    return [aim, shown(each), "yes" if mean >= least and clear else "failed"]


def seconds(found: Sequence[Any]) -> list[list[str]]:
    """Processor seconds to tune and to fit."""
    lines = [["method", "median seconds", "largest"]]
    for method in names(found, "method"):
        spent = [each.seconds for each in found if each.method == method]
        lines.append([method, f"{np.median(spent):.2f}", f"{max(spent):.2f}"])
    return lines


def print_report(found: Sequence[Any], folder: Path | None = None) -> None:
    """Print all tables; write them as files if there is a folder."""
    parts = (accuracies, gains, gains_by_table, verdicts, seconds)
    n_splits = len({each.seed for each in found})
    print(f"{n_splits} splits; accuracies in per cent, gains in points (standard error)")
    print_tables(parts, found, folder, prefix="doubt", width=22)
