"""A table on the terminal while the cases run, and a JSON file at the end."""

from __future__ import annotations

import json
import math
import os
import platform
from collections.abc import Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np

import wdrsvm

from .family import Family, Options, Record

RESULTS = Path(__file__).parent / "results"
PACKAGES = (
    "numpy",
    "scipy",
    "scikit-learn",
    "highspy",
    "clarabel",
    "threadpoolctl",
    "dask",
    "distributed",
)
WIDTH = 14


def header(family: Family) -> str:
    """The title and the names of the columns."""
    names = " ".join(f"{name:>{WIDTH}}" for name in family.columns)
    return f"\n{family.title}\n{names}"


def line(family: Family, record: Record) -> str:
    """One case; a ratio that is only a lower bound is marked so, a missed gap too."""
    cells = {name: _cell(record.get(name, "")) for name in family.columns}
    if record.get("lower_bound"):
        cells["ratio"] = f">={cells['ratio']}"
    missed = "" if record.get("reached", True) else "   gap missed"
    widths = {name: max(len(name), WIDTH) for name in family.columns}
    return " ".join(f"{cells[name]:>{widths[name]}}" for name in family.columns) + missed


def closing(summary: Record) -> str:
    """The summary on one line."""
    return "  ".join(f"{name} {_cell(value)}" for name, value in summary.items())


def _cell(value: object) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def write(
    family: Family, options: Options, records: Sequence[Record], summary: Record
) -> Path:
    """Everything needed to read the numbers later, as JSON."""
    RESULTS.mkdir(exist_ok=True)
    path = RESULTS / f"{family.name}{'-tiny' if options.tiny else ''}.json"
    content = {
        "family": family.name,
        "title": family.title,
        "finished": datetime.now(UTC).isoformat(timespec="seconds"),
        "machine": _machine(),
        "versions": _versions(),
        "options": asdict(options),
        "summary": summary,
        "records": list(records),
    }
    path.write_text(json.dumps(_portable(content), indent=1, allow_nan=False) + "\n")
    return path


def _machine() -> Record:
    return {
        "platform": platform.platform(),
        "processor": platform.machine(),
        "cpus": os.cpu_count(),
        "python": platform.python_version(),
    }


def _versions() -> dict[str, str | None]:
    return {"wdrsvm": wdrsvm.__version__} | {name: _version(name) for name in PACKAGES}


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def _portable(value: Any) -> Any:
    """NumPy scalars as Python numbers; JSON has no infinity, so that is a word."""
    if isinstance(value, dict):
        return {name: _portable(entry) for name, entry in value.items()}
    if isinstance(value, list):
        return [_portable(entry) for entry in value]
    plain = value.item() if isinstance(value, np.generic) else value
    is_odd = isinstance(plain, float) and not math.isfinite(plain)
    return str(plain) if is_odd else plain
