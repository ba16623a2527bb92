"""How often is the kind of label noise recognised?

``python -m benchmarks.studies.label_noise.kinds [--csv FILE] [--draws 2]`` makes labels of
public and simulated tables wrong in four ways, and counts the answers of
``label_noise_test``.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.model_selection import train_test_split

from wdrsvm import label_noise_test
from wdrsvm.experiments.claims.wrong_labels import by_class

from .data import table, uniform

NAMES = (
    *("wine", "penguins", "seeds", "iris", "breast cancer", "ai4i"),
    *("simulated: 2 classes, 10 features", "simulated: 4 classes, 20 features"),
)
KINDS = ("none", "uniform", "by class", "by row")
N_ROWS, N_DRAWS, FIRST_SEED, SHARE = 300, 59, 50, 0.2


def by_row(X: Any, y: Any, rng: Any) -> Any:
    """Flips in one half of each class, along its main direction."""
    n_classes = y.max() + 1
    scaled = (X - X.mean(axis=0)) / X.std(axis=0)
    within = scaled - np.stack([scaled[y == c].mean(axis=0) for c in range(n_classes)])[y]
    side = within @ np.linalg.svd(within, full_matrices=False)[2][0]
    wrong = rng.random(len(y)) < 2 * SHARE * (side > 0)
    return np.where(wrong, (y + rng.integers(1, n_classes, len(y))) % n_classes, y)


NOISES: dict[str, Callable[[Any, Any, Any], Any]] = {
    "none": lambda X, y, rng: y,
    "uniform": lambda X, y, rng: uniform(SHARE)(y, rng),
    "by class": by_class,
    "by row": by_row,
}


def answer(name: str, kind: str, seed: int) -> str:
    X, y = table(name)
    size = min(N_ROWS, len(y) - 10)
    X, _, y, _ = train_test_split(X, y, train_size=size, stratify=y, random_state=seed)
    labels = NOISES[kind](X, y, np.random.default_rng([seed, 5]))
    return label_noise_test(X, labels, n_draws=N_DRAWS).kind


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--csv", type=Path)
    parser.add_argument("--draws", type=int, default=2)
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    seeds = range(FIRST_SEED, FIRST_SEED + asked.draws)
    rows = [
        {"true noise": kind, "answer": answer(name, kind, seed)}
        for seed in seeds
        for kind in KINDS
        for name in NAMES
    ]
    found = pd.DataFrame(rows)
    counts = pd.crosstab(found["true noise"], found["answer"])
    counts = counts.reindex(index=KINDS, columns=KINDS, fill_value=0).reset_index()
    print(counts.to_string(index=False))
    if asked.csv is not None:
        counts.to_csv(asked.csv, index=False)


if __name__ == "__main__":
    main()
