"""Results of a search: the table of all points, and the choice of a point."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.stats import rankdata

from ...arrays import Floats
from ...robustness.paths.constant_points import is_as_good_as_constant
from .folds import FoldScores
from .grid import SearchGrid


def results_table(grid: SearchGrid, folds: list[FoldScores]) -> dict[str, Any]:
    """Times, parameters and scores, with the column names of scikit-learn's searches."""
    params = grid.params
    table: dict[str, Any] = {}
    for name in ("fit_time", "score_time"):
        seconds = np.array([getattr(fold, name) for fold in folds])
        table[f"mean_{name}"] = np.full(len(params), seconds.mean())
        table[f"std_{name}"] = np.full(len(params), seconds.std())
    for name in ("label_cost", "radius"):
        column = np.ma.empty(len(params), dtype=object if name == "label_cost" else float)
        column[:] = np.ma.masked
        for k, point in enumerate(params):
            column[k] = point[name]
        table[f"param_{name}"] = column
    table["params"] = params
    # If some folds leave a point out, the mean is over the other folds.
    table["constant"] = is_as_good_as_constant(
        np.nanmean([fold.risk for fold in folds], axis=0),
        np.nanmean([fold.constant_risk for fold in folds], axis=0),
    )
    for name in folds[0].scores:
        table |= _score_columns(name, np.array([fold.scores[name] for fold in folds]))
    return table


def _score_columns(name: str, scores: Floats) -> dict[str, Any]:
    columns: dict[str, Any] = {
        f"split{k}_test_{name}": values for k, values in enumerate(scores)
    }
    mean = scores.mean(axis=0)
    columns[f"mean_test_{name}"] = mean
    columns[f"std_test_{name}"] = scores.std(axis=0)
    # Scores that are equal up to rounding share a rank.  Points that were left out of a
    # fold share the last rank.
    falling = np.where(np.isnan(mean), np.inf, -mean.round(12))
    columns[f"rank_test_{name}"] = rankdata(falling, method="min").astype(np.int32)
    return columns


def best_point(table: dict[str, Any], name: str) -> int:
    """The point with the best score; a constant classifier only if all are constant."""
    rank = table[f"rank_test_{name}"]
    return int(np.where(eligible(table, name), rank, len(rank) + 1).argmin())


def eligible(table: dict[str, Any], name: str) -> Any:
    """Points that are in all folds and better than constant classifiers.

    If there is none, all points that are in all folds.
    """
    finished = ~np.isnan(table[f"mean_test_{name}"])
    telling = finished & ~table["constant"]
    return telling if telling.any() else finished


def most_robust(
    grid: SearchGrid, table: dict[str, Any], name: str, best: int, n_folds: int
) -> int:
    """The largest radius within one standard error of the best score, at its label cost."""
    mean = table[f"mean_test_{name}"]
    error = table[f"std_test_{name}"][best] / np.sqrt(n_folds)
    first = best // len(grid.radii) * len(grid.radii)
    column = np.arange(first, first + len(grid.radii))
    column = column[eligible(table, name)[column]]
    good = column[mean[column] >= mean[best] - error]
    return int(max(good, key=lambda k: grid.radii[k - first]))
