"""A claim: its tasks, and the aims that decide whether it holds."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ..running.spec import Record, Tables, Task
from ..statistics import Difference, paired_difference


class Aim(NamedTuple):
    """A number that was to be reached.

    Attributes
    ----------
    text : str
        What was to be reached.
    gain : Difference
        What was found.
    least : float
        The mean gain must not be less.
    n_errors : float
        The mean gain must be larger than this many standard errors.
    found : str
        What was found, in words; empty for the gain and its standard error.
    unit : str
        The unit of the gain.
    """

    text: str
    gain: Difference
    least: float
    n_errors: float = 0.0
    found: str = ""
    unit: str = "points"

    @property
    def reached(self) -> bool | None:
        """Whether the aim is reached; None if there is no standard error yet."""
        mean, error = self.gain
        if np.isnan(mean):
            return False
        if np.isnan(error):
            return None
        is_clear = self.n_errors == 0 or mean > self.n_errors * error
        return bool(mean >= self.least and is_clear)

    def record(self) -> Record:
        """The aim as a row of a table."""
        words = {True: "yes", False: "failed", None: "no verdict"}
        return {
            "aim": self.text,
            "found": self.found or shown(self.gain),
            "reached": words[self.reached],
            "mean": self.gain.mean,
            "standard_error": self.gain.error,
            "least": self.least,
            "unit": self.unit,
        }


@dataclass(frozen=True)
class Claim:
    """A claim.

    Parameters
    ----------
    name : str
        A few words.
    statement : str
        The claim, and how it is judged.
    tasks : callable
        ``tasks(preset)`` lists the tasks of one repetition.
    run : callable
        ``run(task)`` returns the records of one task.
    aims : callable
        ``aims(frame)`` judges the records.
    tables : callable
        ``tables(frame)`` returns what the page shows besides the aims.
    captions : dict of str
        Captions of these tables by name.
    limits : tuple of str
        What the results do not say.
    """

    name: str
    statement: str
    tasks: Callable[[str], list[Task]]
    run: Callable[[Task], list[Record]]
    aims: Callable[[Any], list[Aim]]
    tables: Callable[[Any], Tables]
    captions: dict[str, str]
    limits: tuple[str, ...] = ()

    def key(self, table: str) -> str:
        """The name of a table among those of all claims; files have this name."""
        return f"{self.name}-{table}".replace(" ", "-")


def gain(frame: Any, ours: str, other: str, value: str, scale: float = 100.0) -> Difference:
    """Mean of ``value`` of one method less that of another, paired by table and split.

    The standard error is that of the mean over tables.  A single table has the standard
    error over its splits, and a single split has none.  If a method has no records, the
    difference is not a number.
    """
    pairs = paired(frame, ours, other, value)
    if pairs.empty:
        return Difference(np.nan, np.nan)
    tables = pairs.index.get_level_values("table")
    groups = tables if tables.nunique() > 1 else None
    found = paired_difference(scale * pairs[ours], scale * pairs[other], groups)
    return found if has_error(frame) else found._replace(error=np.nan)


def has_error(frame: Any) -> bool:
    """Whether there is more than one split, without which nothing is judged."""
    return bool(frame["repetition"].nunique() > 1)


def paired(frame: Any, ours: str, other: str, value: str) -> Any:
    """The values of two methods side by side, one row per table and split."""
    keys = [name for name in ("table", "norm", "radius", "repetition") if name in frame]
    wide = frame.pivot_table(index=keys, columns="method", values=value)
    if not {ours, other} <= set(wide.columns):
        return wide.iloc[:0]
    return wide[[ours, other]].dropna()


def shown(found: Difference) -> str:
    """A mean difference with its standard error."""
    if np.isnan(found.mean):
        return "did not run"
    error = "" if np.isnan(found.error) else f" ({found.error:.2f})"
    return f"{found.mean:+.2f}{error}"


def gains_by_table(frame: Any, ours: str, other: str, value: str, columns: str) -> Any:
    """Gains with standard errors over splits; a row per table, a column per condition."""
    import pandas

    rows = {}
    for table, part in frame.groupby("table", sort=False):
        rows[table] = {
            condition: shown(gain(each, ours, other, value))
            for condition, each in part.groupby(columns, sort=False)
        }
    return pandas.DataFrame.from_dict(rows, orient="index").fillna("").rename_axis("table")


def means(frame: Any, value: str, rows: str) -> Any:
    """Mean of a value over tables, in per cent; a column per method."""
    cells = frame.groupby([rows, "table", "method"], sort=False)[value].mean()
    wide = 100 * cells.groupby(level=[rows, "method"], sort=False).mean().unstack("method")
    return wide.round(1).reset_index()
