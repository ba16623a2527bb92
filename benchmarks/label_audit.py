"""How well audits find wrong labels: precision at the number of wrong labels.

``python -m benchmarks.label_audit [SEEDS]`` compares ``audit_labels`` with ranking by
LogisticRegression's out-of-fold probability of the given label, in one division into folds
and averaged over as many as the audit uses.  A tenth of the labels of Wine, Penguins and
steel plates is flipped at random; the crowd labels of music genres are wrong by themselves.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from sklearn.datasets import load_wine
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from wdrsvm import audit_labels

DATA = Path(os.environ.get("WDRSVM_DATA", "."))
N_REPEATS = 3


class Case(NamedTuple):
    """Features, labels as given, and the rows where they are wrong."""

    name: str
    X: Any
    labels: Any
    wrong: Any


def clean_sets() -> Iterator[tuple[str, Any, Any]]:
    yield "wine", *load_wine(return_X_y=True)
    table = pd.read_csv(DATA / "penguins.csv")
    columns = [name for name in table if name.endswith(("_mm", "_g"))]
    table = table.dropna(subset=columns)
    yield "penguins", table[columns].to_numpy(float), table["species"].factorize()[0]
    table = pd.read_csv(DATA / "benchmark" / "steel_plates_faults.csv")
    X = table.drop(columns="class").to_numpy(float)
    yield "steel plates", X, table["class"].factorize()[0]


def cases(n_seeds: int) -> Iterator[tuple[int, Case]]:
    for name, X, y in clean_sets():
        for seed in range(n_seeds):
            yield seed, flipped(name, X, y, seed)
    music = np.load(DATA / "benchmark" / "music_genre_crowd.npz")
    train = ~music["is_test"]
    for kind in ("noisy_majority", "noisy_random"):
        labels = music[kind].astype(int)
        wrong = np.flatnonzero(labels != music["y"][train])
        yield 0, Case(f"music, {kind}", music["X"][train], labels, wrong)


def flipped(name: str, X: Any, y: Any, seed: int, share: float = 0.1) -> Case:
    rng = np.random.default_rng(seed)
    wrong = rng.choice(len(y), round(share * len(y)), replace=False)
    n_classes = y.max() + 1
    labels = y.copy()
    labels[wrong] = (y[wrong] + rng.integers(1, n_classes, len(wrong))) % n_classes
    return Case(name, X, labels, wrong)


def precision(case: Case, ranked_rows: Any) -> float:
    return float(np.isin(ranked_rows[: len(case.wrong)], case.wrong).mean())


def logistic_ranking(case: Case, seeds: list[int]) -> Any:
    model = make_pipeline(StandardScaler(), LogisticRegression(max_iter=2000))
    probability = sum(
        cross_val_predict(
            model,
            case.X,
            case.labels,
            cv=StratifiedKFold(5, shuffle=True, random_state=seed),
            method="predict_proba",
        )
        for seed in seeds
    )
    return np.argsort(probability[np.arange(len(case.labels)), case.labels], kind="stable")


def main(n_seeds: int) -> None:
    rows = []
    for seed, case in cases(n_seeds):
        seeds = [seed + 1000 * k for k in range(N_REPEATS)]
        audit = audit_labels(case.X, case.labels, n_repeats=N_REPEATS, random_state=seed)
        rows.append(
            {
                "data": case.name,
                "wrong": len(case.wrong),
                "audit_labels": precision(case, audit.row),
                "logistic": precision(case, logistic_ranking(case, seeds[:1])),
                "logistic, repeated": precision(case, logistic_ranking(case, seeds)),
            }
        )
    print(pd.DataFrame(rows).groupby("data", sort=False).mean().round(3).to_string())


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 10)
