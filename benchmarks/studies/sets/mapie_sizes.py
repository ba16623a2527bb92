"""Coverage and size of MAPIE's sets for the rows of ``study.py``.

``python benchmarks/studies/sets/mapie_sizes.py [FILE]`` in an environment of its own with
``mapie>=1``.
"""

from __future__ import annotations

import csv
import sys
import warnings
from pathlib import Path

import numpy as np
from data import COVERAGES, SOURCES, drawn  # type: ignore[import-not-found]
from mapie.classification import SplitConformalClassifier  # type: ignore[import-not-found]

N_CALIBRATIONS = 100
SCORES = ("lac", "aps")


def line(source: str, coverage: float, score: str) -> list[str]:
    found = []
    for seed in range(N_CALIBRATIONS):
        data = drawn(source, seed)
        sets = SplitConformalClassifier(
            data.model, confidence_level=coverage, conformity_score=score, random_state=seed
        ).conformalize(data.X, data.y)
        held = sets.predict_set(data.X_new)[1][:, :, 0]
        plain = held[np.arange(len(held)), data.y_new].mean()
        found.append([100 * plain, held.sum(axis=1).mean()])
    mean, error = np.mean(found, axis=0), np.std(found, axis=0, ddof=1) / 10
    cells = [f"{mean[0]:.1f} ({error[0]:.1f})", f"{mean[1]:.2f} ({error[1]:.2f})"]
    return [source, f"{100 * coverage:g}", f"MAPIE, {score}", *cells]


def main() -> None:
    warnings.simplefilter("ignore")
    lines = [["source", "promised, %", "method", "no shift, %", "labels per set"]]
    lines += [line(s, c, score) for s in SOURCES for c in COVERAGES for score in SCORES]
    for each in lines:
        print("  ".join(each))
    if len(sys.argv) > 1:
        with Path(sys.argv[1]).open("w", newline="") as stream:
            csv.writer(stream, lineterminator="\n").writerows(lines)


if __name__ == "__main__":
    main()
