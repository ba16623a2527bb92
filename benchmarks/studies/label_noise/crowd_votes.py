"""Are labels from votes better to learn from than the majority's?

``python -m benchmarks.studies.label_noise.crowd_votes [--csv FILE] [--splits 4]`` learns
music genres from the votes of a crowd, with half of the rows drawn for each split, and
tests on gold labels. ``LogisticRegression`` is tuned by accuracy on the labels that it
learns from.
"""

from __future__ import annotations

import argparse
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.linear_model import LogisticRegressionCV
from sklearn.preprocessing import StandardScaler

from wdrsvm import RobustLogisticRegression, radius_max, trust_from_votes

from .data import music

STRENGTHS, N_FOLDS, RADIUS_SHARE = np.logspace(-3, 1, 5), 3, 0.15
BASE = "LogisticRegression, majority"


def majority(row: Any, label: Any, n_classes: int) -> Any:
    """The label with most votes of each row; of equals, the first."""
    rows, codes = np.unique(row, return_inverse=True)
    counts = np.zeros((len(rows), n_classes))
    np.add.at(counts, (codes, label), 1)
    return counts.argmax(axis=1)


def tuned() -> Any:
    return LogisticRegressionCV(Cs=STRENGTHS, cv=N_FOLDS, max_iter=200, scoring="accuracy")


def robust(X: Any, y: Any) -> Any:
    largest = radius_max(X, y, label_cost=np.inf, loss="logistic")
    return RobustLogisticRegression(RADIUS_SHARE * largest, tol=1e-3)


def split(data: Any, seed: int) -> dict[str, float]:
    """Shares of right labels, and of right predictions on gold labels, of each way."""
    train, test = ~data["is_test"], data["is_test"]
    rows = np.sort(np.random.default_rng(seed).choice(train.sum(), 350, replace=False))
    kept = np.isin(data["crowd_row"], rows)
    row, label = data["crowd_row"][kept], data["crowd_label"][kept]
    votes = trust_from_votes(row, data["crowd_annotator"][kept], label)
    scaler = StandardScaler().fit(data["X"][train][rows])
    X, X_test = (
        scaler.transform(part) for part in (data["X"][train][rows], data["X"][test])
    )
    y_test, truth = data["y"][test], data["y"][train][rows]
    given = majority(row, label, 10)
    models = {
        BASE: tuned().fit(X, given),
        "LogisticRegression, votes": tuned().fit(X, votes.label, votes.probability),
        "RobustLogisticRegression, majority": robust(X, given).fit(X, given),
        "RobustLogisticRegression, votes": robust(X, votes.label).fit(
            X, votes.label, votes.probability
        ),
    }
    scores = {name: float(model.score(X_test, y_test)) for name, model in models.items()}
    labels = {"majority's labels": given, "labels from votes": votes.label}
    return scores | {name: float((y == truth).mean()) for name, y in labels.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--csv", type=Path)
    parser.add_argument("--splits", type=int, default=4)
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    data = dict(music())
    found = 100 * pd.DataFrame([split(data, seed) for seed in range(asked.splits)])
    gain = found.sub(found[BASE], axis=0)
    table = pd.DataFrame(
        {
            "right, %": found.mean(),
            "gain over the first": gain.mean(),
            "standard error": gain.sem(),
        }
    )
    is_label = table.index.str.contains("labels")
    table.loc[is_label, ["gain over the first", "standard error"]] = np.nan
    table = table.round(1).rename_axis("learner").reset_index()
    print(table.to_string(index=False))
    if asked.csv is not None:
        table.to_csv(asked.csv, index=False)


if __name__ == "__main__":
    main()
