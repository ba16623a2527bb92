"""The column of a table that says how far each label is trusted."""

from __future__ import annotations

import math
from typing import Annotated, Any

import numpy as np
import typer

from .columns import as_texts
from .files import InputTable, listed
from .numerals import is_missing

# The column that ``wdrsvm relabel`` writes if no other name is given.
TRUST = "label_trust"

TrustColumn = Annotated[
    str | None,
    typer.Option(
        metavar="COL",
        help="Column of trust in the labels: 1 is usual, inf is verified, empty is 1.",
    ),
]


def check_trust_column(name: str, table: InputTable, target: str) -> None:
    """Refuse a name that is no column, or that is the column of the labels."""
    there = list(table.columns.columns)
    if table.is_sparse or name not in there:
        has = "" if table.is_sparse else f"; it has {listed(there)}"
        raise ValueError(f"--trust-column: {table.path} has no column {name!r}{has}.")
    if name == target:
        raise ValueError(f"--trust-column must not name the labels, got {name!r}.")


def read_trust(table: InputTable, name: str) -> Any:
    """The trust in the label of every row of a table; 1 where the cell is empty."""
    texts = as_texts(table.columns[name])
    missing = is_missing(texts)
    trust = np.ones(len(texts))
    for row in np.flatnonzero(~missing.to_numpy()):
        trust[row] = _number(texts.iloc[row])
        if math.isnan(trust[row]) or trust[row] < 0:
            raise ValueError(
                f"{table.path}: {name} must hold numbers >= 0 or inf, but row {row}, "
                f"counted from 0, has {texts.iloc[row]!r}."
            )
    return trust


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return math.nan
