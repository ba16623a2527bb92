"""Wrong labels that audits find: precision, recall and F1 at their own cut-offs.

``python -m benchmarks.studies.label_audit.study RECORDS [--out FOLDER] [--splits 3]``
appends one line of JSON per cell to RECORDS, skips cells that are there, and writes the
tables.

``audit_labels`` is compared with cleanlab's ``find_label_issues`` and ranking, once on the
out-of-fold probabilities of LogisticRegression and once on those of the audit's own models.
No rule was fixed on these tables.  One other split of the crowd's labels was looked at.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import average_precision_score
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from wdrsvm import audit_labels
from wdrsvm.experiments.claims.wrong_labels import by_class
from wdrsvm.robustness.labels.default_classifier import StandardModel
from wdrsvm.robustness.labels.out_of_fold import (
    LabelledRows,
    mean_opinion,
    repeated_folds,
)

from ..frame import all_records
from ..label_noise.data import DATA, music, uniform
from .report import write_tables

N_ROWS, N_EMBEDDED_CLASSES, LEAST_ROWS = 300, 20, 8
FIRST_SEED, N_SPLITS, N_FOLDS = 900, 3, 5

Flip = Callable[[Any, Any], Any]
NOISES: dict[str, Flip] = {
    "10 %": uniform(0.1),
    "20 %": uniform(0.2),
    "30 %": uniform(0.3),
    "by class": partial(by_class, None),
}
CROWDS = {"crowd, majority": "noisy_majority", "crowd, one vote": "noisy_random"}


class Cell(NamedTuple):
    """Features, given labels, and which of these are wrong."""

    X: Any
    y: Any
    wrong: Any


def from_csv(name: str) -> tuple[Any, Any]:
    table = pd.read_csv(DATA / "benchmark" / f"{name}.csv")
    X = pd.get_dummies(table.drop(columns="class"), dtype=float)
    return X.to_numpy(), table["class"].factorize()[0]


def from_npz(name: str) -> tuple[Any, Any]:
    with np.load(DATA / "benchmark" / f"{name}.npz") as stored:
        X = stored["X"].astype(float)
        return X.reshape(len(X), -1), np.unique(stored["y"], return_inverse=True)[1]


TABLES: dict[str, Callable[[], tuple[Any, Any]]] = {
    "abalone": lambda: from_csv("abalone"),
    "contraceptive": lambda: from_csv("contraceptive"),
    "libras": lambda: from_csv("movement_libras"),
    "shuttle": lambda: from_npz("shuttle"),
    "mnist": lambda: from_npz("mnist_5k"),
    "fashion": lambda: from_npz("fashion_mnist_train15k"),
    "acsf1": lambda: from_npz("acsf1"),
    "osuleaf": lambda: from_npz("osuleaf"),
}
EMBEDDINGS = {"banking77": "banking77_minilm", "clinc150": "clinc150_minilm"}


def drawn(X: Any, y: Any, seed: int) -> tuple[Any, Any]:
    """Some rows, and the classes that have enough of them."""
    rows = np.random.default_rng(seed).permutation(len(y))[:N_ROWS]
    counts = np.bincount(y[rows], minlength=y.max() + 1)
    rows = rows[counts[y[rows]] >= LEAST_ROWS]
    return reduced(X[rows]), np.unique(y[rows], return_inverse=True)[1]


def reduced(X: Any, most: int = 50) -> Any:
    """Columns that vary; of very many columns, means of neighbouring ones."""
    if X.shape[1] > 400:
        X = np.stack(
            [part.mean(axis=1) for part in np.array_split(X, most, axis=1)], axis=1
        )
    return X[:, X.std(axis=0) > 0]


def embedded(name: str, seed: int) -> tuple[Any, Any]:
    """Rows of twenty intents, drawn anew for each split."""
    X, y = from_npz(EMBEDDINGS[name])
    rng = np.random.default_rng(seed)
    chosen = rng.choice(y.max() + 1, N_EMBEDDED_CLASSES, replace=False)
    rows = rng.permutation(np.flatnonzero(np.isin(y, chosen)))[:N_ROWS]
    return X[rows], np.unique(y[rows], return_inverse=True)[1]


def cell(name: str, noise: str, seed: int) -> Cell:
    if noise in CROWDS:
        data = music()
        rows = np.random.default_rng(seed).choice(700, N_ROWS, replace=False)
        truth = data["y"][~data["is_test"]][rows]
        y = data[CROWDS[noise]][rows].astype(int)
        return Cell(data["X"][~data["is_test"]][rows], y, y != truth)
    X, truth = embedded(name, seed) if name in EMBEDDINGS else drawn(*TABLES[name](), seed)
    y = NOISES[noise](truth, np.random.default_rng([seed, 1]))
    return Cell(X, y, y != truth)


def cells(n_splits: int) -> Iterator[tuple[str, str, int]]:
    for seed in range(FIRST_SEED, FIRST_SEED + n_splits):
        yield from (("music", noise, seed) for noise in CROWDS)
        for name in (*TABLES, *EMBEDDINGS):
            yield from ((name, noise, seed) for noise in NOISES)


def found(data: Cell, named: Any, doubt: Any, share: Any = None) -> dict[str, Any]:
    """Counts at the cut-off, and the average precision of the ranking."""
    return {
        "named": int(named.sum()),
        "hit": int((named & data.wrong).sum()),
        "wrong": int(data.wrong.sum()),
        "rows": len(data.wrong),
        "average precision": float(average_precision_score(data.wrong, doubt)),
        "share": share,
    }


def judged(data: Cell, seed: int) -> dict[str, dict[str, Any]]:
    from cleanlab.filter import find_label_issues
    from cleanlab.rank import get_label_quality_scores

    folds = StratifiedKFold(N_FOLDS, shuffle=True, random_state=seed)
    logistic = make_pipeline(StandardScaler(), LogisticRegression(max_iter=500))
    probability = {
        "cleanlab": cross_val_predict(
            logistic, data.X, data.y, cv=folds, method="predict_proba"
        )
    }
    rows = LabelledRows(data.X, data.y, np.ones(len(data.y)), None)
    divisions = repeated_folds(data.y, N_FOLDS, 3, seed)
    ours = np.exp(mean_opinion(StandardModel(), rows, divisions).log_probability)
    probability["cleanlab, our models"] = ours / ours.sum(axis=1, keepdims=True)
    records = {}
    for by, values in probability.items():
        named = find_label_issues(data.y, values, n_jobs=1)
        records[by] = found(data, named, 1 - get_label_quality_scores(data.y, values))
    audit = audit_labels(
        None, data.y, pred_probs=probability["cleanlab, our models"], random_state=seed
    )
    share = [audit.wrong_share, *audit.wrong_share_interval]
    records["audit"] = found(data, audit.issue_mask(), 1 - audit.label_quality, share)
    other = audit_labels(None, data.y, pred_probs=probability["cleanlab"])
    records["audit, LogisticRegression"] = found(
        data, other.issue_mask(), 1 - other.label_quality
    )
    return records


def record(name: str, noise: str, seed: int) -> dict[str, Any]:
    result = judged(cell(name, noise, seed), seed)
    return {"table": name, "noise": noise, "seed": seed, "found": result}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("records", type=Path)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--splits", type=int, default=N_SPLITS)
    asked = parser.parse_args()
    records = all_records(asked.records, cells(asked.splits), record)
    write_tables(records, asked.out)


if __name__ == "__main__":
    main()
