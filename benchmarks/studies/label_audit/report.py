"""Tables and verdicts of the study of label audits."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd

BEST_RIVAL = "cleanlab, our models"
GROUPS = {"music": "crowd", "banking77": "embeddings", "clinc150": "embeddings"}


def lines(records: list[dict[str, Any]]) -> pd.DataFrame:
    """One line per cell and finder."""
    made = []
    for record in records:
        for by, found in record["found"].items():
            wrong, named, hit = found["wrong"], found["named"], found["hit"]
            made.append(
                {
                    "data": GROUPS.get(record["table"], "tables"),
                    "table": record["table"],
                    "wrong labels": record["noise"],
                    "by": by,
                    "precision": hit / named if named else float("nan"),
                    "recall": hit / wrong if wrong else float("nan"),
                    "F1": 2 * hit / (named + wrong),
                    "average precision": found["average precision"],
                    "share": wrong / found["rows"],
                    "estimate": found["share"],
                }
            )
    return pd.DataFrame(made)


def summary(table: pd.DataFrame) -> pd.DataFrame:
    """Means over the cells of each kind of data, each noise and each finder."""
    keys, values = ["data", "wrong labels", "by"], ["precision", "recall", "F1"]
    grouped = table.groupby(keys, sort=False)
    means = grouped[[*values, "average precision"]].mean()
    means.insert(0, "cells", grouped.size())
    return means.reset_index()


def shares(table: pd.DataFrame) -> pd.DataFrame:
    """The true and the estimated shares, and how many intervals hold the true one."""
    ours = table[table["by"] == "audit"].copy()
    for k, name in enumerate(("estimated", "low", "high")):
        ours[name] = ours["estimate"].map(lambda triple, k=k: triple[k])
    ours["error"] = (ours["estimated"] - ours["share"]).abs()
    ours["held"] = (ours["low"] <= ours["share"]) & (ours["share"] <= ours["high"])
    grouped = ours.groupby(["data", "wrong labels"], sort=False)
    means = grouped[["share", "estimated", "error", "held"]].mean().reset_index()
    return means.rename(columns={"held": "intervals that hold it"})


def verdicts(table: pd.DataFrame) -> pd.DataFrame:
    """Whether the audit's F1 is at least cleanlab's, over cells, with standard errors."""
    wide = table.pivot_table("F1", ["data", "table", "wrong labels", "cell"], "by")
    made = []
    for data, part in wide.groupby("data", sort=False):
        for rival in ("cleanlab", BEST_RIVAL):
            gain = part["audit"] - part[rival]
            made.append(
                {
                    "data": data,
                    "against": rival,
                    "cells": len(gain),
                    "audit": part["audit"].mean(),
                    "rival": part[rival].mean(),
                    "gain": gain.mean(),
                    "standard error": gain.sem(),
                    "verdict": "at least as good" if gain.mean() >= 0 else "FAILED",
                }
            )
    return pd.DataFrame(made)


def write_tables(records: list[dict[str, Any]], folder: Path | None) -> None:
    """Print the tables, and write them to a folder."""
    table = lines(records)
    table["cell"] = table.groupby(["table", "wrong labels", "by"]).cumcount()
    made = {
        "label-audit": summary(table),
        "label-audit-shares": shares(table),
        "label-audit-verdicts": verdicts(table),
    }
    for name, each in made.items():
        print(f"{name}\n{each.round(3).to_string(index=False)}\n")
        if folder is not None:
            each.round(3).to_csv(folder / f"{name}.csv", index=False)
