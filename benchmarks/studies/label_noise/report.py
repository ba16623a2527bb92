"""Tables of the study of label noise: mean paired gains with two standard errors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

BASE = "logistic"


def gains(records: list[dict[str, Any]]) -> pd.DataFrame:
    """One row a cell and method: points of accuracy gained over LogisticRegression."""
    rows = [
        {
            **{key: record[key] for key in ("table", "noise", "seed")},
            "method": method,
            "accuracy": 100 * score,
            "gain": 100 * (score - record["score"][BASE]),
        }
        for record in records
        for method, score in record["score"].items()
    ]
    return pd.DataFrame(rows)


def summary(table: pd.DataFrame) -> pd.DataFrame:
    """Mean gain; standard errors over the cells, and over the tables' mean gains, which
    also counts how far another choice of tables could have changed the answer."""
    grouped = table.groupby(["noise", "method"], sort=False)
    by_table = table.groupby(["noise", "method", "table"], sort=False)["gain"].mean()
    spread = by_table.groupby(["noise", "method"], sort=False)
    return pd.DataFrame(
        {
            "cells": grouped.size(),
            "accuracy": grouped["accuracy"].mean(),
            "gain": grouped["gain"].mean(),
            "s.e.": grouped["gain"].sem(),
            "s.e. over tables": spread.sem(),
        }
    )


def print_tables(records: list[dict[str, Any]]) -> None:
    table = gains(records)
    with pd.option_context("display.width", 120, "display.max_rows", None):
        print(summary(table).round(2))
        others = table[table["method"].isin(("repair", "relative rule"))]
        shared = table.merge(others[["table", "noise", "seed"]].drop_duplicates())
        if len(shared):
            print("\nOn the splits that all members share:")
            print(summary(shared).round(2))
        recipe = table[table["method"] == "trim"]
        print("\nGain of the recipe, table by table:")
        print(recipe.pivot_table("gain", "table", "noise", np.mean, sort=False).round(1))
